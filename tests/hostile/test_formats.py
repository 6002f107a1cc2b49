"""Delta, Iceberg and Hudi tables that have a life beside ours."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
import tables
from oracle import multiset
from spark_zorder import ZOrderTable

UNCOMPILED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


@pytest.fixture(autouse=True)
def uncompiled(session):
    """`make test` compiles none of these statements on few rows: that takes longer than running one."""
    settings = UNCOMPILED if os.environ.get("SHORT_TESTS") == "1" else {}
    for key, value in settings.items():
        session.conf.set(key, value)
    yield
    for key in settings:
        session.conf.unset(key)


def of_path(walk, kind):
    target = str(walk.folder / kind)
    options = tables.HUDI if kind == "hudi" else {}
    walk.rows().write.format(kind).options(**options).save(target)
    return target


def read(walk, kind, target):
    walk.spark.catalog.refreshByPath(target)
    return multiset(walk.spark.read.format(kind).load(target).select("id", "a", "b", "p"))


def test_delta_as_it_was_before_the_run(walk):
    t = of_path(walk, "delta")
    rows = read(walk, "delta", t)
    walk.cluster(t)
    walk.spark.sql(f"DELETE FROM delta.`{t}` WHERE id < 100")
    first = walk.spark.read.format("delta").option("versionAsOf", 0).load(t)
    assert multiset(first) == rows
    assert read(walk, "delta", t) == multiset(walk.rows(100))


def test_delta_with_a_constraint(walk):
    t = of_path(walk, "delta")
    walk.spark.sql(f"ALTER TABLE delta.`{t}` ADD CONSTRAINT positive CHECK (a >= 0)")
    rows = multiset(walk.spark.read.format("delta").load(t))
    assert walk.cluster(t) == "DONE"
    assert multiset(walk.spark.read.format("delta").load(t)) == rows
    assert "positive" in str(walk.spark.sql(f"DESCRIBE DETAIL delta.`{t}`").head()["properties"])


def test_rows_are_appended_by_the_present_names_of_renamed_columns(walk):
    t = of_path(walk, "delta")
    mapping = {"columnMapping.mode": "name", "minReaderVersion": 2, "minWriterVersion": 5}
    properties = ", ".join(f"'delta.{key}' = '{value}'" for key, value in mapping.items())
    walk.spark.sql(f"ALTER TABLE delta.`{t}` SET TBLPROPERTIES ({properties})")
    table = ZOrderTable.forPath(walk.spark, t)
    assert walk.cluster(t) == "DONE"
    before = table.detail().head()["clusteringColumns"]
    walk.spark.sql(f"ALTER TABLE delta.`{t}` RENAME COLUMN a TO `an a`")
    rows = table.toDF().limit(7)
    count = table.toDF().count()
    table.append(walk.spark.createDataFrame(rows.collect(), rows.schema))
    assert table.toDF().count() == count + 7
    assert table.detail().head()["clusteringColumns"] == ["`an a`" if c == "a" else c for c in before]
    walk.spark.sql(f"ALTER TABLE delta.`{t}` DROP COLUMN `an a`")
    with pytest.raises(ValueError, match="no layout"):
        table.append(rows.drop("an a"))


def test_a_shallow_clone_leaves_its_source_alone(walk):
    t = of_path(walk, "delta")
    clone = str(walk.folder / "clone")
    walk.spark.sql(f"CREATE TABLE delta.`{clone}` SHALLOW CLONE delta.`{t}`")
    rows = read(walk, "delta", t)
    try:
        walk.cluster(clone)
    except Exception as e:
        assert "clone" in str(e).lower() or "outside" in str(e)
    else:
        walk.say("VACUUM", clone)
    assert read(walk, "delta", t) == rows == read(walk, "delta", clone)


def test_delta_merge_between_two_runs(walk):
    t = of_path(walk, "delta")
    walk.cluster(t)
    walk.spark.sql(
        f"MERGE INTO delta.`{t}` t USING (SELECT id, -id AS n FROM range(3900, 4100)) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET a = s.n "
        "WHEN NOT MATCHED THEN INSERT (id, a, b, p) VALUES (s.id, s.n, 0, 0)"
    )
    rows = read(walk, "delta", t)
    walk.cluster(t)
    assert read(walk, "delta", t) == rows
    assert sum(rows.values()) == 4_100


def test_appended_rows_get_into_the_tables_own_list(walk):
    walk.spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.hostile")
    walk.spark.sql("DROP TABLE IF EXISTS ice.hostile.appended")
    walk.rows().writeTo("ice.hostile.appended").create()
    warehouse = walk.spark.conf.get("spark.sql.catalog.ice.warehouse")
    for kind, t in (
        ("delta", of_path(walk, "delta")),
        ("iceberg", f"{warehouse}/hostile/appended"),
    ):
        assert walk.cluster(t) == "DONE"
        named = ZOrderTable.forPath(walk.spark, t)
        assert multiset(named.toDF()) == multiset(walk.rows())
        with pytest.raises(ValueError, match=f"is a table of the format {kind}, not parquet"):
            named.append(walk.rows(4_000, 4_100), "parquet")
        named.append(walk.rows(4_000, 4_100))
        assert read(walk, kind, t) == multiset(named.toDF()) == multiset(walk.rows(0, 4_100))
        assert walk.cluster(t) == "DONE"
        assert read(walk, kind, t) == multiset(walk.rows(0, 4_100))
    t = of_path(walk, "hudi")
    assert walk.cluster(t) == "DONE"
    rows, named = read(walk, "hudi", t), ZOrderTable.forPath(walk.spark, t)
    with pytest.raises(ValueError, match="is a Hudi table, whose writer needs its own options"):
        named.append(walk.rows(4_000, 4_100))
    assert read(walk, "hudi", t) == multiset(named.toDF().select("id", "a", "b", "p")) == rows


def test_two_statements_at_once(walk):
    t = of_path(walk, "delta")
    rows = read(walk, "delta", t)

    def run(columns):
        try:
            return walk.cluster(t, by=columns, how="FULL")
        except Exception as e:
            return str(e)

    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(run, ["a, b", "b, p"]))
    assert "DONE" in said and read(walk, "delta", t) == rows, said


def test_iceberg_with_a_tag_a_new_partitioning_and_a_delete(walk):
    walk.spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.hostile")
    walk.spark.sql("DROP TABLE IF EXISTS ice.hostile.t")
    walk.rows().writeTo("ice.hostile.t").tableProperty("write.delete.mode", "merge-on-read").create()
    walk.spark.sql("ALTER TABLE ice.hostile.t CREATE TAG before")
    walk.cluster("ice.hostile.t")
    walk.spark.sql("DELETE FROM ice.hostile.t WHERE id < 50")
    walk.spark.sql("ALTER TABLE ice.hostile.t ADD COLUMN extra STRING FIRST")
    walk.cluster("ice.hostile.t", how="FULL")
    found = walk.spark.table("ice.hostile.t").select("id", "a", "b", "p")
    assert multiset(found) == multiset(walk.rows(50))
    tagged = walk.spark.read.option("tag", "before").table("ice.hostile.t").select("id", "a", "b", "p")
    assert multiset(tagged) == multiset(walk.rows())


def test_hudi_upserts_around_a_run(walk):
    t = of_path(walk, "hudi")
    walk.cluster(t)
    change = walk.rows(3_990, 4_010).selectExpr("id", "-1L as a", "b", "p")
    change.write.format("hudi").options(**tables.HUDI).mode("append").save(t)
    wanted = multiset(walk.rows(0, 3_990).union(change))
    assert read(walk, "hudi", t) == wanted
    walk.cluster(t, how="FULL")
    assert read(walk, "hudi", t) == wanted


def test_a_format_by_the_wrong_name(walk):
    t = of_path(walk, "delta")
    rows = read(walk, "delta", t)
    walk.refused(f"ZORDER TABLE parquet.`{t}` BY (a)", "no Parquet table")
    assert read(walk, "delta", t) == rows
    assert walk.spark.sql(f"DESCRIBE HISTORY delta.`{t}`").count() == 1
    inside = walk.path("plain")
    walk.refused(f"ZORDER TABLE '{t}/_delta_log' BY (a)")
    assert walk.cluster(inside) == "DONE"
