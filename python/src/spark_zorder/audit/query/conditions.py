"""What a query asks of one column: a value in one of several intervals, or NULL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..files.zones import Word, Zone


class Interval(NamedTuple):
    """The words between two ends; an end that is None is open on that side."""

    low: Any = None
    high: Any = None
    low_included: bool = True
    high_included: bool = True

    def meets(self, least: Any, greatest: Any) -> bool:
        """Whether some word from `least` to `greatest` may be in it."""
        above = self.low is None or greatest > self.low or (self.low_included and greatest == self.low)
        below = self.high is None or least < self.high or (self.high_included and least == self.high)
        return above and below


class Condition(NamedTuple):
    """The intervals, in any order, and whether NULL will do."""

    intervals: tuple[Interval, ...] = ()
    or_null: bool = False

    @property
    def impossible(self) -> bool:
        """Whether no row meets it, as with ``a = NULL``."""
        return not self.intervals and not self.or_null

    def may_be_met(self, zone: Zone, nulls: int | None) -> bool:
        """Whether a block of this zone and number of NULLs (None: not known) may hold such a row."""
        if zone is None:
            # values may be anything, but of NULLs the count may tell
            return bool(self.intervals) or (self.or_null and nulls != 0)
        if not zone:
            return self.or_null
        return (self.or_null and nulls != 0) or any(i.meets(*zone) for i in self.intervals)


ANYTHING = Condition((Interval(),), or_null=True)
IMPOSSIBLE = Condition()
IS_NULL = Condition(or_null=True)
IS_NOT_NULL = Condition((Interval(),))


class Test(NamedTuple):
    """A predicate on one column: where it is true, and where it is false (not NULL); or more of either."""

    when_true: Condition
    when_false: Condition

    def negated(self) -> Test:
        """NOT of it."""
        return Test(self.when_false, self.when_true)


def ray(low: Word | None = None, high: Word | None = None, included: bool = True) -> Interval:
    """One interval; of numbers without its ends, the next numbers are its ends."""
    if included:
        return Interval(low, high)
    if isinstance(low, bytes) or isinstance(high, bytes):
        return Interval(low, high, low_included=False, high_included=False)
    return Interval(None if low is None else low + 1, None if high is None else high - 1)


def equal(word: Word) -> Test:
    """``column = word``."""
    outside = (ray(high=word, included=False), ray(low=word, included=False))
    return Test(Condition((Interval(word, word),)), Condition(outside))


def null_safe_equal(word: Word) -> Test:
    """``column <=> word``, which is false for NULL."""
    test = equal(word)
    return Test(test.when_true, test.when_false._replace(or_null=True))


def below(word: Word, included: bool) -> Test:
    """``column < word`` or ``<=``."""
    inside = Condition((ray(high=word, included=included),))
    return Test(inside, Condition((ray(low=word, included=not included),)))


def above(word: Word, included: bool) -> Test:
    """``column > word`` or ``>=``."""
    return below(word, included=not included).negated()


def one_of(words: Iterable[Word], with_null: bool, nan: Word | None) -> Test:
    """``column IN (...)``. With a NULL in the list it is false for no value, but for NaN, to be safe."""
    values: Sequence[Any] = sorted(set(words))
    inside = Condition(tuple(Interval(v, v) for v in values))
    if with_null:
        return Test(inside, IMPOSSIBLE if nan is None else Condition((Interval(nan, nan),)))
    return Test(inside, Condition(tuple(_gaps(values))))


def _gaps(values: Sequence[Any]) -> Iterable[Interval]:
    """Everything but these values, which ascend."""
    for low, high in zip([None, *values], [*values, None]):
        gap = ray(low, high, included=False)
        if gap.low is None or gap.high is None or gap.low <= gap.high:
            yield gap


def starts_with(prefix: bytes, exactly: bool) -> Test:
    """A string that begins with `prefix`; `exactly`: all such strings meet it."""
    if not prefix:
        return Test(IS_NOT_NULL, IMPOSSIBLE if exactly else IS_NOT_NULL)
    end = _after_prefix(prefix)
    inside = Interval(prefix, end, high_included=False)
    outside = [ray(high=prefix, included=False), *([] if end is None else [ray(low=end)])]
    return Test(Condition((inside,)), Condition(tuple(outside)) if exactly else IS_NOT_NULL)


def _after_prefix(prefix: bytes) -> bytes | None:
    """The least string above all that begin with `prefix`; a file may hold strings that are no UTF-8."""
    head = prefix.rstrip(b"\xff")
    return head[:-1] + bytes([head[-1] + 1]) if head else None
