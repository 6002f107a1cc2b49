"""Sessions and tables of a race between two applications, on the local disk.

Iceberg's tables are in a catalog that compares and sets where their metadata is. A catalog that is a
directory needs a rename that never overwrites, and that of the local disk does: of 858 commits of two
applications, one was put over another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tables

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

# two rows of each id, equal in all columns
IDS = 10_000
FILES = 8
COLUMNS = "id BIGINT, a INT, b INT"
SOURCE = f"SELECT id % {IDS} id, cast(pmod(hash(id % {IDS}), 1000) AS int) a, cast(id % 97 AS int) b"
SQLITE = "org.xerial:sqlite-jdbc:3.50.3.0"
MODES = ("write.delete.mode", "write.update.mode", "write.merge.mode")


def iceberg(version: int, mode: str) -> dict[str, str]:
    return {"format-version": str(version), **dict.fromkeys(MODES, mode)}


# a table's format, and its properties
TABLES = {
    "delta-vectors": ("delta", {"delta.enableDeletionVectors": "true"}),
    "delta-copy": ("delta", {"delta.enableDeletionVectors": "false"}),
    "iceberg-v2": ("iceberg", iceberg(2, "merge-on-read")),
    "iceberg-v3": ("iceberg", iceberg(3, "merge-on-read")),
    "iceberg-v2-copy": ("iceberg", iceberg(2, "copy-on-write")),
    "iceberg-v3-copy": ("iceberg", iceberg(3, "copy-on-write")),
}


def start(folder: Path, ours: bool) -> SparkSession:
    """A session of one application; one without ours is Spark with Delta and Iceberg, as others have it."""
    extensions = [e for e in tables.session.EXTENSIONS if "hudi" not in e and (ours or "zorder" not in e)]
    more = {
        "spark__sql__extensions": ",".join(extensions),
        "spark__sql__catalog__ice__type": "jdbc",
        # one application waits while the other one commits
        "spark__sql__catalog__ice__uri": f"jdbc:sqlite:{folder / 'catalog.db'}?busy_timeout=60000",
        "spark__sql__catalog__ice__jdbc__schema-version": "V1",
    }
    return tables.start(folder, tables.session.peers.data.jars([SQLITE]), **more)


def create(spark: SparkSession, folder: Path, name: str, kind: str, cluster: str = "") -> str:
    """A table of six files, as SQL names it; `cluster` is a clause of Delta's for a liquid one."""
    storage, properties = TABLES[kind]
    table = f"ice.db.{name}" if storage == "iceberg" else f"delta.`{folder / name}`"
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
    spark.sql(f"CREATE TABLE {table} ({COLUMNS}) USING {storage} {cluster} TBLPROPERTIES ({listed})")
    source = f"SELECT /*+ REPARTITION(6) */ * FROM ({SOURCE.replace('id % 97', f'id % {IDS} % 97')}"
    spark.sql(f"INSERT INTO {table} {source} FROM range({2 * IDS}))")
    return table


def rows(spark: SparkSession, table: str) -> list[tuple[int, int, int]]:
    """All rows, nothing cached."""
    if table.startswith("delta"):
        spark.catalog.refreshByPath(table.split("`")[1])
    return [tuple(row) for row in spark.sql(f"SELECT id, a, b FROM {table}").collect()]


def words(error: Exception) -> str:
    """All that an exception says, with the classes of its causes."""
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    said = [str(error)]
    while java is not None and len(said) < 20:
        said.append(str(java.toString()))
        java = java.getCause()
    return "\n".join(said)
