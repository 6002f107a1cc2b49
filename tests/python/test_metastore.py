"""A real metastore: tables are clustered by name, and every session sees the new place at once."""

from __future__ import annotations

import pytest
from support import facts_of

pytestmark = pytest.mark.same_on_all_lines


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """The metastore is chosen when a JVM's first session is made."""
    return facts_of("metastore_session.py", tmp_path_factory.mktemp("metastore"))


@pytest.mark.parametrize("table", ["managed", "parts", "outside"])
def test_runs_appends_and_rollback_keep_every_row(facts, table):
    found = facts[table]
    assert found["status"] == "DONE" and found["same"] and found["appended"], found
    assert found["again"] == "DONE" and found["rows"] == 6010 and found["runs"] == 2, found
    assert found["kept"] == 6010, found


def test_after_vacuum_remove_and_drop_the_name_is_free(facts):
    assert facts["created_again"] == 6000


def test_a_managed_table_lives_on_after_a_run_as_before(facts):
    assert all(facts["daily"].values()), facts["daily"]


def test_a_size_that_only_hive_knows_is_left_to_hive_and_one_of_sparks_is_renewed(facts):
    assert all(facts["sized"].values()), facts["sized"]


def test_a_table_that_spark_cannot_read_hides_no_other(facts):
    assert "HOLDS_TABLE" in facts["overlap"] and "inner" in facts["overlap"], facts["overlap"]


def test_tables_that_hives_reader_scans_are_explained(facts):
    rows = sorted(facts["hives"])
    assert [table.rsplit(".", 1)[-1] for table, *_ in rows] == ["packed", "textual"], rows
    for _, considered, reason, summary in rows:
        assert (considered, summary) == (None, None), rows
        assert "Hive's reader" in reason and "spark.sql.hive.convertMetastoreParquet" in reason, rows


@pytest.mark.long
def test_the_same_on_a_metastore_that_is_reached_by_thrift(tmp_path):
    for table, found in facts_of("metastore_session.py", tmp_path, "thrift").items():
        assert found and all(found.values()), (table, found)
