"""Writes the text of our statements. Every name and value is quoted, so that only our parser can be meant."""

from __future__ import annotations

import operator
import os
import re
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPTION = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")

Value = Union[str, int, float, bool, "list[str]", "tuple[str, ...]"]

# the JVM decides which curves exist; a test compares this list with the JVM's
CURVES = ("auto", "zorder", "hilbert", "lexical", "tree")
# the options of a run; tests/state/names.txt has those of the JVM
OPTIONS = (
    "targetFileSize",
    "fileCount",
    "rowGroupSize",
    "codec",
    "pageRowLimit",
    "timestampType",
    "verify",
    "minGain",
    "force",
    "skipIfRunning",
    "overlap",
    "writeBudget",
    "deletedShare",
    "worstFiles",
    "maxInputBytes",
    "maxDuration",
    "maxBytesInFlight",
    "queryLog",
    "bloom",
    "location",
    "retention",
)


def literal(text: str) -> str:
    """The text as a SQL string literal."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def without_escapes(query: str) -> str:
    """A query of constants, with those that have an escape as bytes: some sessions know no escapes."""

    def constant(found: re.Match[str]) -> str:
        if "\\" not in found[0]:
            return found[0]
        text = re.sub(r"\\(.)", r"\1", found[0][1:-1], flags=re.DOTALL)
        return f"CAST(unhex('{text.encode().hex()}') AS STRING)"

    return re.sub(r"'(?:[^'\\]|\\.)*'", constant, query, flags=re.DOTALL)


def quoted(part: str) -> str:
    """One part of a name in backquotes."""
    return "`" + part.replace("`", "``") + "`"


def unquoted(name: str) -> str:
    """A name for people: without its backquotes if it is a single part.

    A name of several parts keeps them, since without them it would be another name.
    """
    return name[1:-1].replace("``", "`") if re.fullmatch(r"`(?:[^`]|``)+`", name) else name


# words that some Spark reserves in its strictest mode, or takes for a value (see `ColumnPath` in the JVM)
_WORDS = re.compile(
    r"all|and|any|as|authorization|both|call|case|cast|check|collate|collation|"
    r"collations|column|constraint|create|cross|current_date|current_path|"
    r"current_schema|current_time|current_timestamp|current_user|distinct|else|end|"
    r"escape|except|execute|false|fetch|filter|for|foreign|from|full|grant|group|"
    r"having|in|inner|intersect|into|is|join|lateral|leading|left|localtime|"
    r"natural|not|null|offset|on|only|or|order|outer|overlaps|percentile_cont|"
    r"percentile_disc|primary|recursive|references|right|select|session_user|some|sql|"
    r"table|then|time|to|trailing|true|union|unique|unknown|user|using|when|where|"
    r"with|within",
    re.IGNORECASE,
)


def name(part: str) -> str:
    """One part of a name, in backquotes only if SQL needs them."""
    plain = part.isascii() and part.isidentifier() and _WORDS.fullmatch(part) is None
    return part if plain else quoted(part)


def is_path(text: str) -> bool:
    """Whether a text names a table by its path: it has a slash, and no backquote as quoted names have.

    The JVM has the same rule (``TableRef.isPath``); tests/shared/table-names.tsv tests both.
    """
    return ("/" in text or "\\" in text) and "`" not in text


def path_text(value: str | os.PathLike[str], what: str) -> str:
    """A path as text. What is none, such as the value of a variable that is not set, is an error."""
    try:
        text = os.fspath(value)
    except TypeError:
        text = None
    if not isinstance(text, str):
        raise TypeError(f"{what} takes a path as text or as a pathlib.Path, not {type(value).__name__}.")
    if not text.strip():
        raise ValueError(f"{what} takes the path of a directory, and this text is empty.")
    return text


def parts(name: str) -> list[str]:
    """Splits ``db.t`` or ``s.`a.b``` at the dots that are not inside backquotes, and takes the quotes off."""
    found = re.findall(r"`((?:[^`]|``)*)`|([^.`]+)|(\.)", name)
    rest = re.sub(r"`(?:[^`]|``)*`|[^.`]+|\.", "", name)
    words = [(plain or back.replace("``", "`")) for back, plain, dot in found if not dot]
    dots = sum(1 for _, _, dot in found if dot)
    if rest or not words or "" in words or dots != len(words) - 1:
        raise ValueError(f"{name!r} is no name: write parts with dots between them, as in db.t or s.`a.b`.")
    return words


def identifier(name: str) -> str:
    """A name with dots, each part in backquotes."""
    return ".".join(quoted(part) for part in parts(name))


# a text in quotes, the beginning of a comment, or one character
_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--|/\*|.""", re.DOTALL)
# the same, with raw strings, and with comments up to the end of a line, as a whole
_TOKEN_OR_COMMENT = re.compile(
    rf"""--(?:\\\n|[^\r\n])*|(?<!\w)[rR](?:'[^']*'|"[^"]*")|{_TOKEN.pattern}""", re.DOTALL
)
_IN_COMMENT = re.compile(r"/\*|\*/|.", re.DOTALL)


def listed(text: str) -> list[str]:
    """The columns of a list such as ``a, date_trunc('HOUR', ts)``: one in brackets or quotes is no end."""
    items, depth = [""], 0
    for token in _TOKEN.findall(text):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth < 0 or token in ("'", '"', "`", "--", "/*"):
            raise ValueError(
                f"{text!r} is no list of columns: {token} stands alone; use backquotes in names."
            )
        if token == "," and depth == 0:
            items.append("")
        else:
            items[-1] += token
    if depth:
        raise ValueError(f"{text!r} is no list of columns: a bracket is open; use backquotes in names.")
    return [item.strip() for item in items if item.strip()]


def column(text: str) -> str:
    """A clustering column as it stands after BY: a name, or an expression, which has a bracket, as it is."""
    if "(" not in re.sub(r"`(?:[^`]|``)*`", "", text):
        return identifier(text)
    if len(listed(text)) != 1:
        raise ValueError(f"{text!r} is more than one column: give them one by one, or as a list.")
    return text


def columns(texts: Sequence[str]) -> str:
    """Columns as one list in SQL: without quotes, a name with a blank in it would be a name and an alias."""
    return ", ".join(column(item) for text in texts for item in listed(text))


def one_by_one(given: Sequence[str | Sequence[str]]) -> tuple[str, ...]:
    """Columns that were given one by one, as one list, or as a text with commas."""
    by = given[0] if len(given) == 1 and isinstance(given[0], (list, tuple)) else given
    others = [type(item).__name__ for item in by if not isinstance(item, str)]
    if others:
        raise TypeError(f"Z-order column must be str, such as 'a', not {others[0]}.")
    texts = [item for item in by if isinstance(item, str)]
    return tuple(name for text in texts for name in (listed(text) if "," in text else [text.strip()]))


@dataclass(frozen=True)
class Target:
    """The table of a statement: a catalog name in parts, or a path."""

    text: str
    is_path: bool

    @property
    def sql(self) -> str:
        """The table as it is written in a statement."""
        return literal(self.text) if self.is_path else identifier(self.text)

    @property
    def texts(self) -> list[str]:
        """What stands in quotes in a statement."""
        return [self.text] if self.is_path else []

    @property
    def layout(self) -> str:
        """The argument by which the layout functions find the layout that the table stores."""
        return f"path:{self.text}" if self.is_path else f"table:{self.sql}"

    @property
    def argument(self) -> str:
        """The table as the string argument of a table function."""
        # without a slash, only quotes tell a path from a name
        return literal(self.text if self.is_path and is_path(self.text) else self.sql)


@dataclass(frozen=True)
class Clustering:
    """One clustering run, as the builder of ``ZOrderTable.optimize()`` collects it."""

    target: Target
    by: tuple[str, ...] = ()
    where: str | None = None
    full: bool = False
    curve: str | None = None
    options: dict[str, Value] = field(default_factory=dict)
    into: str | None = None
    dry_run: bool = False

    def option(self, name: str, value: Value) -> Clustering:
        """With one option more. Case does not matter; the later one counts."""
        others = {k: v for k, v in self.options.items() if k.lower() != name.lower()}
        return replace(self, options={**others, name: value})

    def filtered(self, predicate: str) -> Clustering:
        """With one filter more. All of them are joined by AND."""
        if self.where is None:
            return replace(self, where=predicate)
        both = f"({predicate_text(self.where)}) AND ({predicate_text(predicate)})"
        return replace(self, where=both)

    @property
    def texts(self) -> list[str]:
        """What stands in quotes in the statement, but for expressions of the user."""
        into = [] if self.into is None else [self.into]
        return [*self.target.texts, *into, *map(_value, self.options.values())]

    @property
    def sql(self) -> str:
        """The statement, with its clauses in the order of the grammar."""
        clauses = [
            f"ZORDER TABLE {self.target.sql}",
            "FULL" if self.full else "",
            f"WHERE ({predicate_text(self.where)})" if self.where is not None else "",
            f"BY ({', '.join(column(c) for c in self.by)})" if self.by else "",
            f"USING CURVE {_curve(self.curve)}" if self.curve is not None else "",
            f"WITH ({', '.join(_pair(k, v) for k, v in self.options.items())})" if self.options else "",
            f"INTO {literal(self.into)}" if self.into is not None else "",
            "DRY RUN" if self.dry_run else "",
        ]
        return " ".join(clause for clause in clauses if clause)


def _closes_another(text: str) -> bool:
    """Whether a bracket that is not in quotes or a comment closes one that the text has not opened."""
    brackets = comments = at = 0
    while at < len(text) and brackets >= 0:
        found = (_IN_COMMENT if comments else _TOKEN_OR_COMMENT).match(text, at)
        token = found[0] if found else text[at]
        if token == "/*" or comments:
            comments += {"/*": 1, "*/": -1}.get(token, 0)
        else:
            brackets += {"(": 1, ")": -1}.get(token, 0)
        at += len(token)
    return brackets < 0


def predicate_text(text: str) -> str:
    """A filter as it stands between the brackets of a statement. What would end them is an error."""
    if not text.strip():
        raise ValueError("where() takes a SQL predicate, as in where(\"day >= '2026-01-01'\").")
    if _closes_another(text):
        raise ValueError(f"{text!r} is no predicate: it closes a bracket that it has not opened.")
    # a comment up to the end of the line would hide the bracket
    return f"{text}\n" if "--" in text else text


def _curve(name: str) -> str:
    if not _OPTION.match(name):
        raise ValueError(f"{name!r} is no curve: use one of {', '.join(CURVES)}.")
    return name


def _pair(name: str, value: Value) -> str:
    if not _OPTION.match(name):
        raise ValueError(f"{name!r} is no option name: it is a word such as targetFileSize.")
    if value is None:
        # the text "None" would switch off what the word none does
        raise TypeError(f"The option {name} takes a value: leave it out for its default.")
    return f"{name} = {literal(_value(value))}"


def _value(value: Value) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def whole(number: Any, wanted: str) -> int:
    """A number from 1 on, of whatever type of whole numbers, such as NumPy's. Others raise ``wanted``."""
    try:
        found = operator.index(number)
    except TypeError:
        found = 0
    if found < 1 or isinstance(number, bool):
        raise ValueError(wanted)
    return found


def history(target: Target, limit: int | None = None) -> str:
    """The query for the runs of a table, or for the newest ones, oldest first."""
    runs = f"SELECT * FROM zorder_history({target.argument})"
    if limit is None:
        return runs
    newest = whole(limit, "history takes a number of runs, 1 or more.")
    return f"SELECT * FROM ({runs} ORDER BY run DESC LIMIT {newest}) ORDER BY run"


def format_of(target: Target) -> str:
    """The query for the format of a table, its location, and whether it is partitioned."""
    return f"SELECT * FROM zorder_format({target.argument})"


def advice(target: Target, log: str | None) -> str:
    """The query for proposals for a table, the best first."""
    arguments = target.argument if log is None else f"{target.argument}, {literal(log)}"
    return f"SELECT * FROM clustering_advice({arguments})"


def audit(target: Target, by: Sequence[str], log: str | None) -> str:
    """The query for the audit of a table. Without columns, it audits those that the table is clustered by."""
    names = literal(columns(by)) if by else "NULL"
    logged = [] if log is None else [literal(log)]
    return f"SELECT * FROM clustering_information({', '.join([target.argument, names, *logged])})"


def index(
    target: Target, columns: Sequence[str], bloom: Sequence[str], budget: str | None, values: Sequence[str]
) -> str:
    """The statement ``ZORDER INDEX``. ``columns``, ``bloom`` and ``values`` are SQL names."""
    options = {} if budget is None else {"bloomBudget": budget}
    for name, chosen in (("values", values), ("bloom", bloom)):
        if isinstance(chosen, str):
            raise TypeError(f"{name} takes a list of columns, as in {name}=['id'].")
        if chosen:
            options = {name: ", ".join(chosen), **options}
    clauses = [
        f"ZORDER INDEX {target.sql}",
        f"COLUMNS ({', '.join(columns)})" if columns else "",
        f"WITH ({', '.join(_pair(k, v) for k, v in options.items())})" if options else "",
    ]
    return " ".join(clause for clause in clauses if clause)


def index_statement(target: Target, verb: str) -> str:
    """The statement ``ZORDER REFRESH INDEX``, ``DESCRIBE INDEX`` or ``DROP INDEX``."""
    return f"ZORDER {verb} INDEX {target.sql}"


def refresh_index_if_exists(target: Target) -> str:
    """The statement that refreshes the index of a table, if it has one."""
    return f"ZORDER REFRESH INDEX IF EXISTS {target.sql}"


def explain(query: str) -> str:
    """The statement that explains what a query skips."""
    return f"ZORDER EXPLAIN {query}"


def explain_log(log: str) -> str:
    """The statement that explains what the queries of a log skip."""
    return f"ZORDER EXPLAIN LOG {literal(log) if is_path(log) else identifier(log)}"


def skipping_usage() -> str:
    """The query for what scans have skipped in this application."""
    return "SELECT * FROM zorder_skipping_usage()"


LATE_FILES = ("append", "replace", "ignore")
HOME = ("move", "stay")


def vacuum(
    target: Target, retention_hours: float | None, late_files: str | None = None, dry_run: bool = False
) -> str:
    """The statement that removes the files that runs have replaced."""
    statement = f"ZORDER VACUUM {target.sql}"
    if retention_hours is not None:
        if isinstance(retention_hours, bool) or not isinstance(retention_hours, Real):
            raise TypeError(f"retention_hours is a number of hours, not {retention_hours!r}.")
        if not 0 <= retention_hours < float("inf"):
            raise ValueError("retention_hours is a number of hours, 0 or more.")
        hours = f"{retention_hours:.6f}".rstrip("0").rstrip(".") or "0"
        statement += f" RETAIN {hours} HOURS"
    if late_files is not None:
        if late_files not in LATE_FILES:
            raise ValueError(f"late_files is one of {', '.join(LATE_FILES)}, not {late_files!r}.")
        statement += f" LATE FILES {late_files.upper()}"
    return f"{statement} DRY RUN" if dry_run else statement


def log_start(path: str | os.PathLike[str] | None, literals: str | None) -> str:
    """The statement that starts the log of the session's queries."""
    if literals not in ("drop", "keep", None):
        raise ValueError(f"literals is 'drop' or 'keep', not {literals!r}.")
    where = "" if path is None else f" {literal(path_text(path, 'start'))}"
    how = "" if literals is None else f" {literals.upper()} LITERALS"
    return f"ZORDER LOG START{where}{how}"


def log_stop() -> str:
    """The statement that ends the log and writes it."""
    return "ZORDER LOG STOP"


def log_of_sql(queries: Sequence[str]) -> str:
    """The query for the rows of a log of these queries."""
    if isinstance(queries, str):
        raise TypeError("a log of queries takes a list of SQL texts, not one text.")
    if not queries:
        raise ValueError("a log of queries takes at least one SQL text.")
    return f"SELECT * FROM zorder_query_log(array({', '.join(literal(q) for q in queries)}))"


def log_of_events(path: str | os.PathLike[str]) -> str:
    """The query for the rows of a log from Spark's event logs."""
    return f"SELECT * FROM zorder_event_log({literal(path_text(path, 'of_event_log'))})"


def rollback(target: Target) -> str:
    """The statement that restores the state before the newest run."""
    return f"ZORDER ROLLBACK {target.sql}"


def remove(target: Target, home: str | None = None) -> str:
    """The statement that removes our state beside a table."""
    if home is not None and home not in HOME:
        raise ValueError(f"home is one of {', '.join(HOME)}, not {home!r}.")
    clause = {None: "", "move": " MOVE HOME", "stay": " STAY"}[home]
    return f"ZORDER REMOVE {target.sql}{clause}"
