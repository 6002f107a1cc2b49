"""The result of an audit, with or without Spark, and what the shell adds to it: alerts and prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..view.units import figure
from . import rules

if TYPE_CHECKING:
    from collections.abc import Sequence

Rows = list[dict[str, Any]]

_TIB = 2**40
# a share above both is an alert: it is high, and a better layout would lower it
_ALERT_SHARE = 0.3
_ALERT_TIMES = 1.5


class Result(NamedTuple):
    """Rows of ``clustering_information``, of ``clustering_boxes`` and of ``clustering_queries``.

    The last two are empty if they were not requested. ``history`` has the runs of the table.
    """

    rows: Rows
    boxes: Sequence[dict[str, Any]] = ()
    queries: Sequence[dict[str, Any]] = ()
    history: Sequence[dict[str, Any]] = ()

    def alert(self) -> bool:
        """Whether look-ups, or a query of the log, read far more than necessary.

        Look-ups of a table that is left as it is, by its verdict, are none: there is nothing to run.
        """
        joint = _joint(self.rows[0])
        share = joint.get("look_up_share")
        least = joint.get("look_up_bound")
        # without a bound, less is read than one
        table = share is not None and least is not None and share > max(_ALERT_SHARE, _ALERT_TIMES * least)
        mends = self.rows[0]["verdict"] not in (rules.OK, rules.TOO_SMALL)
        return (table and mends) or any(query["alert"] for query in self.queries)

    def priced(self, price_per_tib: float | None) -> Result:
        """The result with prices: what it costs to read all columns of the files that are read."""
        if price_per_tib is None:
            return self
        rows = [_with_prices(row, price_per_tib) for row in self.rows]
        whole = self.rows[0]["total_bytes"] / _TIB * price_per_tib
        queries = [{**q, "price": _times(q["share"], whole)} for q in self.queries]
        return self._replace(rows=rows, queries=queries)

    def price_text(self) -> str:
        """A sentence about the prices. Empty if the result has none."""
        row = self.rows[0]
        if "look_up_price" not in row:
            return ""
        parts = [
            f"{name} costs {figure(row[key])}{_least(row[f'{key}_bound'])}"
            for name, key in (("a look-up", "look_up_price"), ("a range of 1 %", "range_price"))
            if row[key] is not None
        ]
        asked = sum(q["price"] * q["weight"] for q in self.queries)
        if self.queries:
            parts.append(f"a query of the log costs {figure(asked)} on average")
        # a table without rows has no look-ups
        others = f"; {', '.join(parts)}" if parts else ""
        return f"Reading everything costs {figure(row['price'])}{others}."


def _least(price: float | None) -> str:
    return "" if price is None else f" (the least possible: {figure(price)})"


def _joint(row: dict[str, Any]) -> dict[str, Any]:
    """The figures of all columns together at the level of files."""
    levels = (e for e in row["levels"] if e["level"] == "file" and e["name"] is None)
    return next(levels, {})


def _with_prices(row: dict[str, Any], price_per_tib: float) -> dict[str, Any]:
    joint = _joint(row)
    whole = row["total_bytes"] / _TIB * price_per_tib
    prices: dict[str, float | None] = {"price": whole}
    for key in ("look_up", "range"):
        prices[f"{key}_price"] = _times(joint.get(f"{key}_share"), whole)
        prices[f"{key}_price_bound"] = _times(joint.get(f"{key}_bound"), whole)
    return {**row, **prices}


def _times(share: float | None, whole: float) -> float | None:
    return None if share is None else share * whole
