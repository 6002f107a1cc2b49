"""Sessions that lack something: one sentence each, before anything else fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

PLAIN = """
import sys
from support import plain_builder
import spark_zorder
from spark_zorder._errors import SetupError
builder = plain_builder(sys.argv[1])
"""

NOT_ATTACHED = (
    PLAIN
    + """
spark = builder.getOrCreate()
try:
    spark_zorder.ZOrderTable.forPath(spark, "/nowhere").optimize().executeZOrderBy("a")
except SetupError as error:
    print("SAID", error)
"""
)

WRONG_JAR = (
    PLAIN
    + """
from spark_zorder import _jars
here = _jars.installed()
other = next(j for j in _jars.packaged() if j.scala == here.scala and j.spark != _jars.line_of(here.spark)) \\
    if here.scala == "2.13" else next(j for j in _jars.packaged() if j.scala == "2.13" and j.spark == "3.5")
spark = builder.config("spark.jars", _jars.path_of(other)).getOrCreate()
try:
    spark_zorder.attach(spark)
except SetupError as error:
    print("SAID", error)
"""
)


def said(program, folder):
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=200,
        check=False,
    )
    lines = [line[5:] for line in done.stdout.splitlines() if line.startswith("SAID ")]
    assert len(lines) == 1, done.stdout[-1000:] + done.stderr[-3000:]
    return lines[0]


@pytest.mark.long
def test_a_session_without_spark_zorder(tmp_path):
    text = said(NOT_ATTACHED, tmp_path)
    assert "call spark_zorder.attach(spark)" in text and "spark_zorder.configure" in text


def test_the_jar_of_another_line(tmp_path):
    """On Spark 3.5 the jar of the other Scala, which loads without complaint and fails at its first use."""
    text = said(WRONG_JAR, tmp_path)
    assert "is built for Spark" in text and text.rstrip().endswith(".jar instead.")


def test_the_import_needs_no_pyspark(tmp_path):
    """A wheel is looked at where Spark is not installed: the import itself must not fail."""
    program = (
        "import sys; sys.modules['pyspark'] = None; import spark_zorder; print(spark_zorder.__version__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["doctor", "demo", "jar"])
def test_a_command_without_pyspark_says_what_to_type(command, tmp_path):
    program = (
        "import sys; sys.modules['pyspark'] = None; from spark_zorder.__main__ import main; "
        f"sys.exit(main(['{command}']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    wanted = "This needs Spark, and pyspark is not installed: type pip install 'spark-zorder[spark]'"
    assert done.returncode == 1 and done.stderr.startswith(wanted), done.stderr


@pytest.mark.parametrize("name", ["", "a..b"])
def test_a_table_name_that_is_none(name):
    from spark_zorder import ZOrderTable

    with pytest.raises(ValueError, match="is no name"):
        ZOrderTable.forName(None, name)
