"""Tables whose rows are known while drivers that rewrite them are killed."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

import races
import rebase_writer
import tables

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


class Alone:
    """A table that nobody else changes: it has the rows that it was made with."""

    def __init__(self, spark: SparkSession, folder: Path, kind: str) -> None:
        self.spark, self.folder, self.kind = spark, folder, kind
        tables.create(spark, folder, kind)
        self.whole = self.fingerprint()

    def fingerprint(self) -> tuple[int, int]:
        return tables.fingerprint(tables.read(self.spark, self.folder, self.kind))

    def begin(self) -> None:
        """A driver is about to live."""

    def end(self) -> None:
        """It is dead."""

    def wrong(self) -> str:
        """What a reader sees that is not right, if anything."""
        seen = self.fingerprint()
        return "" if seen == self.whole else f"{seen} and not {self.whole}"

    def note(self) -> str:
        """What else there is to say, at the end."""
        return ""


class BesideWriter(Alone):
    """A table that this session never stops to change while a driver lives; the writer knows its rows."""

    def __init__(self, spark: SparkSession, folder: Path, kind: str, seed: int) -> None:
        self.spark, self.folder, self.kind = spark, folder, kind
        self.table = races.create(spark, folder, kind, tables.BESIDE_WRITER[kind])
        self.writer = rebase_writer.Writer(spark, self.table, seed)
        self.broken: list[str] = []

    def begin(self) -> None:
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self) -> None:
        try:
            while not self.stop.is_set():
                self.writer.change()
        except Exception as error:
            self.broken.append(races.words(error)[:4000])

    def end(self) -> None:
        self.stop.set()
        self.thread.join()
        if self.broken:
            raise SystemExit(f"{self.kind}: the writer broke: {self.broken[0]}")

    def wrong(self) -> str:
        expected = Counter(row for rows in self.writer.rows.values() for row in rows)
        found = Counter(races.rows(self.spark, self.table))
        lost, more = expected - found, found - expected
        if not lost and not more:
            return ""
        few, many = (sum(rows.values()) for rows in (lost, more))
        return f"{few} rows too few and {many} too many, such as {next(iter(lost or more))}"

    def note(self) -> str:
        ended = Counter(how for *_, how in self.writer.statements)
        done = ended.pop("committed", 0)
        return f" Of the writer's statements, {done} committed and {sum(ended.values())} failed."


def table(spark: SparkSession, folder: Path, kind: str, seed: int) -> Alone:
    """The table of this kind, new."""
    if kind in tables.BESIDE_WRITER:
        return BesideWriter(spark, folder, kind, seed)
    return Alone(spark, folder, kind)
