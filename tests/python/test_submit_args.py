"""configure() beside jars and extensions that spark-submit has already: all of them are loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
import spark_zorder
from support import facts_of

pytestmark = pytest.mark.long
OURS = Path(spark_zorder._jars.jar_path()).name
EXTENSION = spark_zorder._session.EXTENSION


@pytest.mark.parametrize("options", [["--jars", "other.jar"], ["--conf=spark.jars=other.jar"]])
def test_jars_of_submit_args(tmp_path, options):
    facts = facts_of("submit_args_session.py", tmp_path, *options)
    assert facts["status"] == "TOO_SMALL" and facts["other"]
    assert facts["jars"] == facts["sent"] == ["other.jar", OURS]


def test_in_a_job_of_spark_submit(tmp_path):
    here, spark = Path(__file__).resolve().parent, Path(pyspark.__file__).parent
    words = ["--master", "local[2]", "--jars", f"other.jar,{spark_zorder._jars.jar_path()}"]
    words += ["--conf", "spark.sql.extensions=no.such.Extension"]
    environment = {"SPARK_HOME": str(spark), "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": path_of(here)}
    # the jar must be there before the program writes it
    (tmp_path / "other.jar").write_bytes(b"PK\x05\x06" + bytes(18))
    done = subprocess.run(
        [str(spark / "bin/spark-submit"), *words, str(here / "submit_args_session.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
        check=False,
        env={**os.environ, **environment},
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("FACTS ")]
    assert done.returncode == 0 and lines, done.stderr[-3000:]
    facts = json.loads(lines[0][len("FACTS ") :])
    assert facts["status"] == "TOO_SMALL"
    assert facts["jars"] == facts["sent"] == ["other.jar", OURS]
    assert facts["extensions"] == ["no.such.Extension", EXTENSION]


def path_of(here):
    """What this process has on its path, too."""
    return os.pathsep.join([str(here), *filter(None, [os.environ.get("PYTHONPATH")])])
