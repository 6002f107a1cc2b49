"""House rules of docs/spec.md, section 9, read from the sources: those of this tree, or of any other."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
from support import TOP

pytestmark = pytest.mark.same_on_all_lines

# packages, by the names that rooms have below
ROOTS = {
    "org.apache.spark.sql.zorder": "",
    "sparkzorder.curve": "curve",
    # one file that uses what Delta shows to its own packages only
    "org.apache.spark.sql.delta.zorder": "table.delta.lent",
}
# from the ground up: a room names those of its own layer and below; the rooms inside it are in its layer
LAYERS = [
    {"curve", "build"},
    {"expr.normalized"},
    {"shims"},
    {"errors"},
    {"conf"},
    {"expr"},
    {"table.file", "table.storage"},
    {"stats"},
    {"table"},
    {"skipping"},
    {"querylog"},
    {"clustering"},
    {"insight"},
    {"sql"},
    {"(top)"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
JVM = ("jvm/**/*.scala", "jvm/**/*.java")


def sources(*patterns, root=TOP):
    found = sorted(
        p for pattern in patterns for p in root.glob(pattern) if "target" not in p.relative_to(root).parts
    )
    assert found
    return found


# whichever begins first: a comment may hold quotes, and a string what looks like a comment
NO_CODE = re.compile(
    r'''"""[\s\S]*?"""+|"(?:\\.|[^"\\\n])*"|'(?:\\[^\n]+?|[^'\\\n])'|//[^\n]*|/\*[\s\S]*?\*/'''
)


def code(path):
    """Without comments and strings, where a name may stand in a sentence."""
    return NO_CODE.sub(lambda m: " " if m[0].startswith("/") else '""', path.read_text())


def room(package):
    """The name of one of our packages; None for others."""
    for prefix, name in ROOTS.items():
        if package == prefix or package.startswith(prefix + "."):
            return ".".join(part for part in (name, package[len(prefix) + 1 :]) if part) or "(top)"
    return None


def package_of(text):
    return re.search(r"^package ([\w.]+)", text, flags=re.M)[1]


def arrows(root):
    """For each package the packages that it names, each with the files that do so.

    A package is named by an import, wherever it stands, by a full name in the code, or from inside a package
    around it, by the rest of its name.
    """
    texts = {path: code(path) for path in sources(*JVM, root=root)}
    packages = {package_of(text) for text in texts.values()}
    found = {package: defaultdict(set) for package in packages}
    for path, text in texts.items():
        own = package_of(text)
        for named in packages_named(text, own, packages) - {own}:
            found[own][named].add(path.name)
    return found


def packages_named(text, own, packages):
    full = "|".join(re.escape(prefix) for prefix in ROOTS)
    chains = re.findall(rf"(?<![\w.])((?:{full})(?:\s*\.\s*\w+)*)(?:\s*\.\s*\{{([^}}]*)\}})?", text)
    names = []
    for chain, braces in chains:
        chain = re.sub(r"\s", "", chain)
        parts = [part.split("=>")[0].split(" as ")[0].strip() for part in braces.split(",")]
        names += [f"{chain}.{part}" if part else chain for part in parts]
    # a package whose name is known without the rest: one inside this one, or one that was imported itself
    short = {p.rsplit(".", 1)[1]: p for p in packages if p.rsplit(".", 1)[0] == own}
    short |= {name.rsplit(".", 1)[1]: name for name in names if name in packages}
    for first, rest in re.findall(r"(?<![\w.])([a-z]\w*)((?:\.\w+)+)", text):
        inside = short.get(first, "") + rest
        # a value may have the name of a package: what follows a package is a package or begins with a capital
        if first in short and (rest[1].isupper() or longest(inside, packages) != short[first]):
            names.append(inside)
    return {longest(name, packages) for name in names} - {None}


def longest(name, packages):
    """The package that a full name begins with."""
    while name and name not in packages:
        name = name.rpartition(".")[0]
    return name or None


def circles(found):
    """Packages that can be reached from themselves, and the files of each two that name each other."""
    reach = {package: reached(found, package) for package in found}
    lines = []
    for a in sorted(found):
        around = {b for b in reach[a] if a in reach[b]}
        if a in reach[a] and a == min(around):
            lines.append("circle: " + ", ".join(room(p) for p in sorted(around)))
            for b in sorted(around):
                for c in sorted(x for x in found[b] if x > b and b in found[x]):
                    names = [f"{room(x)} by {', '.join(sorted(found[x][y]))}" for x, y in ((b, c), (c, b))]
                    lines.append(f"{room(b)} <-> {room(c)}: " + "; ".join(names))
    return lines


def reached(found, start):
    seen, todo = set(), [start]
    while todo:
        for other in set(found[todo.pop()]) - seen:
            seen.add(other)
            todo.append(other)
    return seen


def rank(name):
    """Of the room, or of the room around it."""
    while name not in RANK and "." in name:
        name = name.rpartition(".")[0]
    return RANK.get(name)


def upward(found):
    """Names of a layer above."""
    rooms = {room(package): {room(p): by for p, by in named.items()} for package, named in found.items()}
    lines = [f"{name} has no place in the order of layers" for name in rooms if rank(name) is None]
    known = {name: rank(name) for name in rooms if rank(name) is not None}
    for name in sorted(known):
        for other in sorted(rooms[name]):
            if known.get(other, -1) > known[name]:
                lines.append(f"{name} names {other}: {', '.join(sorted(rooms[name][other]))}")
    return lines


def test_the_curve_knows_nothing_of_spark():
    named = [p for p in sources("jvm/curve/src/main/**/*.scala") if "org.apache" in code(p)]
    assert named == []


def test_no_circle_of_packages():
    assert circles(arrows(TOP)) == []


def test_imports_go_one_way():
    assert upward(arrows(TOP)) == []


def test_a_circle_is_found_however_a_package_is_named(tmp_path):
    """Packages that are acyclic only as long as nobody looks into bodies, at braces or at relative names."""
    zorder = "org.apache.spark.sql.zorder"
    own = f"{zorder}.clustering"
    files = {
        "clustering/A.scala": f"package {own}\nimport {zorder}.{{table => t, conf}}\nclass A {{ plan.Z }}",
        "clustering/plan/Z.scala": f"package {own}.plan\nclass Z {{ val a: {own}.A = null }}",
        "table/B.scala": f"package {zorder}.table\nclass B {{ def b() = {{\n  import {zorder}.stats._\n}} }}",
        "stats/C.java": f"package {zorder}.stats;\nclass C {{ {zorder}.table.B b; }}",
        "conf/D.scala": f'package {zorder}.conf\n// {own}\nclass D {{ val clustering = "{own}.A" }}',
    }
    for name, text in files.items():
        path = tmp_path / "jvm" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert [line for line in circles(arrows(tmp_path)) if "<->" in line] == [
        "clustering <-> clustering.plan: clustering by A.scala; clustering.plan by Z.scala",
        "stats <-> table: stats by C.java; table by B.scala",
    ]
    assert upward(arrows(tmp_path)) == ["stats names table: C.java"]


def test_the_start_check_is_java_alone():
    for path in sources("jvm/spark/src/main/java/**/build/*.java"):
        imports = re.findall(r"^import (?:static )?([\w.]+)", path.read_text(), flags=re.M)
        assert all(name.startswith("java.") for name in imports), path


def test_private_spark_access_that_differs_is_in_shims():
    """A shared source names no Spark line."""
    named = [p for p in sources("jvm/spark/src/main/scala/**/*.scala") if "spark.sql.classic" in code(p)]
    assert named == []


def test_no_two_types_differ_by_a_trailing_s():
    """Each such pair is a trap in a search; docs/contributing/architecture.md has the terms."""
    types = defaultdict(set)
    for path in sources(*JVM):
        for name in re.findall(
            r"^(?:[\w\[\]@]+ +)*(?:class|object|trait|interface|enum) +(\w+)", code(path), re.M
        ):
            types[name].add(path.name)
    assert {name: (by, types[name + "s"]) for name, by in types.items() if name + "s" in types} == {}


def test_letters_change_their_case_alike_everywhere():
    """In Turkish the small form of I has no dot, so that a name in capitals would not be found."""
    cased = re.compile(r"\.to(?:Lower|Upper)Case\b(?!\((?:java\.util\.)?Locale\.ROOT\))")
    every = sources("jvm/**/*.scala", "jvm/**/*.java")
    assert [str(p.relative_to(TOP)) for p in every if cased.search(code(p))] == []


def test_expressions_generate_code():
    assert [p for p in sources("jvm/**/*.scala") if "CodegenFallback" in code(p)] == []


def test_every_folder_of_tests_is_one_that_the_build_runs():
    build = (TOP / "build.sbt").read_text() + (TOP / "project/SparkLines.scala").read_text()
    folders = {p.name for p in (TOP / "tests/jvm").iterdir() if p.is_dir()}
    assert [name for name in sorted(folders) if not re.search(rf'["/]{name}"', build)] == []


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


def test_every_surface_says_who_needs_it():
    """Options, settings, functions and shell commands, as the code and the generated page have them."""
    page = (TOP / "docs/contributing/surfaces.md").read_text()
    options = (TOP / "docs/guide/options.md").read_text()
    names = re.findall(r"^\| `(?:spark\.zorder\.)?([\w.]+)`", options, flags=re.M)
    functions = "jvm/spark/src/main/scala/org/apache/spark/sql/zorder/sql/function"
    for path in sources(f"{functions}/*.scala"):
        names += re.findall(r'"((?:zorder|clustering)_\w+)"', path.read_text())
    shell = (TOP / "python/src/spark_zorder/__main__.py").read_text()
    names += re.findall(r'_add\(commands, "(\w+)"', shell)
    said = set(re.findall(r"`([\w.]+)", page))
    said |= {f"queryLog{name}" for name in re.findall(r"`(\.\w+)`", page)}
    groups = tuple(name[:-1] for name in re.findall(r"`([\w.]+\.\*)`", page))
    assert [name for name in names if name not in said and not name.startswith(groups)] == []
