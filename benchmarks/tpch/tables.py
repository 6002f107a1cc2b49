"""The eight tables of TPC-H, and by what those that are large are clustered."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workload import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TOP = Path(__file__).resolve().parent.parent.parent
GENERATOR = "tpchgen-cli==4.0.0"
TOOLS = TOP / "target/tools/tpchgen"
# what the queries filter and join by
CLUSTERED = {
    "lineitem": Table(("l_shipdate", "l_partkey"), 1, ("l_orderkey",)),
    "orders": Table(("o_orderdate", "o_custkey"), 1 / 2, ("o_orderkey",)),
    "partsupp": Table(("ps_partkey", "ps_suppkey"), 1 / 4, ("ps_partkey",)),
    "customer": Table(("c_mktsegment", "c_custkey"), 1 / 8, ("c_custkey",)),
    "part": Table(("p_brand", "p_size"), 1 / 8, ("p_partkey",)),
}
AS_THEY_ARE = ("supplier", "nation", "region")


def source(spark: SparkSession, folder: Path, scale: float) -> dict[str, DataFrame]:
    """The tables as the generator writes them; the generator comes from PyPI."""
    if not (TOOLS / "bin/tpchgen-cli").is_file():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--target", str(TOOLS), GENERATOR]
        subprocess.run(pip, check=True)
    made = folder / "generated"
    command = [str(TOOLS / "bin/tpchgen-cli"), "parquet", "-s", str(scale), "-o", str(made)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    names = (*CLUSTERED, *AS_THEY_ARE)
    return {name: spark.read.parquet(str(made / f"{name}.parquet")) for name in names}
