"""One session with Delta, Iceberg, Hudi and ours, and a folder of its own for every case."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "fault"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
import tables
from left import pytest_deselected  # noqa: F401  (a hook)
from oracle import Walk

# of so many cases `make test` takes one, always the same ones; `make test-all` takes all
SHARE = 4
# `make test` takes these whatever their share is: no other cases are about Iceberg, or what Python appends
ALWAYS = {
    "test_iceberg_with_a_tag_a_new_partitioning_and_a_delete",
    "test_appended_rows_get_into_the_tables_own_list",
}


def pytest_collection_modifyitems(items):
    """Chosen by its name, a case stays where it is when others come."""
    for item in items:
        if zlib.crc32(item.nodeid.encode()) % SHARE and item.name not in ALWAYS:
            item.add_marker("long")


@pytest.fixture(scope="session")
def session(tmp_path_factory):
    """Quick to answer: small tables, two cores."""
    spark = tables.start(
        tmp_path_factory.mktemp("session"),
        spark__sql__session__timeZone="UTC",
        spark__sql__parquet__outputTimestampType="TIMESTAMP_MICROS",
        spark__sql__parquet__int96RebaseModeInWrite="CORRECTED",
        spark__sql__parquet__datetimeRebaseModeInWrite="CORRECTED",
        **tables.QUICK_START,
    )
    yield spark
    spark.stop()


@pytest.fixture
def walk(session, tmp_path):
    """The case's own folder, and what it checks itself by; its tables are gone afterwards."""
    made = Walk(session, tmp_path)
    yield made
    session.sql("USE spark_catalog.default")
    for name in made.names:
        session.sql(f"DROP TABLE IF EXISTS {name}")
