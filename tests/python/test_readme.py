"""What README.md shows is true: its statements run, its table is that of the result files."""

from __future__ import annotations

import re
import subprocess
import sys
from textwrap import dedent

import pytest
import spark_zorder
from support import TOP

pytestmark = pytest.mark.same_on_all_lines

README = (TOP / "README.md").read_text()


@pytest.fixture
def events(spark, tmp_path):
    """The table of the examples."""
    spark.sql("DROP DATABASE IF EXISTS db CASCADE")
    spark.sql(f"CREATE DATABASE db LOCATION '{tmp_path}/db'")
    spark.range(0, 40_000, 1, 4).selectExpr(
        "cast(pmod(hash(id, 1), 5000) as int) as customer",
        "cast(pmod(hash(id, 2), 3000) as int) as product",
        "id as sale",
    ).write.format("parquet").saveAsTable("db.events")
    yield "db.events"
    spark.sql("DROP DATABASE db CASCADE")


def blocks(language, text=README):
    """The fenced blocks of a language; inside a list they are indented."""
    return [dedent(b) for b in re.findall(rf"^ *```{language}\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)]


def test_the_statements_of_readme_run(spark, events, tmp_path):
    statements = [s.strip() for block in blocks("sql") for s in block.split(";") if s.strip()]
    assert len(statements) > 8
    for statement in statements:
        spark.sql(statement.replace("/data/", f"{tmp_path}/")).collect()


@pytest.mark.long
def test_the_python_of_readme_runs(spark, events, tmp_path):
    for block in blocks("python")[1:]:
        known = {"spark": spark, "spark_zorder": spark_zorder}
        exec(block.replace("/data/", f"{tmp_path}/"), known)


@pytest.mark.long
def test_the_python_of_the_guide_runs(spark, events, tmp_path):
    """Each block alone: whoever copies one has no other."""
    pages = [page.read_text() for page in sorted((TOP / "docs/guide").glob("*.md"))]
    found = [block for page in pages for block in blocks("python", page)]
    assert len(found) >= 3
    for block in found:
        exec(block.replace("/data/", f"{tmp_path}/"), {"spark": spark})
    outside = [re.sub(r"```.*?```", "", page, flags=re.DOTALL) for page in pages]
    loose = re.compile(r"^ {4,}.*(?:\bdf\.|\bF\.|ZOrderTable|spark_zorder\.)", re.MULTILINE)
    assert [loose.findall(page) for page in outside if loose.search(page)] == []


def test_look_and_ask_write_nothing(spark, events):
    looks = re.findall(r"^    (ZORDER TABLE .* DRY RUN)$", README, re.MULTILINE)
    assert len(looks) == 2
    for statement in looks:
        assert spark.sql(statement).collect()[0]["status"] in ("DRY_RUN", "TOO_SMALL")
    assert spark.sql("SELECT * FROM zorder_history('db.events')").collect() == []


def test_the_table_of_the_gain_is_that_of_the_results():
    command = [sys.executable, str(TOP / "benchmarks/demo/readme_table.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
