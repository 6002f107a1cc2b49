"""The shell: exit codes, JSON, text. In this process, with the session of the tests."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from spark_zorder import __main__ as cli
from spark_zorder import _doctor, _early, _errors, _sql
from spark_zorder.view import parts, results
from support import TOP

pytestmark = pytest.mark.same_on_all_lines


@pytest.fixture
def main(spark, monkeypatch):
    monkeypatch.setattr(cli, "_session", lambda arguments: spark)
    return cli.main


OPTIONS = ["--option", "fileCount=8", "--option", "force=true"]


def test_optimize_as_json_then_history_and_the_rest(main, table, capsys):
    assert main(["optimize", table, "--by", "a, b", "--json", *OPTIONS]) == 0
    row = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert row["status"] == "DONE" and row["columns"][0]["name"] == "a"
    assert main(["history", table, "--json"]) == 0
    assert len(capsys.readouterr().out.strip().splitlines()) == 1
    assert main(["history", table]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["run", "what", "status"] and "OPTIMIZE  DONE" in lines[2]
    assert max(map(len, lines)) <= 140
    assert main(["vacuum", table, "--retain-hours", "0", "--dry-run"]) == 0
    assert "DRY_RUN" in capsys.readouterr().out
    assert main(["vacuum", table, "--retain-hours", "1"]) == 0
    assert "from before a run: kept until 20" in " ".join(capsys.readouterr().out.split())
    assert main(["rollback", table]) == 0
    assert main(["remove", table]) == 0


def test_a_dry_run_as_text(main, table, capsys):
    assert main(["optimize", table, "--by", "a,b", "--dry-run", *OPTIONS]) == 0
    out = capsys.readouterr().out
    assert out.startswith("DRY_RUN") and "a look-up of one value reads" in out
    assert "The layouts that were compared" in out and "zorder" in out
    # the table is in the order of id, which its files skip by today
    assert "Columns that it is not clustered by" in out and "GETS WORSE" in out
    assert "queries of the log" not in out


def test_columns_of_the_shell_may_be_expressions(main, table, capsys):
    by = ["--by", "pmod(a, 10),b"]
    assert main(["optimize", table, *by, "--dry-run", "--json", *OPTIONS]) == 0
    names = [column["name"] for column in json.loads(capsys.readouterr().out)["columns"]]
    assert names[:2] == ["pmod(a, 10)", "b"]
    assert main(["index", table, *by, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == 2
    assert main(["index", table, "--by", "lower(a"]) == 2
    assert "a bracket is open" in capsys.readouterr().err


def test_a_run_for_a_log_says_what_its_queries_read(main, table, spark, capsys):
    log = f"SELECT * FROM zorder_query_log('SELECT * FROM parquet.`{table}` WHERE a = 5 AND b < 100')"
    spark.sql(log).createOrReplaceTempView("cli_log")
    more = ["--option", "queryLog=cli_log", "--option", "fileCount=8"]
    assert main(["optimize", table, "--by", "a,b", "--dry-run", *more]) == 0
    out = capsys.readouterr().out
    assert "Share of the table that the queries of the log read" in out and "a = ? AND b <= ?" in out


def test_a_failure_is_one_sentence_and_exit_code_1(main, table, capsys):
    assert main(["optimize", table, "--by", "nosuch"]) == 1
    err = capsys.readouterr().err
    assert "nosuch" in err and "Traceback" not in err and "\n\tat " not in err


def test_a_name_that_is_not_found_may_be_a_directory_here(main, capsys, tmp_path, monkeypatch):
    (tmp_path / "sales").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["optimize", "sales", "--by", "a"]) == 1
    assert capsys.readouterr().err.endswith("There is a directory of that name: write ./sales.\n")


def test_a_name_that_is_not_found_may_be_in_a_hive_metastore(main, spark, capsys):
    for words in (["optimize", "air.flights", "--by", "a"], ["audit", "nosuch", "--by", "a"]):
        assert main(words) == 1
        err = capsys.readouterr().err
        assert "There is no" in err and err.endswith("Hive metastore or of Glue, add --hive.\n"), err
    assert main(["optimize", "/nosuch", "--by", "a"]) == 1
    assert "--hive" not in capsys.readouterr().err


def test_hive_is_a_setting_of_the_session(monkeypatch):
    made = {}
    monkeypatch.setattr(
        "spark_zorder._install.configure", lambda builder: made.update(builder._options) or Made()
    )
    monkeypatch.setattr("spark_zorder._install.attach", lambda session: session)
    arguments = cli._parser().parse_args(["history", "t", "--hive", "--conf", "a.b=c"])
    cli._session(arguments)
    assert (made["spark.sql.catalogImplementation"], made["a.b"]) == ("hive", "c")


def test_packages_are_a_setting_of_the_session(monkeypatch):
    """As the error says of a format whose classes are not there."""
    made = {}
    monkeypatch.setattr(
        "spark_zorder._install.configure", lambda builder: made.update(builder._options) or Made()
    )
    monkeypatch.setattr("spark_zorder._install.attach", lambda session: session)
    arguments = cli._parser().parse_args(["history", "t", "--packages", "io.delta:delta-spark_2.12:3.3.3"])
    cli._session(arguments)
    assert made["spark.jars.packages"] == "io.delta:delta-spark_2.12:3.3.3"


def test_packages_that_come_too_late_are_refused(unstarted, monkeypatch, capsys):
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert unstarted(["history", "t", "--packages", "g:a:1"]) == 2
    assert "write --packages before its path" in capsys.readouterr().err


class Made:
    """A builder whose session is not asked anything."""

    @staticmethod
    def getOrCreate():  # noqa: N802
        return None


def test_a_path_that_is_not_there(main, tmp_path):
    assert main(["optimize", str(tmp_path / "none"), "--by", "a"]) == 1


@pytest.fixture
def unstarted(monkeypatch):
    """The shell, where no session may start and nothing points to a cluster."""

    def start(_):
        raise AssertionError("a session was started")

    for name in _early._CLUSTERS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cli, "_session", start)
    monkeypatch.setattr(_early, "_has_settings", lambda: False)
    return cli.main


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["optimize", "t", "--by", "a", "--option", "filecuont=8"], 2, "Did you mean fileCount?"),
        (["optimize", "t", "--option", "x=8"], 2, "There is no option x. The options are targetFileSize"),
        (["maintain", "--tables", "x", "--option", "nope=1"], 2, "There is no option nope."),
        (["optimize", "t", "--curve", "hilbrt"], 2, "There is no curve hilbrt. Did you mean hilbert?"),
        (["optimize", "t", "--by", "a", "--into", ""], 2, "--into is empty: leave it out"),
        (["optimize", "t", "--by", "a", "--where", " "], 2, "--where is empty"),
        (["optimize", "t", "--by", ","], 2, "--by is empty"),
        (["optimize", "t", "--by", "\r"], 2, "--by is empty"),
        (["optimize", "db..t", "--by", "a"], 2, "'db..t' is no name"),
        (["optimize", "t", "--by", "s..f"], 2, "'s..f' is no name"),
        (["audit", "t", "--by", "lower(a"], 2, "a bracket is open"),
        (["index", "t", "--bloom", "lower(a"], 2, "a bracket is open"),
        (["optimize", "t", "--where", "a = 1", "--where", "\t"], 2, "--where is empty"),
        (["optimize", "t", "--by", "a", "--where", "a = 1) OR (b = 2"], 2, "it closes a bracket"),
        (["audit", "t", "--where", "a = 1) OR (b = 2"], 2, "it closes a bracket"),
        (["index", "t", "--bloom", ""], 2, "--bloom is empty"),
        (["index", "t", "--drop", "--by", "a"], 2, "--drop is about the whole index: leave out --by"),
        (["maintain", "--tables", "x", "--max-duration", ""], 2, "--max-duration is empty"),
        (["vacuum", "t", "--retain-hours", "-1"], 2, "--retain-hours takes a number of hours, 0 or more."),
        (
            ["maintain", "--tables", "/no/such/file"],
            2,
            "There is no file /no/such/file with names",
        ),
        (["maintain", "--tables", "/"], 2, "/ cannot be read: "),
        (["optimize", "/no/such/table", "--by", "a"], 1, "There is nothing at /no/such/table."),
        (["history", "file:///no/such/table"], 1, "There is nothing at file:///no/such/table."),
        (["audit", "/no/such/table", "--where", "a = 1"], 1, "There is nothing at /no/such/table."),
        (["index", "./no-such-table"], 1, "There is nothing at ./no-such-table."),
    ],
)
def test_what_is_wrong_without_a_session_is_said_before_one_starts(unstarted, capsys, words, code, said):
    assert unstarted(words) == code
    assert said in capsys.readouterr().err


def test_an_error_shows_the_characters_that_a_terminal_obeys(unstarted, monkeypatch, capsys):
    assert unstarted(["optimize", "/no/\x1b[2Jsuch\u202e/t", "--by", "a"]) == 1
    assert capsys.readouterr().err == "There is nothing at /no/\\x1b[2Jsuch\\u202e/t.\n"
    assert unstarted(["maintain", "--tables", "/no\nsuch"]) == 2
    assert capsys.readouterr().err == "There is no file /no\\nsuch with names of tables.\n"

    def fails(_):
        raise RuntimeError("In line 1:\n  SELECT \x1b[2J")

    monkeypatch.setattr(cli, "_session", fails)
    assert unstarted(["history", "t"]) == 1
    assert capsys.readouterr().err == "In line 1:\n  SELECT \\x1b[2J\n"


def test_the_doctor_shows_the_characters_that_a_terminal_obeys():
    report = _doctor.Report([_doctor.Fact("session", "/home\x1b[2J", "look at\n/home\x1b[2J")])
    assert str(report).splitlines()[2:] == [
        r"session  /home\x1b[2J",
        "",
        "To do:",
        "- session: look at",
        r"/home\x1b[2J",
    ]


def test_columns_of_an_index_are_names_unless_they_have_a_bracket(monkeypatch):
    asked = {}
    table = SimpleNamespace(index=lambda *by, **more: asked.update(by=by, **more))
    words = ["index", "t", "--by", "customer-id,lower(s)", "--bloom", "customer id", "--values", "a.b"]
    cli._index(table, cli._parser().parse_args(words))
    assert asked == {
        "by": ("`customer-id`", "lower(s)"),
        "bloom": ["`customer id`"],
        "bloomBudget": None,
        "values": ["`a`.`b`"],
    }


@pytest.mark.parametrize(
    "words",
    [
        ["optimize", "t", "--by", "a", "--by", "b"],
        ["optimize", "t", "--by", "a", "--columns", "b"],
        ["index", "t", "--bloom", "a", "--bloom", "b"],
        ["index", "t", "--drop", "--refresh"],
        ["history", "t", "--packages", "g:a:1", "--packages", "g:b:1"],
        ["audit", "t/", "--where", "a = 1", "--where", "b = 2"],
        ["optimize", "t", "--curve", "z", "--curve", "hilbert"],
    ],
)
def test_nothing_that_was_typed_is_passed_over(unstarted, capsys, words):
    with pytest.raises(SystemExit, match="2"):
        unstarted(words)
    assert "twice" in capsys.readouterr().err or "--drop" in words


@pytest.mark.parametrize(
    "more",
    [
        ["--option", "FILECOUNT=8"],
        ["--curve", "Hilbert"],
        ["--master", "yarn"],
        ["--conf", "spark.hadoop.fs.defaultFS=hdfs://x/"],
    ],
)
def test_what_needs_a_session_is_left_to_it(unstarted, tmp_path, more, capsys):
    path = "/no/such/table" if more[0] in ("--master", "--conf") else str(tmp_path)
    assert unstarted(["optimize", path, "--by", "a", *more]) == 1
    assert "a session was started" in capsys.readouterr().err


def test_a_table_that_a_dead_run_has_left_aside_needs_a_session(unstarted, tmp_path, monkeypatch, capsys):
    (tmp_path / ".t.zorder-1.json").write_text("{}")
    assert unstarted(["rollback", f"{tmp_path}/t"]) == 1
    assert "a session was started" in capsys.readouterr().err
    # another file system, and a machine that is set up for a cluster
    assert unstarted(["rollback", "s3a://bucket/t"]) == 1
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    assert unstarted(["rollback", f"{tmp_path}/other"]) == 1
    assert capsys.readouterr().err.count("a session was started") == 2


def test_the_options_are_those_of_the_jvm():
    names = (TOP / "tests" / "state" / "names.txt").read_text().split("# options\n")[1].split("\n\n")[0]
    assert tuple(line.split()[0] for line in names.splitlines()) == _sql.OPTIONS


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["optimise", "t"],
        ["optimize"],
        ["vacuum", "t", "--retain-hours", "x"],
        ["optimize", "t", "--option", "force"],
        ["history", "t", "--conf", "spark.ui.enabled"],
    ],
)
def test_wrong_usage_is_exit_code_2(words, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(words)
    assert caught.value.code == 2


def test_doctor_is_content_with_a_configured_session(main, capsys):
    assert main(["doctor"]) == 0
    assert "Nothing is missing." in capsys.readouterr().out


class ConflictError(Exception):
    """An error as pyspark raises it for a Java exception."""

    class _origin:  # noqa: N801
        @staticmethod
        def getClass():  # noqa: N802
            return type(
                "C", (), {"getName": lambda self: "org.apache.spark.sql.zorder.ZOrderConflictException"}
            )()


def test_a_conflict_is_exit_code_4(monkeypatch, capsys):
    def raises(_):
        raise ConflictError("The table changed under the run; nothing was changed.")

    monkeypatch.setattr(cli, "_session", raises)
    assert cli.main(["history", "t"]) == 4
    assert "changed under the run" in capsys.readouterr().err


def test_sentences_have_no_stack_trace():
    error = RuntimeError("What is wrong.\n\nJVM stacktrace:\norg.x.Y\n\tat a.b(C.java:1)")
    assert _errors.sentence(error) == "What is wrong."


@pytest.mark.parametrize(
    "more",
    [
        "; line 2 pos 0;\n'Project [*]\n+- 'Filter ('x = 1)\n   +- OneRowRelation\n",
        "; line 1 pos 7",
        ";\nProject [a#1]\n+- Range (0, 1)\n\nJVM stacktrace:\norg.x.Y",
    ],
)
def test_sentences_have_no_plan(more):
    said = "[UNRESOLVED_COLUMN] A column `x` is not there; did you mean `a`? SQLSTATE: 42703"
    assert _errors.sentence(RuntimeError(said + more)) == said


def test_a_table_of_any_rows_lines_numbers_up():
    rows = [
        {"name": "a", "files": {"now": 1.0, "after": None}},
        {"name": "bbb", "files": {"now": 0.25, "after": 2}},
    ]
    text = parts.as_text(results.plain(rows)).splitlines()
    assert text[0].split() == ["name", "files.now", "files.after"]
    assert text[2].split() == ["a", "1", "-"]
    assert text[3].endswith("2") and len(text[3]) == len(text[0])


def test_several_conditions_are_joined(main, table, capsys):
    words = ["optimize", table, "--by", "a,b", "--option", "fileCount=4", "--dry-run", "--json"]
    assert main([*words, "--where", "a < 1", "--where", "a > 1"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "NOTHING_TO_DO"


def test_no_rows_are_no_lines(main, table, capsys):
    assert main(["history", table, "--json"]) == 0
    assert capsys.readouterr().out == ""


def test_a_conflict_and_a_consent_are_known_by_their_conditions_alone():
    assert _errors.is_conflict(ValueError("[ZORDER_CONFLICT.OTHER_RUN] The run r is working on t."))
    assert _errors.is_conflict(ValueError("[ZORDER_RETRY_QUERY.DIRECTORY_AWAY] The run r is exchanging t."))
    assert _errors.needs_consent(ValueError("[ZORDER_CHOICE_NEEDED.MOVES_BESIDE] On s3 files move."))
    assert not _errors.needs_consent(ValueError("[ZORDER_CHOICE_NEEDED.LATE_FILES] t has late files."))
