"""Settings that are wrong, odd, or somebody else's."""

from __future__ import annotations

import pytest

BAD = [
    "fileCount = 0",
    "fileCount = -3",
    "fileCount = 99999999999",
    "targetFileSize = '-1g'",
    "targetFileSize = '1e9'",
    "minGain = 2",
    "minGain = 'NaN'",
    "maxDuration = '7'",
    "maxDuration = '-2h'",
    "retention = '7d'",
    "verify = 'twice'",
    "codec = 'zip'",
    "pageRowLimit = 0",
    "bloom = 'nosuch'",
    "overlap = 'maybe'",
    "queryLog = '/nowhere/at/all'",
    "force = 'yes please'",
    "timestampType = 'nanos'",
]


@pytest.mark.parametrize("option", BAD)
def test_options_that_cannot_be(walk, option):
    t = walk.path("t", walk.rows(0, 200))
    name, _, value = option.partition(" = ")
    said = walk.refused(f"ZORDER TABLE '{t}' BY (a, b) WITH ({option})")
    assert name in said or value.strip("'") in said


@pytest.mark.parametrize(
    "key",
    [
        "fileCount",
        "targetFileSize",
        "retention",
        "minGain",
        "maxDuration",
        "commit.waitSeconds",
        "progress.show",
    ],
)
def test_a_bad_default_of_the_session_harms_nobody_else(walk, key):
    t = walk.path("t", walk.rows(0, 200))
    try:
        walk.spark.conf.set(f"spark.zorder.{key}", "rubbish")
    except Exception as e:
        assert key in str(e)
        return
    try:
        assert walk.spark.sql("SELECT 1").count() == 1
        assert walk.spark.read.parquet(t).count() == 200
        try:
            walk.cluster(t)
        except Exception as e:
            assert key in str(e)
    finally:
        walk.spark.conf.unset(f"spark.zorder.{key}")
    assert walk.spark.read.parquet(t).count() == 200


def test_settings_of_the_session_that_would_spoil_a_rewrite(walk):
    t = walk.path(
        "t", walk.rows(0, 3_000).selectExpr("*", "timestamp_ntz'2020-01-01' + make_dt_interval(id) ts")
    )
    rows = walk.read(t)
    with walk.settings(
        spark__sql__files__maxRecordsPerFile="10",
        spark__sql__parquet__outputTimestampType="TIMESTAMP_MILLIS",
        spark__sql__session__timeZone="Asia/Kathmandu",
        spark__sql__parquet__compression__codec="gzip",
        spark__sql__files__ignoreCorruptFiles="true",
        spark__sql__parquet__aggregatePushdown="true",
        spark__sql__ansi__enabled="true",
        spark__sql__adaptive__enabled="true",
        spark__sql__shuffle__partitions="1",
        spark__sql__parquet__fieldId__write__enabled="false",
    ):
        assert walk.cluster(t, by="a, ts") == "DONE"
    assert walk.read(t) == rows


def test_properties_of_the_table_that_are_wrong(walk):
    name = walk.managed("m_props")
    walk.spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('zorder.by' = 'a, nosuch')")
    walk.refused(f"ZORDER TABLE {name}", "nosuch")
    walk.spark.sql(
        f"ALTER TABLE {name} SET TBLPROPERTIES ('zorder.by' = 'a, b', 'zorder.fileCount' = 'many')"
    )
    walk.refused(f"ZORDER TABLE {name}", "many")
