"""What README.md and docs/ show is true: blocks run, links lead somewhere, tables are as measured."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from functools import cache

import doc_blocks
import pytest
import spark_zorder
from spark_zorder.__main__ import main
from support import TOP

pytestmark = pytest.mark.same_on_all_lines

# these show the first steps; `make test-all` runs the others, too
FIRST = (
    "README.md",
    "docs/guide/getting-started.md",
)
# commands that a test does not start, and why
ELSEWHERE = {
    r"pip install ": "it changes the environment of the tests",
    r"python -m spark_zorder demo$": "tests/python/test_demo.py runs it",
    r"python -m spark_zorder doctor$": "tests/python/test_cli.py runs it",
    r"(make|tools/|target/)": "it builds; what it names is looked for",
}
SETTINGS = ("spark.zorder.index.location", "spark.zorder.queryLog.path")


def all_blocks():
    return [block for kind in ("sql", "python", "shell") for block in doc_blocks.blocks(kind)]


def of_pages(kind):
    """The pages that have blocks of a kind to run; those that are not among the first ones are long."""
    found = dict.fromkeys(block.page for block in doc_blocks.blocks(kind) if not block.excuse)
    if kind == "python":
        # whose output is compared, too
        del found["README.md"]
    return [page if page in FIRST else pytest.param(page, marks=pytest.mark.long) for page in found]


def blocks_to_run(page, kind):
    return [block for block in doc_blocks.of_page(page) if block.kind == kind and not block.excuse]


@pytest.fixture
def world(spark, tmp_path, monkeypatch):
    """The tables of the examples; gives what turns a text into one with paths of this test."""
    data = tmp_path / "data"
    data.mkdir()
    monkeypatch.chdir(tmp_path)
    spark.sql("DROP DATABASE IF EXISTS db CASCADE")
    spark.sql(f"CREATE DATABASE db LOCATION '{tmp_path}/db'")
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    events = spark.range(0, 20_000, 1, 8).selectExpr(
        "id as sale",
        "cast(pmod(hash(id, 1), 5000) as int) as customer",
        "cast(pmod(hash(id, 2), 3000) as int) as product",
        "cast(pmod(hash(id, 3), 2000) as int) as device",
        "cast(pmod(hash(id, 4), 900) as int) as user",
        "timestamp_seconds(1767225600 + id * 60) as ts",
        "date_add(date'2025-12-28', cast(id div 4000 as int)) as day",
        "concat('U', pmod(hash(id, 5), 700), '@B.C') as email",
        "element_at(array('OPEN', 'PAID', 'SENT'), cast(1 + pmod(id, 3) as int)) as status",
        "uuid() as event_id",
        "cast(pmod(hash(id, 6), 4000) as string) as session",
        "element_at(array('WY', 'CA', 'TX'), cast(1 + id div 7000 as int)) as state",
        "named_struct('country', element_at(array('IS', 'DE'), cast(1 + id div 15000 as int))) as details",
    )
    events.write.saveAsTable("db.events")
    saved = spark.table("db.events")
    saved.write.parquet(str(data / "events"))
    saved.selectExpr("customer as a", "product as b").write.parquet(str(data / "t"))
    saved.write.partitionBy("day").saveAsTable("events")
    saved.selectExpr("customer as a", "product as b").write.saveAsTable("t")
    saved.write.saveAsTable("sales")
    spark.sql("CREATE TABLE customers USING parquet AS SELECT id, 'IS' AS country FROM range(50)")
    texts = [
        "SELECT * FROM db.events WHERE customer = 17",
        "SELECT * FROM db.events WHERE device = 5 AND user = 7",
    ]
    spark_zorder.query_log.of_sql(spark, texts).write.saveAsTable("db.queries")
    spark_zorder.query_log.of_sql(spark, [t.replace("db.", "") for t in texts]).write.saveAsTable("queries")
    spark.table("db.queries").write.parquet(str(data / "log"))
    spark.sql("ALTER TABLE sales SET TBLPROPERTIES ('zorder.by' = 'customer, product')")
    (tmp_path / "tables.txt").write_text("sales\n")
    (tmp_path / "spark-events").mkdir()
    (tmp_path / "spark-events/app-1").write_text(
        '{"Event":"SparkListenerLogStart","Spark Version":"4.3.0"}\n'
    )
    places = re.compile(r"(?<=['\" ])(?:/tmp)?/(data|logs|spark-events|indexes|sales)\b")
    yield lambda text: places.sub(rf"{tmp_path}/\1", text)
    for setting in (*SETTINGS, "spark.sql.parquet.outputTimestampType"):
        spark.conf.unset(setting)
    spark.sql("DROP DATABASE db CASCADE")
    for table in ("events", "t", "sales", "customers", "queries"):
        spark.sql(f"DROP TABLE {table}")


def run_part(spark, kind, text):
    """One statement, line of Python or command; of a command, the exit code is looked at."""
    if kind == "sql":
        spark.sql(text).collect()
    elif kind == "python":
        exec(text, {"spark": spark, "t": spark_zorder.ZOrderTable.forName(spark, "db.events")})
    elif not any(re.match(pattern, text) for pattern in ELSEWHERE):
        assert text.startswith("python -m spark_zorder "), text
        # 3 is an alert of the audit
        assert main(shlex.split(text)[3:]) in (0, 3), text


@pytest.mark.parametrize("page", of_pages("sql"))
def test_the_statements_of_a_page_run(spark, world, page):
    for block in blocks_to_run(page, "sql"):
        for kind, text in block.parts():
            run_part(spark, kind, world(text))


@pytest.mark.parametrize("page", of_pages("python"))
def test_the_python_of_a_page_runs(spark, world, page):
    """Each block alone: whoever copies one has no other."""
    for block in blocks_to_run(page, "python"):
        exec(world(block.text), {"spark": spark})


@pytest.mark.parametrize("page", of_pages("shell"))
def test_the_commands_of_a_page_run(spark, world, page):
    # an audit without columns is one of a table that was clustered
    spark.sql(world("ZORDER TABLE '/data/events' BY (customer, product) WITH (fileCount = 8)")).collect()
    for block in blocks_to_run(page, "shell"):
        for kind, text in block.parts():
            run_part(spark, kind, world(text))


def test_every_block_is_run_or_says_why_not(capsys):
    """Prints how many are run, and those that are left out."""
    found = all_blocks()
    parts = [part for block in found if not block.excuse for part in block.parts()]
    left = [f"{block.where}: {block.excuse}" for block in found if block.excuse]
    shell = [text for kind, text in parts if kind == "shell"]
    for pattern, why in ELSEWHERE.items():
        left += [f"{text}: {why}" for text in shell if re.match(pattern, text)]
        shell = [text for text in shell if not re.match(pattern, text)]
    counts = {kind: sum(1 for found, _ in parts if found == kind) for kind in ("sql", "python")}
    with capsys.disabled():
        print(
            f"\ndocs: {len(found)} blocks of code in {len({block.page for block in found})} pages;", end=" "
        )
        print(
            f"run: {counts['sql']} statements, {counts['python']} parts of Python, {len(shell)} commands;",
            end=" ",
        )
        print(f"left out: {len(left)}")
        print("\n".join(f"  {line}" for line in left))
    assert counts["sql"] > 50 and counts["python"] > 8 and len(shell) > 5


def test_what_make_and_tools_are_asked_for_exists():
    rules = re.findall(
        r"^([a-z][a-z0-9. -]*):", _text("Makefile") + _text("benchmarks/Makefile"), re.MULTILINE
    )
    targets = {target for rule in rules for target in rule.split()}
    suites = {path.stem for path in (TOP / "tests/jvm").rglob("*.scala")}
    for block in doc_blocks.blocks("shell"):
        for _, text in block.parts():
            words = shlex.split(text)
            if words[0] == "make":
                assert words[1] in targets, f"{block.where}: {text}"
                assert all(w[6:] in suites for w in words if w.startswith("SUITE=")), f"{block.where}: {text}"
            elif words[0].startswith("tools/"):
                assert (TOP / words[0]).is_file(), f"{block.where}: {text}"
    pages = "\n".join(_text(page) for page in doc_blocks.pages())
    assert set(re.findall(r"`make ([a-z0-9.-]*[a-z0-9])", pages)) <= targets


def test_readme_and_front_show_what_its_python_prints(spark, capsys):
    """Shares of pages and sizes differ a little from one machine to the next; all else is as it is shown."""
    pages = _text("README.md") + _text("docs/index.md")
    shown = [_alike(block) for block in re.findall(r"```text\n(.*?)```", pages, re.DOTALL)]
    capsys.readouterr()
    # a place without hyphens, where a line of a sentence might end
    with tempfile.TemporaryDirectory(prefix="docs") as folder:
        exec(doc_blocks.blocks("python")[0].text.replace("/tmp/", f"{folder}/"), {})
    printed = _alike(capsys.readouterr().out)
    assert len(shown) == 3
    assert [block for block in shown if block not in printed] == [], printed


def _alike(text):
    """A text without what differs: lines and widths, places, sizes, and shares of pages."""
    lines = [re.sub(r"[\d.]+ [%x]", "#", line) if " pages " in line else line for line in text.splitlines()]
    joined = re.sub(r"-+", "-", " ".join(" ".join(lines).split()))
    return re.sub(r"[\d.]+ MiB", "# MiB", re.sub(r"file:\S+", "PATH", joined))


@cache
def _text(page):
    return (TOP / page).read_text()


def _anchors(page):
    """The anchors of a page's headings, as GitHub and the site make them."""
    headings = re.findall(
        r"^#+ (.+)$", re.sub(r"^```.*?^```", "", _text(page), flags=re.DOTALL | re.MULTILINE), re.M
    )
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def test_links_lead_to_pages_and_headings():
    pages = [p.relative_to(TOP).as_posix() for p in (TOP / "docs").rglob("*.md")]
    pages += ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "python/README.md", "examples/README.md"]
    broken, count = [], 0
    for page in pages:
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", _text(page), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            name, _, anchor = target.partition("#")
            file = ((TOP / page).parent / name).resolve() if name else TOP / page
            if not file.exists():
                broken.append(f"{page}: {target}")
            elif anchor and anchor not in _anchors(file.relative_to(TOP).as_posix()):
                broken.append(f"{page}: {target}: no such heading")
    assert broken == [] and count > 200


def _numbers(text):
    """With their decimals, as texts without commas."""
    return [n.replace(",", "") for n in re.findall(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?![\w-]*\w)", text)]


def _is_in(figure, values):
    """Whether a value is the figure when it is rounded like this; seconds may be milliseconds there."""
    close = 0.5000001 * 10.0 ** -len(figure.partition(".")[2])
    return any(abs(v / unit - float(figure)) <= close for v in values for unit in (1, 1000))


def test_figures_that_link_to_a_result_are_in_it():
    """In the sentence or the row of a table that has the link."""
    wrong, count = [], 0
    for page in ["README.md", *(p.relative_to(TOP).as_posix() for p in (TOP / "docs/guide").glob("*.md"))]:
        for unit in re.split(r"\n\s*\n|(?<=\|)\n|(?<=[.:])\s", _text(page)):
            links = re.findall(r"\]\(([^)\s]*benchmarks/results/[^)\s]*\.md)\)", unit)
            results = "".join(((TOP / page).parent / link).read_text() for link in links)
            values = [float(n) for n in _numbers(results)]
            figures = _numbers(re.sub(r"\]\([^)]*\)|`[^`]*`", "", unit)) if links else []
            count += len(figures)
            wrong += [f"{page}: {f} in {unit!r}" for f in figures if not _is_in(f, values)]
    assert wrong == [] and count > 10


def test_every_guarantee_names_a_test_that_exists():
    suites = {path.stem: path for path in (TOP / "tests/jvm").rglob("*Suite.scala")}
    rows = [
        line
        for line in _text("docs/guide/guarantees.md").splitlines()
        if line.startswith("| ") and "`" in line
    ]
    named = [pair for row in rows for pair in _tests_in(row)]
    assert len(rows) > 20 and len(named) >= len(rows)
    missing = [
        (suite, name) for suite, name in named if suite not in suites or name not in _source(suites[suite])
    ]
    assert missing == []


def _tests_in(row):
    """The pairs of suite and test in the last cell of a row: `Suite`: "test"; "another test of it"."""
    found, suite = [], None
    for named, quoted in re.findall(r'`(\w+Suite)`|"([^"]+)"', row.split("|")[-2]):
        suite = named or suite
        if quoted:
            found.append((suite, quoted))
    return found


def _source(path):
    """The source of a suite, with texts that are put together over two lines as one."""
    return re.sub(r'"\s*\+\s*"', "", path.read_text())


def test_dry_runs_of_the_first_page_write_nothing(spark, world):
    looks = [
        text
        for block in doc_blocks.of_page("docs/index.md")
        for _, text in block.parts()
        if "DRY RUN" in text
    ]
    assert len(looks) == 1
    for statement in looks:
        assert spark.sql(statement).collect()[0]["status"] in ("DRY_RUN", "TOO_SMALL")
    assert spark.sql("SELECT * FROM zorder_history('db.events')").collect() == []


@pytest.mark.parametrize("script", ["readme_table.py", "layout_pictures.py"])
def test_tables_and_pictures_are_those_of_their_scripts(script):
    command = [sys.executable, str(TOP / "benchmarks/demo" / script), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not (TOP / "target/site").is_dir(), reason="make docs has not built the site")
def test_pages_of_the_site_ask_no_host_for_anything():
    asked = re.compile(
        r"<(?:script|img|iframe)[^>]* src=\"https?://|<link [^>]*rel=\"stylesheet\" href=\"https?://"
    )
    pages = list((TOP / "target/site").rglob("*.html"))
    assert len(pages) > 50
    assert [page.name for page in pages if asked.search(page.read_text())] == []
    # an item that is not understood as one ends up inside a paragraph
    item = re.compile(r"<p>(?:(?!</p>).)*\n *(?:[-*]|\d+\.) (?:(?!</p>).)*</p>", re.DOTALL)
    assert [page.name for page in pages if item.search(page.read_text())] == []
