"""`spark-submit --packages` from the Maven repository of a release (docs/guide/platforms.md)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pyspark
import pytest
from spark_zorder import _jars
from support import TOP, version

MAVEN = TOP / "target/release/maven"
JOB = """
import json, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
spark.range(0, 9000, 1, 4).selectExpr("id % 90 AS a", "hash(id) AS b").write.parquet(sys.argv[1])
row = spark.sql(f"ZORDER TABLE '{sys.argv[1]}' BY (a, b) WITH (fileCount = 4, force = true)").collect()[0]
print("FACTS " + json.dumps([row["status"], spark.sql("SELECT zorder_version()").collect()[0][0]]))
"""


@pytest.mark.long
@pytest.mark.skipif(not MAVEN.is_dir(), reason="make release has not built the repository")
def test_only_our_jar_comes_from_a_repository_by_file_address(tmp_path):
    here = _jars.installed()
    line = f"{_jars.line_of(here.spark)}_{here.scala}"
    wanted = (TOP / "VERSION").read_text().strip()
    (tmp_path / "job.py").write_text(JOB)
    words = ["--master", "local[2]", "--repositories", f"file:{MAVEN}"]
    words += ["--packages", f"io.github.spark-zorder:spark-zorder-spark{line}:{wanted}"]
    conf = {"spark.jars.ivy": tmp_path / "ivy", "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
    if version(here.spark) < (4, 0):
        # PySpark 3.5 does not look for the service file
        conf["spark.sql.extensions"] = "org.apache.spark.sql.zorder.ZOrderExtensions"
    words += [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    submit = Path(pyspark.__file__).parent / "bin/spark-submit"
    done = subprocess.run(
        [str(submit), *words, str(tmp_path / "job.py"), str(tmp_path / "t")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
        check=False,
        env={**os.environ, "SPARK_HOME": str(Path(pyspark.__file__).parent)},
    )
    facts = [line for line in done.stdout.splitlines() if line.startswith("FACTS ")]
    assert done.returncode == 0 and facts, done.stderr[-3000:]
    assert json.loads(facts[0][len("FACTS ") :]) == ["DONE", wanted]
    fetched = [jar.name for jar in (tmp_path / "ivy/jars").iterdir()]
    assert fetched == [f"io.github.spark-zorder_spark-zorder-spark{line}-{wanted}.jar"]
