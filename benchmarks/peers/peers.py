"""The peers: their versions and jars for the Spark of this environment, and their keys.

Spark is 3.5, or 4.1, whose Delta and Iceberg are the newest. The keys are built as the peers' own code builds
them, as columns of a classic Spark 3.5 session.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
from pyspark.sql import Column

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
import data

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ON_NEWEST = not pyspark.__version__.startswith("3.5")
ICEBERG = "1.12.0"
DELTA = "4.4.0" if ON_NEWEST else "3.3.3"
# Hudi has no jar for Spark 4.1
HUDI = None if ON_NEWEST else "1.2.0"
NEWEST_ARTIFACTS = (
    f"org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:{ICEBERG}",
    f"io.delta:delta-spark_4.1_2.13:{DELTA}",
    f"io.delta:delta-storage:{DELTA}",
    f"io.delta:delta-kernel-api:{DELTA}",
    f"io.delta:delta-kernel-defaults:{DELTA}",
)
ARTIFACTS = (
    f"org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:{ICEBERG}",
    f"io.delta:delta-spark_2.12:{DELTA}",
    f"io.delta:delta-storage:{DELTA}",
    f"org.apache.hudi:hudi-spark3.5-bundle_2.12:{HUDI}",
)
DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"

# the defaults of Iceberg's rewrite and of Delta's OPTIMIZE
BYTES_OF_A_STRING = 8
RANGES = 1000


def jars() -> list[Path]:
    """Their jars from Maven Central, each fetched once."""
    return data.jars(NEWEST_ARTIFACTS if ON_NEWEST else ARTIFACTS)


def versions() -> str:
    """As results name them."""
    return f"Delta {DELTA}, Iceberg {ICEBERG}" + (f", Hudi {HUDI}" if HUDI else "")


def delta_key(df: DataFrame, *columns: str) -> Column:
    """`interleave_bits(range_partition_id(a, 1000), ...)`, without the cast to STRING that Delta adds."""
    jvm = df.sparkSession._jvm
    functions = jvm.org.apache.spark.sql.delta.skipping.MultiDimClusteringFunctions
    ranges = [functions.range_partition_id(df[c]._jc, RANGES) for c in columns]
    return Column(functions.interleave_bits(jvm.PythonUtils.toSeq(ranges)))


def iceberg_key(df: DataFrame, *columns: str) -> Column:
    """A UDF a column and one over the array of their bytes, from SparkZOrderUDF, private to its package."""
    spark = df.sparkSession
    methods = _iceberg_udf(spark._sc, len(columns))
    types = {f.name(): f.dataType() for f in df._jdf.schema().fields()}
    ordered = [methods["sortedLexicographically"](df[c]._jc, types[c]) for c in columns]
    array = spark._jvm.functions.array(spark._jvm.PythonUtils.toSeq(ordered))
    return Column(methods["interleaveBytes"](array))


def _iceberg_udf(context: Any, columns: int) -> dict[str, Any]:
    """The methods of an instance of the class, as Python functions."""
    jvm = context._jvm
    kind = jvm.java.lang.Class.forName("org.apache.iceberg.spark.actions.SparkZOrderUDF")
    constructor = kind.getDeclaredConstructors()[0]
    constructor.setAccessible(True)
    udf = constructor.newInstance(_objects(context, columns, BYTES_OF_A_STRING, 2**31 - 1))

    def bound(method: Any) -> Any:
        method.setAccessible(True)
        return lambda *arguments: method.invoke(udf, _objects(context, *arguments))

    return {m.getName(): bound(m) for m in kind.getDeclaredMethods() if "$" not in m.getName()}


def _objects(context: Any, *values: Any) -> Any:
    array = context._gateway.new_array(context._jvm.java.lang.Object, len(values))
    for i, value in enumerate(values):
        array[i] = value
    return array
