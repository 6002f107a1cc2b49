"""A managed table lives on after a run as any other: dropped, overwritten, altered, renamed, shared."""

from __future__ import annotations

import pytest
from oracle import multiset


@pytest.fixture(params=[(), ("p",)], ids=["plain", "partitioned"])
def by(request):
    return request.param


def clustered(walk, name, by):
    walk.managed(name, *by)
    assert walk.cluster(name) == "DONE"
    return name


def test_truncate_then_insert(walk, by):
    t = clustered(walk, "m_truncate", by)
    walk.spark.sql(f"TRUNCATE TABLE {t}")
    assert walk.table(t) == multiset(walk.rows(0, 0))
    walk.rows(0, 10).write.insertInto(t)
    assert walk.table(t) == multiset(walk.rows(0, 10).select(*walk.spark.table(t).columns))


def test_insert_overwrite_of_all(walk, by):
    t = clustered(walk, "m_overwrite", by)
    walk.rows(5, 25).write.insertInto(t, overwrite=True)
    assert walk.table(t) == multiset(walk.rows(5, 25))
    assert walk.cluster(t, options="fileCount = 2") == "DONE"
    assert walk.table(t) == multiset(walk.rows(5, 25))


def test_append_run_overwrite_run_and_append(walk, by):
    t = clustered(walk, "m_long", by)
    walk.rows(4_000, 4_100).write.insertInto(t)
    walk.cluster(t)
    walk.rows(0, 50).write.insertInto(t, overwrite=True)
    walk.cluster(t, options="fileCount = 2")
    walk.rows(50, 60).write.insertInto(t)
    walk.cluster(t, options="fileCount = 2")
    walk.say("VACUUM", t, "RETAIN 0 HOURS")
    assert walk.table(t) == multiset(walk.rows(0, 60))


def test_dropped_and_made_anew_with_other_columns(walk, by):
    t = clustered(walk, "m_anew", by)
    walk.spark.sql(f"DROP TABLE {t}")
    other = walk.rows(0, 100).selectExpr("a as x", "b as y", "'s' as z")
    other.write.format("parquet").saveAsTable(t)
    assert walk.table(t) == multiset(other)
    walk.refused(f"ZORDER ROLLBACK {t}", "roll")
    assert walk.cluster(t, by="x, y", options="fileCount = 2") == "DONE"
    walk.say("VACUUM", t, "RETAIN 0 HOURS")
    assert walk.table(t) == multiset(other)


def test_two_runs_two_rollbacks(walk, by):
    t = clustered(walk, "m_twice", by)
    rows = walk.table(t)
    assert walk.cluster(t, by="b, a", how="FULL") == "DONE"
    assert walk.say("ROLLBACK", t) == "ROLLED_BACK"
    assert walk.say("ROLLBACK", t) == "ROLLED_BACK"
    assert walk.table(t) == rows
    walk.refused(f"ZORDER ROLLBACK {t}", "roll")


def test_a_column_is_added_between_run_and_rollback(walk, by):
    t = clustered(walk, "m_added", by)
    walk.spark.sql(f"ALTER TABLE {t} ADD COLUMNS (extra STRING)")
    columns = [c for c in walk.spark.table(t).columns if c != "extra"]
    assert walk.say("ROLLBACK", t) == "ROLLED_BACK"
    found = walk.spark.table(t)
    assert "extra" in found.columns
    assert multiset(found.select(*columns)) == multiset(walk.rows().select(*columns))


def test_renamed_then_vacuumed_and_run_again(walk):
    # without partitions: Spark's in-memory catalog loses those of any managed table that is renamed
    t = clustered(walk, "m_before", ())
    walk.names.append("m_after")
    walk.spark.sql("DROP TABLE IF EXISTS m_after")
    walk.spark.sql(f"ALTER TABLE {t} RENAME TO m_after")
    rows = walk.table("m_after")
    assert rows == multiset(walk.rows().select(*walk.spark.table("m_after").columns))
    walk.rows(4_000, 4_010).select(*walk.spark.table("m_after").columns).write.insertInto("m_after")
    walk.cluster("m_after")
    walk.say("VACUUM", "m_after", "RETAIN 0 HOURS")
    wanted = walk.rows(0, 4_010).select(*walk.spark.table("m_after").columns)
    assert walk.table("m_after") == multiset(wanted)


def test_a_view_over_the_table_and_another_session(walk, by):
    t = walk.managed("m_seen", *by)
    walk.spark.sql(f"CREATE OR REPLACE TEMP VIEW over_seen AS SELECT a, count(*) n FROM {t} GROUP BY a")
    before = multiset(walk.spark.table("over_seen"))
    other = walk.spark.newSession()
    rows = multiset(other.table(f"spark_catalog.default.{t}"))
    walk.cluster(t)
    assert multiset(walk.spark.table("over_seen")) == before
    other.catalog.refreshTable(t)
    assert multiset(other.table(t)) == rows


def test_cached_before_and_appended_after(walk, by):
    t = walk.managed("m_cached", *by)
    walk.spark.sql(f"CACHE TABLE {t}")
    walk.cluster(t)
    walk.rows(4_000, 4_005).select(*walk.spark.table(t).columns).write.insertInto(t)
    assert walk.spark.table(t).count() == 4_005
    walk.spark.sql(f"UNCACHE TABLE {t}")


def test_a_database_dropped_with_all_it_holds(walk, by):
    place = walk.folder / "a place"
    walk.spark.sql(f"CREATE DATABASE doomed LOCATION '{place}'")
    walk.managed("doomed.t", *by)
    walk.cluster("doomed.t")
    walk.spark.sql("DROP DATABASE doomed CASCADE")
    assert not [p for p in walk.listing() if p.endswith(".parquet") and "/.t.zorder-" not in p]


def test_a_partition_is_dropped_and_filled_again(walk):
    t = clustered(walk, "m_refilled", ("p",))
    walk.spark.sql(f"ALTER TABLE {t} DROP PARTITION (p = 1)")
    walk.rows(9_000, 9_030).where("p = 1").write.insertInto(t)
    wanted = walk.rows().where("p <> 1").union(walk.rows(9_000, 9_030).where("p = 1"))
    assert walk.table(t) == multiset(wanted)
    walk.cluster(t)
    walk.say("VACUUM", t, "RETAIN 0 HOURS")
    assert walk.table(t) == multiset(wanted)


def test_one_partition_overwritten_by_name(walk):
    t = clustered(walk, "m_static", ("p",))
    walk.spark.sql(f"INSERT OVERWRITE {t} PARTITION (p = 2) SELECT -1, -2, -3")
    rest = walk.rows().where("p <> 2")
    one = walk.spark.sql("SELECT -1L, -2L, -3L, 2")
    assert walk.table(t) == multiset(rest.union(one))
    walk.cluster(t)
    assert walk.table(t) == multiset(rest.union(one))


def test_partitions_overwritten_dynamically(walk):
    t = clustered(walk, "m_dynamic", ("p",))
    with walk.settings(spark__sql__sources__partitionOverwriteMode="dynamic"):
        walk.rows(9_000, 9_030).where("p = 0").write.insertInto(t, overwrite=True)
    wanted = walk.rows().where("p <> 0").union(walk.rows(9_000, 9_030).where("p = 0"))
    assert walk.table(t) == multiset(wanted)
    walk.cluster(t)
    walk.say("VACUUM", t, "RETAIN 0 HOURS")
    assert walk.table(t) == multiset(wanted)


def test_partitions_recovered_and_renamed(walk):
    t = clustered(walk, "m_recovered", ("p",))
    walk.spark.sql(f"MSCK REPAIR TABLE {t}")
    assert walk.table(t) == multiset(walk.rows())
    walk.spark.sql(f"ALTER TABLE {t} PARTITION (p = 1) RENAME TO PARTITION (p = 7)")
    wanted = walk.rows().selectExpr("id", "a", "b", "if(p = 1, 7, p) p")
    assert walk.table(t) == multiset(wanted)
    walk.cluster(t, how="FULL")
    walk.say("VACUUM", t, "RETAIN 0 HOURS")
    assert walk.table(t) == multiset(wanted)


def test_a_view_that_hides_the_table_is_not_the_table(walk, by):
    t = walk.managed("m_hidden", *by)
    walk.spark.sql(f"CREATE OR REPLACE TEMP VIEW {t} AS SELECT 1 AS a, 2 AS b")
    walk.refused(f"ZORDER TABLE {t} BY (a, b)", "view")
    walk.spark.catalog.dropTempView(t)


def test_a_default_of_a_column_that_old_files_lack(walk, by):
    t = walk.managed("m_default", *by)
    walk.spark.sql(f"ALTER TABLE {t} ADD COLUMNS (extra INT DEFAULT 42)")
    columns = [c for c in walk.spark.table(t).columns if c != "extra"]
    added = walk.rows(4_000, 4_010).selectExpr(*[c for c in columns if c != "p"], "7 as extra", "p")
    added.select(*walk.spark.table(t).columns).write.insertInto(t)
    before = walk.table(t)
    walk.spark.sql(f"ZORDER TABLE {t} BY (a, b) WITH (force = true, fileCount = 4)")
    assert walk.table(t) == before
