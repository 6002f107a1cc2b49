"""The eight tables of TPC-H as plain Parquet, clustered by us and indexed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOP = Path(__file__).resolve().parent.parent.parent
GENERATOR = "tpchgen-cli==4.0.0"
TOOLS = TOP / "target/tools/tpchgen"
# what the queries filter and join by, and into how many files
CLUSTERED = {
    "lineitem": (("l_shipdate", "l_partkey"), 32),
    "orders": (("o_orderdate", "o_custkey"), 16),
    "partsupp": (("ps_partkey", "ps_suppkey"), 8),
    "customer": (("c_mktsegment", "c_custkey"), 4),
    "part": (("p_brand", "p_size"), 4),
}
AS_THEY_ARE = ("supplier", "nation", "region")


def generated(folder: Path, scale: float) -> Path:
    """The tables as the generator writes them; the generator comes from PyPI."""
    if not (TOOLS / "bin/tpchgen-cli").is_file():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--target", str(TOOLS), GENERATOR]
        subprocess.run(pip, check=True)
    made = folder / "generated"
    command = [str(TOOLS / "bin/tpchgen-cli"), "parquet", "-s", str(scale), "-o", str(made)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return made


def clustered(spark: SparkSession, made: Path, folder: Path) -> None:
    """A view of each table; the large ones are clustered and have an index."""
    for name in AS_THEY_ARE:
        spark.read.parquet(str(made / f"{name}.parquet")).createOrReplaceTempView(name)
    for name, (columns, files) in CLUSTERED.items():
        where = folder / name
        spark.read.parquet(str(made / f"{name}.parquet")).repartition(files).write.parquet(str(where))
        row = spark.sql(
            f"ZORDER TABLE '{where}' BY ({', '.join(columns)}) WITH (fileCount = {files}, force = true)"
        ).head()
        assert row is not None
        assert row["status"] == "DONE", row["reason"]
        spark.sql(f"ZORDER INDEX '{where}'").collect()
        spark.read.parquet(str(where)).createOrReplaceTempView(name)
        print(f"{name}: {files} files by {', '.join(columns)}", flush=True)
