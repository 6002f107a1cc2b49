"""Shows the steps of a run below the cell of a notebook, while it works: its JVM has no terminal."""

from __future__ import annotations

import html
import importlib
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import _session
from .lines import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

SHOW = "spark.zorder.progress.show"
_SECONDS = 1.0


@contextmanager
def followed(spark: SparkSession) -> Iterator[None]:
    """Shows the lines of the run that the body starts, if this is a notebook.

    Elsewhere it does nothing: a terminal gets the lines from the JVM, and a client of Connect has no JVM.
    ``spark.zorder.progress.show`` = ``false`` switches it off.
    """
    bridge = None
    if _in_notebook() and not _session.is_connect(spark) and spark.conf.get(SHOW, "auto") != "false":
        bridge = _session.jvm_class(spark, "sql.PythonBridge")
    if bridge is None:
        yield
        return
    session: Any = spark
    bridge.forgetProgress(session._jsparkSession)
    shown = _Shown()
    ended = threading.Event()

    def follow() -> None:
        while not ended.wait(_SECONDS):
            shown.update(list(bridge.progressLines(session._jsparkSession)))

    follower = threading.Thread(target=follow, daemon=True)
    follower.start()
    try:
        yield
    finally:
        ended.set()
        follower.join()
        shown.update(list(bridge.progressLines(session._jsparkSession)))


class _Shown:
    """An output of the cell, which grows in its place."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._before: list[str] = []

    def update(self, lines: list[str]) -> None:
        if lines == self._before:
            return
        self._before = lines
        text = "\n".join(map(visible, lines))
        shown = f'<pre style="white-space:pre-wrap">{html.escape(text)}</pre>'
        data = {"text/plain": text, "text/html": shown}
        if self._handle is None:
            display: Any = importlib.import_module("IPython.display").display
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def _in_notebook() -> bool:
    """Whether a kernel runs this Python: in a shell of IPython, standard error is the terminal."""
    found: Any = sys.modules.get("IPython")
    shell = found.get_ipython() if found is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
