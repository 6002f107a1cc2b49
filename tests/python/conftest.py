"""The classic session, configured by the package under test, and a small table."""

from __future__ import annotations

import pytest
from left import pytest_deselected  # noqa: F401  (a hook)
from support import plain_builder, write_table


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A classic session, configured by the package under test."""
    import spark_zorder

    session = spark_zorder.configure(plain_builder(tmp_path_factory.mktemp("spark"))).getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def table(spark, tmp_path):
    """The path of a small Parquet table."""
    return write_table(spark, tmp_path / "t")


@pytest.fixture
def folder(tmp_path):
    """Ten files of two row groups each, with page indexes: `a` ascends, `b` does not."""
    import pyarrow as pa
    from pyarrow import parquet

    root = tmp_path / "t"
    root.mkdir()
    for n in range(10):
        rows = {"a": range(100 * n, 100 * n + 100), "b": [(i * 37) % 100 for i in range(100)]}
        table = pa.table({name: list(values) for name, values in rows.items()})
        options = {"row_group_size": 50, "write_page_index": True}
        parquet.write_table(table, root / f"part-{n}.parquet", **options)
    return str(root)
