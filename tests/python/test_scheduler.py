"""What docs/guide/scheduler.md shows is what examples/ hold, and it runs: dbt, the DAG's command, the log."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from support import TOP

pytestmark = pytest.mark.same_on_all_lines

PAGE = (TOP / "docs/guide/scheduler.md").read_text()
DBT = TOP / "target/venv/dbt/bin/python"
# what Spark's own template says, but for the level
QUIET = """
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n
"""
STEP = re.compile(r'^\S+ \S+ INFO Progress: \{"zorder":"\w+","table":".*","step":"(\w+)"', re.MULTILINE)


def block(kind):
    return re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL).group(1).strip()


@pytest.fixture
def task(monkeypatch):
    """What the DAG's file gives to its only operator, by an Airflow that only writes it down."""
    made = []

    class Dag:
        def __init__(self, **given):
            assert given["dag_id"] and not given["catchup"] and given["default_args"]["retries"] == 2

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    names = ["airflow", "airflow.sdk", "airflow.providers", "airflow.providers.standard"]
    names += ["airflow.providers.standard.operators", "airflow.providers.standard.operators.bash"]
    for name in names:
        module = ModuleType(name)
        module.DAG = Dag
        module.BashOperator = lambda **given: made.append(SimpleNamespace(**given))
        monkeypatch.setitem(sys.modules, name, module)
    file = TOP / "examples/airflow/cluster_tables.py"
    spec = importlib.util.spec_from_file_location("cluster_tables", file)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert len(made) == 1
    return made[0]


def test_the_page_shows_the_example_files(task):
    assert block("jinja") in (TOP / "examples/dbt/models/sales.sql").read_text()
    assert block("python") in (TOP / "examples/airflow/cluster_tables.py").read_text()
    # the line of cron is the same command, with the values that the DAG gives it
    said = re.sub(r"\$(\w+)", lambda found: task.env.get(found.group(1), found.group(0)), task.bash_command)
    assert shlex.split(
        block("sh").splitlines()[-1].split(maxsplit=5)[5].replace('"$(', "$(").replace(')"', ")")
    ) == shlex.split(said)


@pytest.mark.long
def test_the_command_of_the_dag_runs_and_the_log_has_its_steps(task, tmp_path, spark):
    table = tmp_path / "sales"
    # large enough for a run that is told nothing but the name
    rows = spark.range(0, 3_000_000, 1, 8).selectExpr(
        "hash(id, 1) AS customer", "hash(id, 2) AS product", "xxhash64(id) AS id"
    )
    rows.write.parquet(str(table))
    (tmp_path / "tables.txt").write_text(f"{table}\n")
    # what a table is clustered by is known from its first run
    spark.sql(f"ZORDER TABLE '{table}' BY (customer, product)").collect()
    rows.write.mode("append").parquet(str(table))
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/log4j2.properties").write_text(QUIET + block("properties") + "\n")
    import pyspark

    home = Path(pyspark.__file__).parent
    done = subprocess.run(
        ["bash", "-c", task.bash_command],
        env={
            **os.environ,
            **task.env,
            "SPARK_MASTER": "local[2]",
            "TABLES": str(tmp_path / "tables.txt"),
            "SPARK_HOME": str(home),
            "SPARK_CONF_DIR": str(tmp_path / "conf"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "PATH": f"{home / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert re.search(r"^1 table: .*\b1 DONE\b", done.stdout, re.MULTILINE), done.stdout
    steps = STEP.findall(done.stderr)
    assert "sample" in steps and len(steps) > 3, done.stderr[-4000:]


@pytest.mark.long
@pytest.mark.skipif(not DBT.is_file(), reason="make venv-dbt has not made the environment of dbt")
def test_the_project_of_dbt_is_built_twice(tmp_path):
    project = tmp_path / "dbt"
    shutil.copytree(TOP / "examples/dbt", project)
    version = (TOP / "VERSION").read_text().strip()
    jar = TOP / f"target/jars/spark-zorder-spark3.5_2.12-{version}.jar"
    kept = {k: v for k, v in os.environ.items() if k not in ("SPARK_HOME", "PYTHONPATH")}
    environment = {**kept, "SPARK_ZORDER_JAR": str(jar), "SPARK_LOCAL_IP": "127.0.0.1"}
    program = "import sys; from dbt.cli.main import cli; cli()"
    for _ in range(2):
        done = subprocess.run(
            [str(DBT), "-c", program, "build", "--profiles-dir", "."],
            cwd=project,
            env={**environment, "PYSPARK_PYTHON": str(DBT)},
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
        assert "PASS=2 " in done.stdout and "ERROR=0" in done.stdout, done.stdout
