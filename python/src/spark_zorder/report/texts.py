"""Shortens texts to the room of a picture, so that different texts stay different where they can."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_DOTS = "…"
# a part of a number or of a time begins after one of these
_BREAK = re.compile("[ ,]")


def short(text: str, most: int) -> str:
    """The text, or its beginning if it is too long."""
    return text if len(text) <= most else text[: most - 1] + _DOTS


def middle(text: str, most: int) -> str:
    """The text, or its beginning and its end if it is too long."""
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return text[: most - 1 - end] + _DOTS + text[len(text) - end :]


def fitted(texts: Sequence[str], most: int) -> list[str]:
    """The texts in at most so many characters each.

    If their beginnings are alike, what all of them share in front is left out. If that is not enough, their
    middle is left out.
    """
    shared = shared_prefix(texts)
    tries = ([short(t, most) for t in texts], [_ending(t, shared, most) for t in texts])
    different = len(set(texts))
    return next((t for t in tries if len(set(t)) == different), [middle(t, most) for t in texts])


def shared_prefix(texts: Sequence[str]) -> int:
    """The number of characters that all texts begin with alike."""
    if not texts:
        return 0
    first, last = min(texts), max(texts)
    return next((i for i, (a, b) in enumerate(zip(first, last)) if a != b), min(len(first), len(last)))


def _ending(text: str, shared: int, most: int) -> str:
    """The text without its beginning, from the start of a part if that fits."""
    if len(text) <= most:
        return text
    part = max((found.end() for found in _BREAK.finditer(text, 0, shared)), default=0)
    fits = part and len(text) - part < most
    return short(_DOTS + text[part if fits else shared :], most)
