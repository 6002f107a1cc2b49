"""House rules of DESIGN section 9, read from the sources."""

from __future__ import annotations

import re
from pathlib import Path

from support import TOP

ZORDER = "org.apache.spark.sql.zorder"
LAYERS = [
    {"curve"},
    {"expr"},
    {"table", "sort", "fit", "workload", "stats"},
    {"skip", "audit", "advise", "run"},
    {"sql"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
LEAVES = {"conf", "shims"}
# one object each that sees what a format shows to its own packages only
LENT = {"org.apache.spark.sql.delta.zorder"}


def sources(*patterns):
    found = sorted(
        p for pattern in patterns for p in TOP.glob(pattern) if "target" not in p.relative_to(TOP).parts
    )
    assert found
    return found


def code(path):
    """Without comments and strings, where a name may stand in a sentence."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    text = re.sub(r'\"\"\".*?\"\"\"|"(?:[^"\\\n]|\\.)*"', '""', text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def layers_named(text):
    """The layers that a source mentions: by a full name, or in the braces of an import."""
    names = set(re.findall(re.escape(ZORDER) + r"\.([a-z]\w*)", text))
    for braces in re.findall(re.escape(ZORDER) + r"\.\{([^}]*)\}", text):
        names |= {part.split("=>")[0].strip() for part in braces.split(",")}
    if re.search(r"\bsparkzorder\.curve\b", text):
        names.add("curve")
    return names


def test_the_curve_knows_nothing_of_spark():
    named = [p for p in sources("jvm/curve/src/main/**/*.scala") if "org.apache" in code(p)]
    assert named == []


def test_imports_go_one_way():
    wrong = []
    for path in sources("jvm/spark/src/main/**/*.scala", "jvm/spark/src/main/**/*.java"):
        text = code(path)
        package = re.search(r"^package ([\w.]+)", text, flags=re.M).group(1)
        if package in LENT:
            continue
        own = package[len(ZORDER) + 1 :].split(".")[0]
        if own in RANK:
            above = {n for n in layers_named(text) if RANK.get(n, -1) > RANK[own]}
            wrong += [f"{path.relative_to(TOP)} ({own}) imports {n}" for n in sorted(above)]
        elif own and own not in LEAVES:
            wrong.append(f"{path.relative_to(TOP)}: {own} has no place in the order of layers")
    assert wrong == []


def test_the_start_check_is_java_alone():
    for path in sources("jvm/spark/src/main/java/**/*.java"):
        imports = re.findall(r"^import (?:static )?([\w.]+)", path.read_text(), flags=re.M)
        assert all(name.startswith("java.") for name in imports), path


def test_private_spark_access_that_differs_is_in_shims():
    """A shared source names no Spark line."""
    named = [p for p in sources("jvm/spark/src/main/scala/**/*.scala") if "spark.sql.classic" in code(p)]
    assert named == []


def test_letters_change_their_case_alike_everywhere():
    """In Turkish the small form of I has no dot, so that a name in capitals would not be found."""
    cased = re.compile(r"\.to(?:Lower|Upper)Case\b(?!\((?:java\.util\.)?Locale\.ROOT\))")
    every = sources("jvm/**/*.scala", "jvm/**/*.java")
    assert [str(p.relative_to(TOP)) for p in every if cased.search(code(p))] == []


def test_expressions_generate_code():
    assert [p for p in sources("jvm/**/*.scala") if "CodegenFallback" in code(p)] == []


def test_files_are_short():
    every = sources(
        "jvm/**/*.scala", "jvm/**/*.java", "python/src/**/*.py", "tests/**/*.scala", "tests/**/*.py"
    )
    lengths = {str(p.relative_to(TOP)): len(p.read_text().splitlines()) for p in every}
    assert {name: n for name, n in lengths.items() if n > 500} == {}
    main = sorted(n for name, n in lengths.items() if not name.startswith("tests"))
    assert main[len(main) // 2] <= 100


def test_nothing_unfinished():
    """Marks of unfinished work, written so that this file does not find itself."""
    mark = re.compile("TO" + "DO|FIX" + r"ME|\?\?\?|NotImplemented" + "Error")
    every = sources("jvm/**/*.scala", "jvm/**/*.java", "python/src/**/*.py", "tests/**/*.scala", "tools/*")
    assert [str(p.relative_to(TOP)) for p in every if p.is_file() and mark.search(p.read_text())] == []


def test_the_versions_of_pyspark_are_those_of_the_one_table():
    table = (TOP / "project/SparkLines.scala").read_text()
    for line in ("3.5", "4.3"):
        first = re.search(rf'SparkLine\(\s*"{re.escape(line)}",\s*"([\d.]+)"', table).group(1)
        wanted = (TOP / f"tools/requirements/{line}.txt").read_text()
        assert f"pyspark=={first}\n" in wanted


def test_ci_runs_the_command_of_the_readme():
    assert "make test" in (TOP / ".ci/run").read_text()


def test_no_name_of_a_machine_or_home_in_sources():
    leak = re.compile(r"/(?:home|Users|root)/\w")
    every = sources("jvm/**/*.scala", "python/src/**/*.py", "tools/*", "Makefile", "build.sbt")
    assert [str(p) for p in every if Path(p).is_file() and leak.search(p.read_text())] == []
