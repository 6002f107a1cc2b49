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
