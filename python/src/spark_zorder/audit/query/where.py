"""SQL predicates in Spark's dialect, read by sqlglot."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from ..files.words import of_double, of_float
from ..problem import AuditError, Unanswered, UsageError
from . import conditions
from .conditions import IMPOSSIBLE, IS_NOT_NULL, IS_NULL, Test
from .literals import Bound, Constant, bound
from .predicate import Both, Either, Known, Node, On, Unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..files.columns import Columns

_MIRRORED = {"LT": "GT", "LTE": "GTE", "GT": "LT", "GTE": "LTE"}
_WHOLE_TYPES = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT"})
_TIMES = {"DATE": "date", "TIMESTAMP": "timestamp", "TIMESTAMPTZ": "timestamp", "TIMESTAMPLTZ": "timestamp"}
_NULL = Constant("null", "")
# the parts of expressions that are looked at; any other one, such as SYMMETRIC, may change the meaning
_BINARY = frozenset({"this", "expression"})
_KNOWN: dict[str, frozenset[str]] = {
    **dict.fromkeys(("And", "Or", "Is", "StartsWith", "Dot"), _BINARY),
    **dict.fromkeys(("EQ", "NEQ", "NullSafeEQ", "LT", "LTE", "GT", "GTE"), _BINARY),
    **dict.fromkeys(("Not", "Neg", "Boolean", "Null"), frozenset({"this"})),
    "Like": _BINARY | {"negate"},
    "Between": frozenset({"this", "low", "high"}),
    "In": frozenset({"this", "expressions"}),
    "Literal": frozenset({"this", "is_string"}),
    "Cast": frozenset({"this", "to"}),
    "TryCast": frozenset({"this", "to"}),
    "Column": frozenset({"this", "table", "db", "catalog"}),
}
_MOST_CHARACTERS = 200
_NOT_ONE = "not a comparison of one column with constants"


class Conjunct(NamedTuple):
    """One part of a predicate, of those that AND joins: its text and what it says of the columns."""

    text: str
    node: Node


def read(text: str, columns: Columns) -> list[Conjunct]:
    """The parts of a predicate; raises UsageError where it is no SQL or names a column that is not there."""
    try:
        import sqlglot
        from sqlglot import exp
    except ImportError:
        raise AuditError(
            "--where without Spark needs sqlglot: pip install 'spark-zorder[audit]', or add --spark."
        ) from None
    try:
        tree = sqlglot.parse_one(text, read="spark", into=exp.Condition)
    except sqlglot.errors.SqlglotError as error:
        raise UsageError(f"The predicate cannot be read: {_first_line(error)}") from None
    reader = _Reader(columns, exp, escapes="\\" in text or "''" in text)
    return [Conjunct(_sql(part), reader.where(part, truth=True)) for part in reader.conjuncts(tree)]


def _first_line(error: Exception) -> str:
    found: Sequence[dict[str, Any]] = getattr(error, "errors", None) or []
    return str(found[0].get("description") if found else error).splitlines()[0]


def _sql(e: Any) -> str:
    text: str = e.sql(dialect="spark", comments=False)
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 4] + " ..."


class _Reader:
    """`escapes`: texts may not be what sqlglot takes them for, as Spark has rules of its own for escapes."""

    def __init__(self, columns: Columns, exp: Any, escapes: bool) -> None:
        self._columns = columns
        self._exp = exp
        self._escapes = escapes

    def conjuncts(self, e: Any) -> list[Any]:
        e = e.unnest()
        if isinstance(e, self._exp.And):
            return [*self.conjuncts(e.left), *self.conjuncts(e.right)]
        return [e]

    def where(self, e: Any, truth: bool) -> Node:
        """Where the expression is `truth`, and not NULL; or more."""
        exp = self._exp
        e = e.unnest()
        try:
            self._only_known(e)
            if isinstance(e, (exp.And, exp.Or)):
                left, right = self.where(e.left, truth), self.where(e.right, truth)
                return Both(left, right) if isinstance(e, exp.And) == truth else Either(left, right)
            if isinstance(e, exp.Not):
                return self.where(e.this, not truth)
            if isinstance(e, exp.Boolean):
                return Known(bool(e.this) == truth)
            if isinstance(e, exp.Null):
                return Known(False)
            if isinstance(e, exp.Between):
                low = exp.GTE(this=e.this.copy(), expression=e.args["low"].copy())
                high = exp.LTE(this=e.this.copy(), expression=e.args["high"].copy())
                return self.where(exp.And(this=low, expression=high), truth)
            column, test = self._test(e)
        except Unanswered as reason:
            return Unknown(f"{reason}: {_sql(e)}")
        return On(column, test.when_true if truth else test.when_false)

    def _only_known(self, e: Any) -> None:
        """Refuses what may change the meaning of an expression and is not looked at."""
        said = {name for name, value in e.args.items() if value not in (None, False, [])}
        if not said <= _KNOWN.get(type(e).__name__, said):
            raise Unanswered(_NOT_ONE)

    def _test(self, e: Any) -> tuple[int, Test]:
        exp = self._exp
        if isinstance(e, exp.Column):
            column = self._column(e)
            if self._kind(column) != "boolean":
                raise Unanswered(_NOT_ONE)
            return column, conditions.equal(1)
        if isinstance(e, exp.Is) and isinstance(e.expression, exp.Null):
            return self._column(e.this), Test(IS_NULL, IS_NOT_NULL)
        if isinstance(e, exp.In) and e.expressions:
            return self._in(self._column(e.this), [self._constant(x) for x in e.expressions])
        if isinstance(e, (exp.Like, exp.StartsWith)):
            column, test = self._prefix(e)
            return column, test.negated() if e.args.get("negate") else test
        if isinstance(e, (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)):
            return self._compared(e)
        raise Unanswered(_NOT_ONE)

    def _compared(self, e: Any) -> tuple[int, Test]:
        name, left, right = type(e).__name__, e.left.unnest(), e.right.unnest()
        if not isinstance(left, (self._exp.Column, self._exp.Dot)):
            name, left, right = _MIRRORED.get(name, name), right, left
        column = self._column(left)
        constant = self._constant(right)
        if constant == _NULL:
            safe = name == "NullSafeEQ"
            return column, Test(IS_NULL, IS_NOT_NULL) if safe else Test(IMPOSSIBLE, IMPOSSIBLE)
        return column, _comparison(name, bound(constant, self._columns.type_of(column)))

    def _in(self, column: int, constants: list[Constant]) -> tuple[int, Test]:
        kind = self._columns.type_of(column)
        kinds = {c.kind for c in constants if c != _NULL}
        if len(kinds) > 1:
            raise Unanswered("constants of several types")
        bounds = [bound(c, kind) for c in constants if c != _NULL]
        nan = {"float": of_float, "double": of_double}.get(kind.name)
        words = [b.floor for b in bounds if b.floor == b.ceiling]
        test = conditions.one_of(words, _NULL in constants, nan(float("nan")) if nan else None)
        # Spark may compare the column's text with texts, of which several stand for one value
        as_text = "string" in kinds and kind.name != "string"
        return column, Test(test.when_true, IS_NOT_NULL) if as_text else test

    def _prefix(self, e: Any) -> tuple[int, Test]:
        column = self._column(e.this)
        constant = self._constant(e.expression)
        if constant.kind != "string" or self._kind(column) != "string":
            raise Unanswered(_NOT_ONE)
        text = str(constant.value)
        if isinstance(e, self._exp.StartsWith):
            return column, conditions.starts_with(text.encode(), exactly=True)
        plain = text[: min([i for i, c in enumerate(text) if c in "%_"], default=len(text))]
        if plain == text:
            return column, conditions.equal(text.encode())
        if not plain:
            raise Unanswered(_NOT_ONE)
        return column, conditions.starts_with(plain.encode(), exactly=text[len(plain) :] == "%")

    def _kind(self, column: int) -> str:
        return self._columns.type_of(column).name

    def _column(self, e: Any) -> int:
        """The number of a column or a field of a struct."""
        e = e.unnest()
        self._only_known(e)
        if not isinstance(e, (self._exp.Column, self._exp.Dot)):
            raise Unanswered(_NOT_ONE)
        if not all(isinstance(part, self._exp.Identifier) for part in e.parts):
            raise Unanswered(_NOT_ONE)
        return self._columns.number([part.name for part in e.parts])

    def _constant(self, e: Any) -> Constant:
        exp = self._exp
        e = e.unnest()
        self._only_known(e)
        if isinstance(e, exp.Null):
            return _NULL
        if isinstance(e, exp.Boolean):
            return Constant("boolean", bool(e.this))
        if isinstance(e, exp.Literal):
            return self._text(e.this) if e.is_string else _number(str(e.this))
        if isinstance(e, exp.Neg):
            number = self._constant(e.this)
            if number.kind in ("int", "decimal", "double"):
                return Constant(number.kind, -number.value)  # type: ignore[operator]
        if isinstance(e, (exp.Cast, exp.TryCast)) and isinstance(e.this, exp.Literal):
            return self._cast(e.this, e.to.this.name)
        raise Unanswered(_NOT_ONE)

    def _text(self, text: str) -> Constant:
        if self._escapes and text:
            raise Unanswered("text beside a backslash or doubled quotes")
        return Constant("string", text)

    def _cast(self, literal: Any, kind: str) -> Constant:
        """`DATE '2026-01-01'`, `TIMESTAMP '...'`, and numbers with a letter, such as `17L`."""
        if literal.is_string and kind in _TIMES:
            return Constant(_TIMES[kind], self._text(literal.this).value)
        number = None if literal.is_string else _number(str(literal.this))
        if number is not None and number.kind == "int" and kind in _WHOLE_TYPES:
            return number
        if number is not None and kind == "DOUBLE":
            return Constant("double", float(number.value))
        raise Unanswered(_NOT_ONE)


def _number(text: str) -> Constant:
    if text.isdigit():
        return Constant("int", int(text))
    # with an exponent it is a DOUBLE for Spark
    return Constant("double", float(text)) if "e" in text.lower() else Constant("decimal", Decimal(text))


def _comparison(name: str, at: Bound) -> Test:
    exact = at.floor == at.ceiling
    if name in ("EQ", "NEQ", "NullSafeEQ"):
        make = conditions.null_safe_equal if name == "NullSafeEQ" else conditions.equal
        unequal = IS_NOT_NULL._replace(or_null=name == "NullSafeEQ")
        found = make(at.floor) if exact else Test(IMPOSSIBLE, unequal)
        return found.negated() if name == "NEQ" else found
    if name in ("LT", "LTE"):
        return conditions.below(at.floor, included=not exact or name == "LTE")
    return conditions.above(at.ceiling, included=not exact or name == "GTE")
