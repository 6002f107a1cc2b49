"""The file system of the query benchmark: counts requests, and can be as slow as an object store."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = Path(__file__).resolve().parent
SOURCES = [FOLDER / f"{name}.java" for name in ("CountingFileSystem", "RowGroups", "ShuffleBytes")]
CLASSES = FOLDER.parent.parent / "target/tools/counting"
SETTINGS = {"spark__hadoop__fs__file__impl": "sparkzorder.bench.CountingFileSystem"}


def compiled() -> Path:
    """The folder of its classes, compiled against the Hadoop and the Parquet of this Spark."""
    CLASSES.mkdir(parents=True, exist_ok=True)
    jars = Path(pyspark.__file__).resolve().parent / "jars"
    command = ["javac", "-nowarn", "-cp", f"{jars}/*", "-d", str(CLASSES), *map(str, SOURCES)]
    if subprocess.run(command, check=False).returncode:
        raise SystemExit(f"{SOURCES[0].name} cannot be compiled: is javac of a JDK on PATH?")
    return CLASSES


def _class(spark: SparkSession) -> Any:
    return spark._jvm.sparkzorder.bench.CountingFileSystem


def reset(spark: SparkSession) -> None:
    """Counts from now on."""
    _class(spark).reset()
    spark._jvm.sparkzorder.bench.ShuffleBytes.reset(spark._jsc.sc())


def counts(spark: SparkSession) -> tuple[int, int, int]:
    """Data files opened, requests and bytes."""
    files, requests, size = _class(spark).counts()
    return int(files), int(requests), int(size)


def kinds(spark: SparkSession) -> tuple[int, int, int]:
    """The requests by their kinds: HEAD, LIST and GET."""
    heads, lists, gets = _class(spark).kinds()
    return int(heads), int(lists), int(gets)


def row_groups(spark: SparkSession) -> int:
    """Row groups of data files of which bytes were read."""
    return int(_class(spark).rowGroups())


def shuffled(spark: SparkSession) -> int:
    """Bytes that were written to shuffles."""
    return int(spark._jvm.sparkzorder.bench.ShuffleBytes.count(spark._jsc.sc()))


def slow(spark: SparkSession, milliseconds: int) -> None:
    """From now on each request takes so much more."""
    _class(spark).slowBy(milliseconds)
