"""What several test files use: sessions to build, small tables, golden keys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
SHARED = TOP / "tests" / "shared"


def plain_builder(folder):
    """A local session without spark-zorder: small, quiet, with everything in a temporary folder."""
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master("local[2]")
        .appName("spark-zorder-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(Path(folder) / "warehouse"))
    )


def uncompiled(builder):
    """For many statements on few rows: compiling one takes longer than running it."""
    return builder.config("spark.sql.codegen.wholeStage", "false").config(
        "spark.sql.codegen.factoryMode", "NO_CODEGEN"
    )


def write_table(spark, path, rows=20_000, files=4):
    """Two columns that have nothing to do with the order of the rows, and a third that has."""
    spark.range(0, rows, 1, files).selectExpr(
        "cast(pmod(hash(id, 1), 1000) as int) as a", "cast(pmod(hash(id, 2), 1000) as int) as b", "id"
    ).write.parquet(str(path))
    return str(path)


def digest(spark, path):
    """Number of rows and an order-independent sum over all columns."""
    row = spark.read.parquet(path).selectExpr("count(*)", "sum(xxhash64(a, b, id) % 1000003)").collect()[0]
    return tuple(row)


def golden_keys():
    """The golden rows that this Spark has the types for: expression in SQL, key in hexadecimal."""
    import pyspark

    running = version(pyspark.__version__)
    files = sorted((SHARED / "golden").glob("*.json"))
    rows = [row for file in files for row in json.loads(file.read_text())]
    keyed = [row for row in rows if isinstance(row, dict) and "sql" in row and "key" in row]
    return [row for row in keyed if version(row.get("since", "3.5")) <= running]


def facts_of(program, folder, *arguments):
    """What a program of its own prints behind FACTS: one JVM has one configuration."""
    here = Path(__file__).resolve().parent
    done = subprocess.run(
        [sys.executable, str(here / program), str(folder), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(here)},
        timeout=400,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("FACTS ")]
    assert done.returncode == 0 and lines, done.stdout[-2000:] + done.stderr[-4000:]
    # Spark warns where a session registers one of our functions twice
    assert "replaced a previously registered function" not in done.stderr, done.stderr[-4000:]
    return json.loads(lines[0][len("FACTS ") :])


def version(text):
    """Major and minor."""
    return tuple(int(part) for part in text.split(".")[:2])


def paragraphs(name):
    """The cases of a file of SQL: its paragraphs behind the first one, which says what the file is."""
    return [text.strip() for text in (SHARED / "sql" / name).read_text().split("\n\n")[1:] if text.strip()]


def condition(error):
    """The name of an error's condition: pyspark 4 calls it so, and pyspark 3.5 an error class."""
    return (getattr(error, "getCondition", None) or error.getErrorClass)()
