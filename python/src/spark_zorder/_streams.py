"""Lets the shell print whatever a terminal cannot write, and go on when nobody reads any more."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def lasting() -> Iterator[None]:
    """In the body, printing raises no error.

    A character that the terminal's encoding lacks is escaped. What nobody reads, as with ``| head``, is lost.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_made_lasting, before)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, _Lasting):
                stream.end()
        sys.stdout, sys.stderr = before


def _made_lasting(stream: Any) -> Any:
    """The stream that takes its place. One that is no file, such as a notebook's, stays as it is."""
    if not hasattr(stream, "reconfigure"):
        return stream
    return _Lasting(stream)


class _Lasting:
    """A stream whose output is lost once nobody reads it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._errors = stream.errors
        stream.reconfigure(errors="backslashreplace")

    def end(self) -> None:
        # else Python would find out at the end of the process that nobody reads
        self.flush()
        self._stream.reconfigure(errors=self._errors)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        self._try(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        self._try(self._stream.flush)

    def _try(self, action: Callable[[], Any]) -> None:
        try:
            action()
        except OSError as error:
            # what a pipe that nobody reads gives, on Windows the second one
            if error.errno not in (errno.EPIPE, errno.EINVAL):
                raise
            # the rest of the buffer would fail again and again
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
