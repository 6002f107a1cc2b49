"""Sessions that lack something: one sentence each, before anything else fails."""

from __future__ import annotations

import os
import re
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


WITHOUT_PYSPARK = """
import importlib.util, sys
sys.modules['pyspark'] = None
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == 'pyspark' else found(name, package)
from spark_zorder.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def shell(folder, *words, **environment):
    """The shell in a process of its own, without pyspark unless there is another environment."""
    start = ["-m", "spark_zorder"] if environment else ["-c", WITHOUT_PYSPARK]
    known = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, *start, *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={name: value for name, value in known.items() if value is not None},
        timeout=200,
        check=False,
    )


@pytest.mark.parametrize("words", [["demo"], ["optimize", "t"], ["maintain", "--tables", "t"]])
def test_a_command_without_pyspark_says_what_to_type(words, tmp_path):
    (tmp_path / "t").write_text("a")
    done = shell(tmp_path, *words)
    wanted = "This needs Spark, and pyspark is not installed: type pip install 'spark-zorder[spark]'"
    assert done.returncode == 1 and done.stderr.startswith(wanted), done.stderr


def test_the_doctor_without_pyspark(tmp_path):
    done = shell(tmp_path, "doctor")
    assert done.returncode == 1 and done.stderr == "", done.stderr
    assert "- pyspark: type pip install 'spark-zorder[spark]'" in done.stdout
    assert "reads and writes our tables as ordinary ones" in done.stdout and "4.3_2.13" in done.stdout


def test_the_doctor_says_which_other_module_is_missing(monkeypatch, capsys):
    """As distutils is, which Python 3.12 has no more and pyspark 3.5 imports."""
    from spark_zorder import _doctor, _machine

    monkeypatch.setattr(_machine, "java", lambda: _machine.Java("java", 17))
    monkeypatch.setattr(_machine, "has_pyspark", lambda: True)
    _doctor.without_session(ModuleNotFoundError("No module named 'distutils'", name="distutils"))
    assert "- session: No module named 'distutils'" in capsys.readouterr().out


@pytest.mark.parametrize("place", ["variable", "conf"])
def test_the_doctor_of_a_client_says_why_the_server_is_not_reached_and_asks_for_no_java(
    monkeypatch, capsys, place
):
    from spark_zorder import __main__ as cli
    from spark_zorder import _doctor, _machine

    def refuse(_):
        raise ImportError("[PACKAGE_NOT_INSTALLED] grpcio >= 1.67.0 must be installed")

    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.setattr(_machine, "java", lambda: _machine.Java("java", None))
    monkeypatch.setattr(cli, "_session", refuse)
    wanted = "- session: [PACKAGE_NOT_INSTALLED] grpcio >= 1.67.0 must be installed"
    assert cli.main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert wanted in out and "- Java: " in out
    if place == "variable":
        monkeypatch.setenv("SPARK_REMOTE", "sc://host:15002")
        assert _doctor.doctor(show=None).ok
    assert cli.main(["doctor", *(["--conf", "spark.remote=sc://host"] if place == "conf" else [])]) == 1
    out = capsys.readouterr().out
    assert wanted in out and "Java" not in out and "jars in this package" not in out


@pytest.mark.parametrize(
    ("failure", "shown"),
    [
        ("[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.", False),
        ("Spark 4.3.0 needs Java 17 or 21, and there is none on PATH: type x, then the same again.", False),
        ("other.jar is among the jars of the session", True),
    ],
)
def test_the_doctor_says_why_there_is_no_session_unless_java_is_why(monkeypatch, failure, shown):
    from spark_zorder import _doctor, _machine

    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.setattr(_machine, "java", lambda: _machine.Java("java", None))
    advice = {fact.name: fact.advice for fact in _doctor.without_session(RuntimeError(failure)).facts}
    assert advice["Java"] and advice["session"] == (failure if shown else "")


def test_the_jar_without_pyspark(tmp_path):
    done = shell(tmp_path, "jar", "--spark", "3.5", "--scala", "2.12")
    assert done.returncode == 0 and "spark-zorder-spark3.5_2.12-" in done.stdout, done.stderr
    done = shell(tmp_path, "jar")
    assert done.returncode == 1 and done.stderr.startswith("pyspark is not installed, so name the Spark")
    assert shell(tmp_path, "jar", "--scala", "2.12").returncode == 2
    asked = WITHOUT_PYSPARK.partition("from spark_zorder")[0] + "import spark_zorder; spark_zorder.jar()"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=False)
    assert "SetupError: pyspark is not installed, so name the Spark, as in python -m" in done.stderr


def test_without_java_each_command_says_what_to_type(tmp_path):
    nowhere = {"JAVA_HOME": str(tmp_path / "jdk"), "JDK_JAVA_OPTIONS": None}
    done = shell(tmp_path, "doctor", **nowhere)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    todo = done.stdout.partition("To do:\n")[2]
    wanted = r"^- Java: Spark \S+ needs Java .*17.* where JAVA_HOME points to: type unset JAVA_HOME"
    assert re.search(wanted, todo), todo
    assert todo.count("\n") == 1, todo
    done = shell(tmp_path, "history", str(tmp_path), **nowhere)
    assert done.returncode == 1 and "type unset JAVA_HOME, then" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("said", "spark", "ended", "trouble"),
    [
        ('openjdk version "17.0.15" 2025', "4.3.0", False, False),
        ('java version "1.8.0_402"', "4.3.0", False, True),
        ('java version "1.8.0_402"', "3.5.9", False, False),
        ('openjdk version "25" 2025', "3.5.9", False, False),
        ('openjdk version "25" 2025', "3.5.9", True, True),
    ],
)
def test_a_java_that_does_not_fit(monkeypatch, said, spark, ended, trouble):
    import pyspark
    from spark_zorder import _machine

    done = subprocess.CompletedProcess([], 0, "", f"NOTE: Picked up something\n{said}\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    monkeypatch.setattr(pyspark, "__version__", spark)
    found = _machine.java_trouble(ended)
    assert (found is not None) == trouble
    assert found is None or re.search(r"is Java (8|25): type .*17.*, let JAVA_HOME point to it", found)


@pytest.mark.parametrize("start", [[sys.executable], ["spark-submit", "--master", "local[1]"]])
def test_the_shell_is_started_by_its_path(start, tmp_path):
    """As spark-submit starts it: a file, and no package."""
    import pyspark
    import spark_zorder

    file = Path(spark_zorder.__file__).parent / "__main__.py"
    if start[0] == "spark-submit":
        start = [str(Path(pyspark.__file__).parent / "bin" / start[0]), *start[1:]]
    command = [*start, str(file), "jar", "--spark", "3.5", "--scala", "2.12"]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=200, check=False
    )
    assert done.returncode == 0 and "spark-zorder-spark3.5_2.12-" in done.stdout, done.stderr


@pytest.mark.long
def test_maintain_by_spark_submit_as_in_the_guide(tmp_path):
    import pyspark
    import spark_zorder

    (tmp_path / "tables").write_text(f"{tmp_path}/none\n")
    submit = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", "local[1]"]
    submit += ["--driver-memory", "1g", "--conf", "spark.ui.enabled=false"]
    file = str(Path(spark_zorder.__file__).parent / "__main__.py")
    done = subprocess.run(
        [*submit, file, "maintain", "--tables", "tables", "--dry-run"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        timeout=300,
        check=False,
    )
    assert done.returncode == 1 and "1 table: 1 FAILED" in done.stdout, done.stderr[-3000:]
    assert "There is no Parquet table" in done.stdout or "none" in done.stdout


@pytest.mark.parametrize("name", ["", "a..b"])
def test_a_table_name_that_is_none(name):
    from spark_zorder import ZOrderTable

    with pytest.raises(ValueError, match="is no name"):
        ZOrderTable.forName(None, name)


def test_a_table_or_a_copy_without_a_path(tmp_path):
    """As of an environment variable that is not set: a run without INTO would rewrite the table itself."""
    from spark_zorder import ZOrderTable

    table = ZOrderTable.forPath(None, tmp_path)
    assert repr(table) == f"ZOrderTable.forPath(spark, {str(tmp_path)!r})"
    assert f"INTO '{tmp_path}'" in repr(table.optimize().into(tmp_path))
    for what in (table.optimize().into, lambda path: ZOrderTable.forPath(None, path)):
        with pytest.raises(TypeError, match=r"takes a path as text or as a pathlib.Path, not NoneType\."):
            what(None)
        with pytest.raises(ValueError, match="this text is empty"):
            what(" ")
    with pytest.raises(TypeError, match="forName takes the name of a table as text, not NoneType"):
        ZOrderTable.forName(None, None)


def test_of_two_query_logs_the_later_one_counts():
    from types import SimpleNamespace

    from spark_zorder import ZOrderTable

    frame = SimpleNamespace(createOrReplaceTempView=None, sparkSession=None)
    run = ZOrderTable.forName(None, "t").optimize().queries(frame)
    assert run.option("fileCount", 8)._log is frame
    for later in (run.queries("db.log"), run.option("QUERYLOG", "db.log")):
        assert later._log is None and "= 'db.log'" in repr(later)
    assert run.queries("db.log").queries(frame)._log is frame
