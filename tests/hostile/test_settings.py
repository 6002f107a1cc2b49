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
    spoil = {
        "spark.sql.files.maxRecordsPerFile": "10",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS",
        "spark.sql.session.timeZone": "Asia/Kathmandu",
        "spark.sql.parquet.compression.codec": "gzip",
        "spark.sql.files.ignoreCorruptFiles": "true",
        "spark.sql.parquet.aggregatePushdown": "true",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.parquet.fieldId.write.enabled": "false",
    }
    for key, value in spoil.items():
        walk.spark.conf.set(key, value)
    try:
        assert walk.cluster(t, by="a, ts") == "DONE"
    finally:
        for key in spoil:
            walk.spark.conf.unset(key)
        walk.spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert walk.read(t) == rows


def test_properties_of_the_table_that_are_wrong(walk):
    name = walk.managed("m_props")
    walk.spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('zorder.by' = 'a, nosuch')")
    walk.refused(f"ZORDER TABLE {name}", "nosuch")
    walk.spark.sql(
        f"ALTER TABLE {name} SET TBLPROPERTIES ('zorder.by' = 'a, b', 'zorder.fileCount' = 'many')"
    )
    walk.refused(f"ZORDER TABLE {name}", "many")
