"""Makes lines for a terminal from texts with names of tables, columns and files, which may hold anything."""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata
from textwrap import fill

# sentences in longer lines are hard to read
_WIDEST = 100
# narrower lines would hold one word each
_NARROWEST = 20

# control characters, those that change the direction of what is written, and bytes that are not UTF-8
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# an apostrophe inside or at the end of a word begins no quotation
_QUOTED = re.compile(r"""(?<!\w)(?:`[^`]*`|'(?:[^'\\]|\\.)*'|"[^"]*")(?!\w)""")


def visible(text: str) -> str:
    r"""The text with escapes such as ``\n`` and ``\x1b`` for the characters that a terminal obeys.

    A name with such characters could hide what stands before it, or look like a line of its own.
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def visible_lines(text: str) -> str:
    """The same of a text that has lines itself, such as an error of Spark."""
    return "\n".join(map(visible, re.split(r"\r?\n", text)))


def columns() -> int:
    """The width for sentences: 100, or that of the terminal that is printed to if it is narrower."""
    if sys.stdout is None or not sys.stdout.isatty():
        return _WIDEST
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns))


def width_of(text: str) -> int:
    """The columns that a terminal gives a text: two for a full-width character, none for an accent."""
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def wrapped(text: str, width: int) -> str:
    """One sentence or more in lines of this width. A path, a name and what is in quotes stay in one piece."""
    # a visible text has no zero byte
    glued = _QUOTED.sub(lambda quoted: quoted[0].replace(" ", "\0"), visible(text))
    return fill(glued, width, break_long_words=False, break_on_hyphens=False).replace("\0", " ")
