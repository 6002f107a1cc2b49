"""What a session of the Python tests does at its start, for the JVM to archive the classes that it loads.

`run_tests.py` runs it by spark-submit, once, and again for another Spark or Java. With the archive, a session
starts with half of the CPU time. A JVM that cannot use the archive starts without it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pyspark.sql import SparkSession


def main() -> None:
    """A few queries, and a table of Parquet files."""
    with tempfile.TemporaryDirectory() as folder:
        warehouse = str(Path(folder) / "warehouse")
        builder = SparkSession.builder.config("spark.sql.warehouse.dir", warehouse)
        spark = builder.config("spark.ui.enabled", "false").getOrCreate()
        table = str(Path(folder) / "t")
        rows = spark.range(0, 1000, 1, 2).selectExpr(
            "id", "id % 7 AS k", "string(id) AS s", "current_date() AS d"
        )
        rows.write.parquet(table)
        spark.read.parquet(table).where("id > 10").groupBy("k").count().orderBy("k").collect()
        spark.read.parquet(table).createOrReplaceTempView("t")
        spark.sql("SELECT a.k, max(b.s) FROM t a JOIN t b ON a.id = b.id GROUP BY a.k").collect()
        spark.stop()


if __name__ == "__main__":
    main()
