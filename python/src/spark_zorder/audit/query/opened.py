"""What a query would open, and why not less: ``audit --where``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..files.words import of_double, of_float
from . import predicate
from .predicate import On, Unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..files.columns import Columns
    from ..files.zones import Block
    from .predicate import Node
    from .where import Conjunct

_NAN = {"float": of_float(float("nan")), "double": of_double(float("nan"))}


class Opened(NamedTuple):
    """What one part of a predicate leaves out at one level, or the whole of it where ``filter`` is None.

    ``pruned`` are the blocks that this part leaves out, whatever the others do, and ``pruned_further`` those
    of them that no part before it leaves out. ``kept`` are left after this part and those before it, ``rows``
    are the rows in these, and ``share`` is their part of all rows. ``reason`` says why not fewer.
    """

    filter: str | None
    level: str
    considered: int
    pruned: int
    pruned_further: int
    kept: int
    rows: int
    share: float
    reason: str


def columns_of(conjuncts: Sequence[Conjunct]) -> list[int]:
    """The numbers of the columns that a predicate has conditions on."""
    found = (part for c in conjuncts for part in predicate.parts(c.node))
    return sorted({part.column for part in found if isinstance(part, On)})


class Predicate(NamedTuple):
    """The parts of a predicate and the table's columns; zones of blocks are those of `columns_of`."""

    conjuncts: Sequence[Conjunct]
    columns: Columns


def opened(level: str, blocks: Sequence[Block], asked: Predicate) -> list[Opened]:
    """The rows of one level, ``file`` or ``row group``, that of the whole predicate first."""
    view = _View(asked, level)
    total = sum(block.rows for block in blocks)
    alive = [True] * len(blocks)

    def row(text: str | None, pruned: int, further: int, reason: str) -> Opened:
        rows = sum(b.rows for b, left in zip(blocks, alive) if left)
        share = rows / total if total else 0.0
        return Opened(text, level, len(blocks), pruned, further, sum(alive), rows, share, reason)

    found = []
    for text, node in asked.conjuncts:
        met = [view.may_match(node, block) for block in blocks]
        further = sum(1 for m, a in zip(met, alive) if a and not m)
        alive = [m and a for m, a in zip(met, alive)]
        kept = [b for b, m in zip(blocks, met) if m]
        found.append(row(text, met.count(False), further, view.reason(node, kept, len(blocks))))
    whole = alive.count(False)
    return [row(None, whole, whole, ""), *found]


class _View:
    def __init__(self, asked: Predicate, level: str) -> None:
        self._columns = asked.columns.all
        self._places = {number: i for i, number in enumerate(columns_of(asked.conjuncts))}
        self._name = level

    def may_match(self, node: Node, block: Block) -> bool:
        def met(on: On) -> bool:
            place = self._places[on.column]
            return on.condition.may_be_met(block.zones[place], block.nulls[place])

        return predicate.may_be_true(node, met)

    def reason(self, node: Node, kept: Sequence[Block], considered: int) -> str:
        """Why the kept blocks are not fewer."""
        if not kept:
            return ""
        said = [gap for gap in dict.fromkeys(self._gap(p, kept) for p in predicate.parts(node)) if gap]
        if said:
            return "; ".join(said)
        if len(kept) == considered:
            return f"the range of every {self._name} meets it"
        return (
            f"the range of 1 {self._name} meets it"
            if len(kept) == 1
            else (f"the ranges of {self._count(len(kept))} meet it")
        )

    def _gap(self, part: On | Unknown, kept: Sequence[Block]) -> str:
        """What would have to be known of the kept blocks to leave more out."""
        if isinstance(part, Unknown):
            return part.reason
        column, zones = self._columns[part.column], [b.zones[self._places[part.column]] for b in kept]
        without = sum(1 for zone in zones if zone is None)
        if column.partition:
            return ""
        if without:
            return f"no statistics: {_why(column.stored)} ({column.name} in {self._count(without)})"
        nan = None if column.type is None else _NAN.get(column.type.name)
        hidden = sum(1 for zone in zones if zone and zone[1] == nan)
        where = f"({column.name} in {self._count(hidden)})"
        return f"a NaN may be there, which the writer leaves out of bounds {where}" if hidden else ""

    def _count(self, number: int) -> str:
        return f"{number} {self._name}" + ("" if number == 1 else "s")


def _why(stored: str) -> str:
    if stored == "INT96":
        return stored
    causes = "a NaN, a string of over 4 KB, a writer that gives none"
    return f"{stored}, and a row group without bounds ({causes})"
