"""The texts of 36 queries of TPC-DS, read from the jar of Spark's own tests: this project holds no copy."""

from __future__ import annotations

import zipfile

import data
import pyspark

# Databricks reports 36 queries that dynamic file pruning made twice as fast or more; the text that we found
# does not name them. So these 36 are chosen by a rule, before anything was measured: each time the query
# reads its largest table of sales, returns or inventory, it joins it by date or item with date_dim or item
# under a filter that leaves at most four months, one month of each year, or the items of few manufacturers.
# Left out are q39b, which asks nearly the same as q39a, and q83 and q91, which read only returns.
NAMES = (
    *("q3", "q5", "q6", "q8", "q10", "q12", "q15", "q17", "q19", "q20", "q21", "q25"),
    *("q29", "q31", "q32", "q33", "q37", "q39a", "q40", "q42", "q45", "q49", "q52", "q54"),
    *("q55", "q56", "q58", "q60", "q61", "q69", "q71", "q77", "q80", "q82", "q92", "q98"),
)


def queries() -> dict[str, str]:
    """Name to text; the jar comes from Maven Central, in the version of this Spark."""
    name = f"spark-sql_2.12-{pyspark.__version__}-tests.jar"
    jar = data.GENERATOR.parent / name
    if not jar.is_file():
        data.fetch(f"org.apache.spark:spark-sql_2.12:{pyspark.__version__}:jar:tests", f"Fetching {name}")
    with zipfile.ZipFile(jar) as files:
        return {q: files.read(f"tpcds/{q}.sql").decode().strip().rstrip(";") for q in NAMES}
