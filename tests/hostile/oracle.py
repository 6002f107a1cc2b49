"""What every case checks itself by: all rows and nothing else, and nothing changed by a refusal."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

if TYPE_CHECKING:
    from collections.abc import Iterator

# what a sentence to a user has none of
RAW = re.compile(r"NullPointer|MatchError|Py4J|at org\.|at java\.|scala\.|None\.get|Job aborted|ClassCast")
ROWS = 4_000


def multiset(df: DataFrame) -> Counter[str]:
    """All rows, however often each is there, in no order; NaN and -0.0 as Spark prints them."""
    return Counter(str(row) for row in df.collect())


class Walk:
    """A user's way through one case."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        """``folder`` is the case's own."""
        self.spark = spark
        self.folder = folder
        self.names: list[str] = []

    def rows(self, first: int = 0, last: int = ROWS) -> DataFrame:
        """Rows whose order has nothing to do with ``a`` and ``b``; ``p`` cuts them into three parts."""
        return self.spark.range(first, last, 1, 4).selectExpr(
            "id", "pmod(xxhash64(id, 1), 500) a", "pmod(xxhash64(id, 2), 500) b", "cast(id % 3 as int) p"
        )

    def path(self, name: str = "t", df: DataFrame | None = None, *by: str) -> str:
        """A directory of Parquet files."""
        target = str(self.folder / name)
        (self.rows() if df is None else df).write.partitionBy(*by).parquet(target)
        return target

    def managed(self, name: str, *by: str, df: DataFrame | None = None) -> str:
        """A table in the warehouse."""
        self.names.append(name)
        self.spark.sql(f"DROP TABLE IF EXISTS {name}")
        (self.rows() if df is None else df).write.partitionBy(*by).format("parquet").saveAsTable(name)
        return name

    def cluster(self, target: str, by: str = "a, b", how: str = "", options: str = "fileCount = 4") -> str:
        """A forced run; its status. A target with a slash is a path."""
        text = f"ZORDER TABLE {named(target)} {how} BY ({by}) WITH (force = true, {options})"
        return str(self.spark.sql(text).head()["status"])

    def say(self, what: str, target: str, more: str = "") -> str:
        """VACUUM, ROLLBACK or REMOVE; the first row's status."""
        return str(self.spark.sql(f"ZORDER {what} {named(target)} {more}").head()["status"])

    def read(self, path: str) -> Counter[str]:
        """All rows of a directory as a new reader finds them."""
        return multiset(self.spark.read.parquet(path))

    def table(self, name: str) -> Counter[str]:
        """All rows of a table of the catalog."""
        return multiset(self.spark.table(name))

    def listing(self) -> dict[str, int]:
        """Every file below the case's folder, with its length."""
        return {str(p): p.stat().st_size for p in self.folder.rglob("*") if p.is_file()}

    @contextmanager
    def settings(self, **values: str) -> Iterator[None]:
        """Settings of the session, ``__`` for dots, that are as they were afterwards."""
        conf, keys = self.spark.conf, {key.replace("__", "."): value for key, value in values.items()}
        before = {key: conf.get(key, None) for key in keys}
        for key, value in keys.items():
            conf.set(key, value)
        try:
            yield
        finally:
            for key, value in before.items():
                conf.unset(key) if value is None else conf.set(key, value)

    def refused(self, statement: str, *words: str) -> str:
        """One short sentence that holds these words, and not a file changed."""
        before = self.listing()
        try:
            found = self.spark.sql(statement).collect()
        except Exception as e:  # whatever it is, its text is what the user sees
            text = re.sub(r"^\[\w+\] ", "", str(e)).split("\n\nJVM stacktrace")[0].strip()
        else:
            raise AssertionError(f"{statement} was not refused: {found}")
        assert not RAW.search(text), text
        assert len(text) < 700, text
        for word in words:
            assert word in text, text
        assert self.listing() == before
        return text


def named(target: str) -> str:
    """As a statement spells it."""
    return "'" + target.replace("\\", "\\\\").replace("'", "\\'") + "'" if "/" in target else target
