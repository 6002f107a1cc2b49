"""The text of statements. Needs no Spark."""

from __future__ import annotations

import re

import pytest
from spark_zorder import _sql
from support import SHARED


def statement(**fields):
    return _sql.Clustering(_sql.Target("db.t", is_path=False), **fields).sql


def test_a_path_without_a_slash_is_a_path_everywhere():
    sales = _sql.Target("sales", is_path=True)
    assert sales.sql == "'sales'" and sales.argument == r"'\'sales\''"
    assert _sql.Target("/data/t", is_path=True).argument == "'/data/t'"


@pytest.mark.parametrize("name", ["codec", "maxBytesInFlight", "bloom"])
def test_none_is_no_value_of_an_option(name):
    with pytest.raises(TypeError, match=f"The option {name} takes a value: leave it out"):
        statement(options={name: None})


def test_shortest():
    assert statement() == "ZORDER TABLE `db`.`t`"


def test_all_clauses_in_the_order_of_the_grammar():
    text = statement(
        by=("a", "s.f"),
        where="day >= '2026-01-01'",
        full=True,
        curve="hilbert",
        options={"targetFileSize": "256m", "force": True, "fileCount": 64},
        into="/data/copy",
        dry_run=True,
    )
    assert text == (
        "ZORDER TABLE `db`.`t` FULL WHERE (day >= '2026-01-01') BY (`a`, `s`.`f`) USING CURVE hilbert "
        "WITH (targetFileSize = '256m', force = 'true', fileCount = '64') INTO '/data/copy' DRY RUN"
    )


def test_a_comment_in_a_predicate_does_not_swallow_the_bracket():
    assert statement(where="a > 1 -- recent", by=("a",)).splitlines()[1].startswith(") BY")


def test_a_comment_in_one_of_several_predicates():
    run = _sql.Clustering(_sql.Target("t", is_path=False)).filtered("a > 1 -- recent").filtered("b > 2 -- x")
    assert run.sql == "ZORDER TABLE `t` WHERE ((a > 1 -- recent\n) AND (b > 2 -- x\n)\n)"
    plain = _sql.Clustering(_sql.Target("t", is_path=False)).filtered("a > 1").filtered("b > 2")
    assert plain.sql == "ZORDER TABLE `t` WHERE ((a > 1) AND (b > 2))"


@pytest.mark.parametrize(
    "predicate",
    ["a = 1) BY (b", "a = 1) WITH (force = true", "(a = 1)) OR (b = 2", "a = 1 -- \\\r\n) BY (b"],
)
def test_a_predicate_stays_inside_its_brackets(predicate):
    with pytest.raises(ValueError, match="closes a bracket that it has not opened"):
        _ = statement(where=predicate)


@pytest.mark.parametrize(
    "predicate",
    [
        "s = ')'",
        's = ")"',
        "`)` = 1",
        "a IN (1, (2))",
        "a > 1 -- :)",
        "a /* ) */ = 1",
        r"a = r'\' or b = ')'",
        "a = 1 /* /* ) */ ) */",
        "a = 1 --x\\\n)",
    ],
)
def test_a_bracket_in_quotes_or_comments_closes_nothing(predicate):
    assert f"({predicate}" in statement(where=predicate)


def test_blanks_around_columns_are_no_part_of_their_names():
    assert _sql.one_by_one(["a ", " b,c", "`d `"]) == ("a", "b", "c", "`d `")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("t", "`t`"),
        ("my-db.t 1", "`my-db`.`t 1`"),
        ("s.`a.b`", "`s`.`a.b`"),
        ("`a``b`", "`a``b`"),
        ("cat.db.t", "`cat`.`db`.`t`"),
    ],
)
def test_names(name, wanted):
    assert _sql.identifier(name) == wanted


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("t", "t"),
        ("`my table`", "my table"),
        ("`a``b`", "a`b"),
        ("db.`my table`", "db.`my table`"),
        ("`a.b`.c", "`a.b`.c"),
        ("`a`.`b`", "`a`.`b`"),
        ("`", "`"),
        ("", ""),
    ],
)
def test_only_a_name_of_one_part_loses_its_quotes(name, wanted):
    assert _sql.unquoted(name) == wanted


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", "`a", "a`b`", "``"])
def test_what_is_no_name(name):
    with pytest.raises(ValueError, match="is no name"):
        _sql.identifier(name)


def test_paths_and_quotes():
    path = _sql.Target("/data/o'brien\\x", is_path=True)
    assert _sql.rollback(path) == "ZORDER ROLLBACK '/data/o\\'brien\\\\x'"
    assert _sql.history(path) == "SELECT * FROM zorder_history('/data/o\\'brien\\\\x')"


def test_the_texts_of_a_statement_are_those_in_its_quotes():
    options = {"bloom": ["a", "b"], "force": True, "fileCount": 4}
    made = _sql.Clustering(_sql.Target("/t", is_path=True), where="s = 'x'", into="/c", options=options)
    assert made.texts == ["/t", "/c", "a, b", "true", "4"]
    assert all(_sql.literal(text) in made.sql for text in made.texts)
    assert _sql.Target("db.t", is_path=False).texts == []


def test_constants_without_escapes():
    texts = ["/data/o'brien\\x", "plain", "\\'\n\\\\", "é", ""]
    query = f"SELECT * FROM f({', '.join(map(_sql.literal, texts))}) WHERE a = 'b'"
    found = _sql.without_escapes(query)
    assert "\\" not in found and "'plain', " in found and "'é', ''" in found and found.endswith("a = 'b'")
    coded = re.findall(r"CAST\(unhex\('(\w+)'\) AS STRING\)", found)
    assert [bytes.fromhex(code).decode() for code in coded] == [texts[0], texts[2]]


class Index:
    """A whole number that is no int, as NumPy has them."""

    def __index__(self):
        return 3


def test_whole_numbers_of_other_types():
    name = _sql.Target("t", is_path=False)
    assert _sql.history(name, Index()) == _sql.history(name, 3)
    assert type(_sql.whole(Index(), "")) is int
    for wrong in (0, True, 3.0, "3"):
        with pytest.raises(ValueError, match="1 or more"):
            _sql.history(name, wrong)


def test_path_or_name_as_in_the_jvm():
    lines = (SHARED / "table-names.tsv").read_text().splitlines()
    assert len(lines) > 10
    for text, wanted in (line.split("\t") for line in lines):
        assert _sql.is_path(text) == (wanted == "path"), text


def test_an_option_name_cannot_carry_sql():
    with pytest.raises(ValueError, match="is no option name"):
        statement(options={"x = 1) INTO 'y": "1"})
    with pytest.raises(ValueError, match="is no curve"):
        statement(curve="z; drop")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a, s.f,, b ", ["a", "s.f", "b"]),
        ("date_trunc('HOUR', ts), a", ["date_trunc('HOUR', ts)", "a"]),
        ('concat(a, \')\', "x,\\""), `p,(q`, `a``,b`', ['concat(a, \')\', "x,\\"")', "`p,(q`", "`a``,b`"]),
        ("", []),
    ],
)
def test_a_list_of_columns_is_cut_at_its_own_commas(text, wanted):
    assert _sql.listed(text) == wanted


@pytest.mark.parametrize("text", ["lower(s", "a) DRY RUN --", "a -- b", "lower('s)", "a /* (b */)"])
def test_what_is_no_list_of_columns(text):
    with pytest.raises(ValueError, match="is no list of columns"):
        _sql.listed(text)


def test_a_column_with_a_bracket_is_an_expression():
    by = ("lower(s)", "date_trunc('DAY', ts)", "`f(x)`", "my col", "s.f")
    assert statement(by=by).endswith("BY (lower(s), date_trunc('DAY', ts), `f(x)`, `my col`, `s`.`f`)")
    with pytest.raises(ValueError, match="is more than one column"):
        statement(by=("lower(s), b",))


def test_columns_of_an_audit_are_quoted():
    def asked(*by):
        return _sql.audit(_sql.Target("t", is_path=False), by, None)

    assert asked("customer id") == "SELECT * FROM clustering_information('`t`', '`customer id`')"
    assert asked("a, s.f", "`b,c`").endswith("'`a`, `s`.`f`, `b,c`')")
    assert asked("date_trunc('DAY', ts)").endswith("'date_trunc(\\'DAY\\', ts)')")
    assert asked().endswith("NULL)")


def test_an_option_of_columns_is_a_list_or_a_text():
    for value in (["id", "b"], ("id", "b"), "id, b"):
        assert statement(options={"bloom": value}).endswith("WITH (bloom = 'id, b')")


def test_of_an_option_that_is_given_twice_the_later_one_counts():
    made = _sql.Clustering(_sql.Target("db.t", is_path=False)).option("fileCount", 8).option("filecount", 16)
    assert made.sql == "ZORDER TABLE `db`.`t` WITH (filecount = '16')"


def test_vacuum_hours():
    name = _sql.Target("t", is_path=False)
    assert _sql.vacuum(name, None) == "ZORDER VACUUM `t`"
    assert _sql.vacuum(name, 0) == "ZORDER VACUUM `t` RETAIN 0 HOURS"
    assert _sql.vacuum(name, 0.5) == "ZORDER VACUUM `t` RETAIN 0.5 HOURS"
    with pytest.raises(ValueError, match="0 or more"):
        _sql.vacuum(name, -1)
    for wrong in ("168", True):
        with pytest.raises(TypeError, match="retention_hours is a number of hours, not "):
            _sql.vacuum(name, wrong)
