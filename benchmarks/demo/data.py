"""TPC-DS store_sales as an ordinary Parquet table: generated once, kept outside git."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession

TOP = Path(__file__).resolve().parent.parent.parent
ARTIFACT = "io.trino.tpcds:tpcds:1.4:jar:jar-with-dependencies"
GENERATOR = TOP / "target/tools/tpcds-1.4-jar-with-dependencies.jar"

# the columns in the order of the generator
SCHEMA = """
  ss_sold_date_sk INT, ss_sold_time_sk INT, ss_item_sk INT, ss_customer_sk INT, ss_cdemo_sk INT,
  ss_hdemo_sk INT, ss_addr_sk INT, ss_store_sk INT, ss_promo_sk INT, ss_ticket_number BIGINT, ss_quantity INT,
  ss_wholesale_cost DECIMAL(7,2), ss_list_price DECIMAL(7,2), ss_sales_price DECIMAL(7,2),
  ss_ext_discount_amt DECIMAL(7,2), ss_ext_sales_price DECIMAL(7,2), ss_ext_wholesale_cost DECIMAL(7,2),
  ss_ext_list_price DECIMAL(7,2), ss_ext_tax DECIMAL(7,2), ss_coupon_amt DECIMAL(7,2),
  ss_net_paid DECIMAL(7,2), ss_net_paid_inc_tax DECIMAL(7,2), ss_net_profit DECIMAL(7,2)"""


def folder() -> Path:
    """Where data are kept between runs: target/demo, or what SPARK_ZORDER_DEMO_DIR names."""
    return Path(os.environ.get("SPARK_ZORDER_DEMO_DIR") or TOP / "target/demo").resolve()


def call(what: str, command: list[str]) -> None:
    """Runs a command whose own output says why it failed."""
    try:
        code = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
    except FileNotFoundError:
        raise SystemExit(f"{what} needs {command[0]}, which is not on PATH: install it.") from None
    if code:
        raise SystemExit(f"{what} failed: {command[0]} ended with {code}.")


def fetch(artifact: str, what: str) -> None:
    """A jar from Maven Central into the folder of the tools."""
    GENERATOR.parent.mkdir(parents=True, exist_ok=True)
    where = f"-DoutputDirectory={GENERATOR.parent}"
    call(what, ["mvn", "-q", "-B", "-Dstyle.color=never", "dependency:copy", f"-Dartifact={artifact}", where])


def jars(artifacts: Iterable[str]) -> list[Path]:
    """Jars of Maven Central, each fetched once."""
    found = []
    for artifact in artifacts:
        _, name, version = artifact.split(":")
        jar = GENERATOR.parent / f"{name}-{version}.jar"
        if not jar.is_file():
            fetch(artifact, f"Fetching {name}")
        found.append(jar)
    return found


def fetch_generator() -> None:
    """The TPC-DS data generator."""
    fetch(ARTIFACT, "Fetching the TPC-DS generator")


def write_text(scale: float, target: Path, *options: str) -> None:
    """Runs the generator: its text files, of all tables unless the options name one."""
    command = ["java", "-Xmx1g", "-jar", str(GENERATOR), *options, "--parallelism", "2"]
    call("Generating TPC-DS data", [*command, "--scale", f"{scale:g}", "--directory", str(target)])


def generate(scale: int) -> Path:
    """The generator's text files, rows in the order of the sales."""
    made = folder() / f"text-{scale}"
    if not made.is_dir():
        part = folder() / f".text-{scale}"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        write_text(scale, part, "--table", "store_sales")
        part.rename(made)
    return made


def parquet_path(scale: int) -> Path:
    """The table that both layouts are made from; it is never changed."""
    return folder() / f"store_sales-{scale}"


def write_parquet(spark: SparkSession, scale: int) -> None:
    """A plain write: about 24 files, rows as they came. The text files go then."""
    spark.conf.set("spark.sql.files.maxPartitionBytes", "16m")
    text = generate(scale)
    part = parquet_path(scale).with_name(f".store_sales-{scale}")
    rows = spark.read.schema(SCHEMA).option("sep", "|").csv(str(text))
    rows.write.mode("overwrite").parquet(str(part))
    part.rename(parquet_path(scale))
    shutil.rmtree(text)
    spark.conf.unset("spark.sql.files.maxPartitionBytes")


def fresh(name: str) -> Path:
    """A place for one run's table, emptied with all that earlier runs left beside it."""
    run = folder() / f"run-{name}"
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir(parents=True)
    return run / "store_sales"


def copy_of(scale: int, name: str) -> Path:
    """A copy of the table that may be changed."""
    target = fresh(name)
    shutil.copytree(parquet_path(scale), target)
    return target
