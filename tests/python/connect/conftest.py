"""A Spark Connect session, server and client in one process. Run in a pytest of its own: no classic session
may exist beside it."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def connect(tmp_path_factory):
    """Configured by the package under test, as a user would do it."""
    import spark_zorder
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.remote("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("connect") / "warehouse"))
    )
    session = spark_zorder.configure(builder).getOrCreate()
    yield session
    session.stop()
