"""The table API, with the names that Delta users know."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Union

from . import _session, _skipping, _sql, functions, query_log
from ._errors import sentence
from ._layouts import Layout, stored
from .view.lines import visible
from .view.notebook import shown
from .view.steps import followed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import Column, DataFrame, Row, SparkSession
    from pyspark.sql.types import DataType, StructType

    Queries = Union[DataFrame, str, os.PathLike[str], list[str], tuple[str, ...]]


# what `zorder_history` says of what no run can have clustered
_NO_TABLE_OF_OURS = (
    "ZORDER_TABLE_NOT_FOUND",
    "ZORDER_TABLE_REFUSED.NOT_PARQUET",
    "ZORDER_TABLE_REFUSED.TEMPORARY_VIEW",
    "ZORDER_TABLE_REFUSED.VIEW",
    "ZORDER_SESSION_REFUSED.CATALOG_NOT_CONFIGURED",
)
# a name that no column of a user has
_KEY = "_zorder_place"


class ZOrderTable:
    """A catalog table or a directory of data files. Creating the object reads and checks nothing."""

    def __init__(self, spark: SparkSession, target: _sql.Target) -> None:
        """Use ``forName`` or ``forPath``."""
        if not isinstance(target, _sql.Target):
            raise TypeError("Use ZOrderTable.forName or ZOrderTable.forPath.")
        self._spark = spark
        self._target = target

    @classmethod
    def forName(cls, spark: SparkSession, name: str) -> ZOrderTable:
        """A table of the catalog, such as ``t`` or ``db.t``. Unusual characters need backquotes."""
        if not isinstance(name, str):
            raise TypeError(f"forName takes the name of a table as text, not {type(name).__name__}.")
        if _sql.is_path(name):
            raise ValueError(f"{name!r} is a path: use ZOrderTable.forPath.")
        target = _sql.Target(name, is_path=False)
        _sql.parts(name)
        return cls(spark, target)

    @classmethod
    def forPath(cls, spark: SparkSession, path: str | os.PathLike[str]) -> ZOrderTable:
        """A table by its directory."""
        return cls(spark, _sql.Target(_sql.path_text(path, "forPath"), is_path=True))

    @classmethod
    def _named(cls, spark: SparkSession, text: str) -> ZOrderTable:
        """A table by a path, if the text has a slash, or else by its name."""
        named = isinstance(text, str) and not _sql.is_path(text)
        return cls.forName(spark, text) if named else cls.forPath(spark, text)

    @classmethod
    def isZOrderTable(cls, spark: SparkSession, identifier: str) -> bool:
        """Whether the table, by its path or name, has a clustering run in its history.

        A view, a table of a format that runs do not take, and a catalog that the session does not know have
        none.
        """
        from pyspark.errors import AnalysisException

        try:
            return not cls._named(spark, identifier).history(1).isEmpty()
        except AnalysisException as error:
            if any(reason in str(error) for reason in _NO_TABLE_OF_OURS):
                return False
            raise

    def __repr__(self) -> str:
        """How to make the object."""
        return f"ZOrderTable.{'forPath' if self._target.is_path else 'forName'}(spark, {self._target.text!r})"

    def toDF(self, format: str | None = None) -> DataFrame:
        """The rows of the table.

        Of a table by path, a ``format`` other than its own raises ValueError; of one by name, ``format`` is
        not looked at.
        """
        if self._target.is_path:
            return self._spark.read.format(self._kind(format)["format"]).load(self._target.text)
        return self._spark.table(self._target.sql)

    def _kind(self, wanted: str | None = None) -> Row:
        """What the table itself says: ``zorder_format``. ``wanted`` is the format of a caller."""
        _session.require_functions(self._spark)
        kind: Row = _session.query(self._spark, _sql.format_of(self._target)).collect()[0]
        if wanted is not None and wanted.lower() != kind["format"]:
            raise ValueError(
                f"{self._target.text} is a table of the format {kind['format']}, not {wanted}: "
                "leave format out."
            )
        return kind

    def detail(self, format: str | None = None) -> DataFrame:
        """One row about the table: how it is clustered, when its newest run ended, its files and their bytes.

        ``clusteringColumns`` and ``curve`` are those of the newest run in force; NULL if there is none.
        ``runs`` counts all clustering runs that the history has. A ``format`` that is not that of a table by
        path raises ValueError.
        """
        from .audit import with_spark

        runs = self.history().collect()
        newest = _newest(runs)
        files, size = with_spark.files_and_bytes(self._spark, self._target, self.toDF(format))
        schema = "name STRING, clusteringColumns ARRAY<STRING>, curve STRING, runs INT, lastRun TIMESTAMP, "
        row = (
            self._target.text,
            self._kind()["clustering_columns"] if newest else None,
            newest["curve"] if newest else None,
            sum(r["operation"] == "OPTIMIZE" for r in runs),
            newest["finished"] if newest else None,
            files,
            size,
        )
        return shown(self._spark.createDataFrame([row], f"{schema}numFiles BIGINT, sizeInBytes BIGINT"))

    def optimize(self) -> OptimizeBuilder:
        """A clustering run. Its methods describe it; ``executeZOrderBy`` or ``execute`` starts it."""
        return OptimizeBuilder(self._spark, _sql.Clustering(self._target))

    def advise(self, queries: Queries | None = None) -> DataFrame:
        """Proposes by which columns to cluster the table, and whether to. One row a proposal, the best first.

        The call reads footers and a sample of rows, and writes nothing. ``queries`` takes what
        ``OptimizeBuilder.queries`` takes. Without queries, every column counts the same.
        """
        return self._found(lambda log: _sql.advice(self._target, log), queries)

    def audit(self, *columns: str | list[str] | tuple[str, ...], queries: Queries | None = None) -> DataFrame:
        """Shows how well the table is clustered, and what to run: the table first, then its partitions.

        The call reads footers or a statistics index, but no data, and writes nothing. ``columns`` are SQL
        names, given one by one or as one list. Without columns, it audits those that the table names itself
        or was last clustered by. ``queries`` takes what ``OptimizeBuilder.queries`` takes. With queries, the
        verdict says whether they filter these columns. docs/guide/audit.md explains the columns of the
        result.
        """
        names = _sql.one_by_one(columns)
        return self._found(lambda log: _sql.audit(self._target, names, log), queries)

    def _found(self, statement: Callable[[str | None], str], queries: Queries | None) -> DataFrame:
        """Runs the statement at once, since the log may be gone when a lazy frame is used."""
        _session.require_functions(self._spark)
        log = None if queries is None else _log_of(self._spark, queries)
        if log is None or isinstance(log, str):
            return self._rows(statement(log))
        with _session.viewed(log) as view:
            return self._rows(statement(view))

    def _rows(self, statement: str) -> DataFrame:
        found = _session.query(self._spark, statement)
        return shown(self._spark.createDataFrame(found.collect(), found.schema))

    def history(self, limit: int | None = None) -> DataFrame:
        """The clustering runs of the table and its rollbacks, or the newest ``limit`` of them, oldest first.

        ``operation`` tells them apart. ``status`` is ``DONE``, or ``ROLLED_BACK`` if a later rollback undid
        the run. A run that changed nothing, such as one that ended as ``NO_GAIN``, is not listed. ``report``
        has the run's row as JSON. Delta's history has the newest first: take ``history(1)`` for the newest.
        """
        _session.require_functions(self._spark)
        return shown(_session.query(self._spark, _sql.history(self._target, limit)))

    def index(
        self,
        *columns: str | list[str] | tuple[str, ...],
        bloom: Sequence[str] = (),
        bloomBudget: str | None = None,  # noqa: N803
        values: Sequence[str] = (),
    ) -> DataFrame:
        """Makes a statistics index, with which queries of the table skip files.

        The call reads footers, and writes no data. ``columns``, one by one or as one list, are SQL names, or
        expressions such as ``"lower(email)"``; the columns of expressions are read. Other than in
        ``executeZOrderBy``, a name with unusual characters needs backquotes: ``"customer-id"`` is a
        subtraction. Without columns, the index has all columns with bounds in the files, at most 64, and the
        expressions that the table is clustered by. Columns in ``bloom`` also get Bloom filters, which find
        single values; these columns are read. Filters larger than ``bloomBudget`` are refused. It is a share
        of the data such as ``"10%"``, which is the default, or a size such as ``"2g"``. For columns in
        ``values``, the index stores the values instead of ranges if a file has at most 32; this reads
        dictionaries. Of a Delta or Iceberg table, whose format keeps ranges itself, the index has ``bloom``,
        ``values`` and expressions alone. The result is one row: ``path``, ``status``, ``files``,
        ``footers_read``, ``columns``, ``bytes``, ``bloom_bytes`` and ``bloom_files_read``.
        """
        statement = _sql.index(self._target, _sql.one_by_one(columns), bloom, bloomBudget, values)
        return self._run(statement, [*bloom, *values, bloomBudget or ""])

    def refreshIndex(self) -> DataFrame:  # noqa: N802
        """Reads the footers of new and changed files into the index. The result is a row as of ``index``."""
        return self._run(_sql.index_statement(self._target, "REFRESH"))

    def describeIndex(self) -> DataFrame:  # noqa: N802
        """Shows what the index knows, with one row for each column.

        Columns: ``column``, ``data_type``, the numbers of files in all (``files``), with ranges
        (``with_ranges``), with NULLs alone (``only_nulls``) and of which nothing is known (``unknown``),
        ``ranges``, ``bloom_files``, ``bloom_bytes``, ``value_files`` and ``note``.
        """
        return self._run(_sql.index_statement(self._target, "DESCRIBE"))

    def dropIndex(self) -> DataFrame:  # noqa: N802
        """Deletes the index. Queries then read what they read before it was made."""
        return self._run(_sql.index_statement(self._target, "DROP"))

    def explainSkipping(self, df: DataFrame) -> DataFrame:  # noqa: N802
        """Explains what the scans of this table in a query skip, and why not more. The query is not run.

        Only for plain Parquet on a classic session. Elsewhere take ``spark_zorder.explain_skipping``, which
        returns the rows of all tables of the query.
        """
        return shown(_skipping.explained(df, self._target))

    def vacuum(
        self,
        retention_hours: float | None = None,
        late_files: str | None = None,
        dry_run: bool = False,
        *,
        retentionHours: float | None = None,  # noqa: N803
    ) -> DataFrame:
        """Deletes old files, once they are older than the retention time.

        Of plain Parquet these are files that runs replaced. On Delta it is Delta's ``VACUUM``, on Hudi its
        cleaner. On Iceberg it expires snapshots, whoever wrote them, and deletes their files. Without
        ``retention_hours`` it never keeps less than the properties of a Delta or Iceberg table say. Delta
        refuses 0 hours while its safety check is on.

        ``retentionHours``, as Delta calls it, is another name of ``retention_hours``.

        The retention time is the table's ``zorder.retention``, else ``spark.zorder.retention`` of the
        session, else 7 days. With ``dry_run`` it says what it would delete, and deletes nothing. The result
        has a row for each directory: ``path``, ``files_deleted``, ``bytes_deleted``, ``files_carried_over``,
        ``status``, and ``reason``, which says why files stay, and what to do.

        A job may have written files of plain Parquet to a directory after a run had moved the table's files
        away from it. ``late_files`` says what to do: ``"append"`` adds their rows, ``"replace"`` puts them in
        place of the table's rows there, and ``"ignore"`` leaves them out. Without it, such files stop the
        vacuum, and nothing is changed.
        """
        if retentionHours is not None:
            if retention_hours is not None:
                raise TypeError("retention_hours and retentionHours are the same: give one of them.")
            retention_hours = retentionHours
        return self._run(_sql.vacuum(self._target, retention_hours, late_files, dry_run))

    def rollback(self) -> DataFrame:
        """Brings back the state before the newest run, as long as its files are kept.

        Rows of plain Parquet that came since stay; Delta, Iceberg and Hudi tables that others have written to
        since are refused. The result is one row. Raises AnalysisException if there is no run that can be
        undone.
        """
        return self._run(_sql.rollback(self._target))

    def remove(self, home: str | None = None) -> DataFrame:
        """Deletes everything that spark-zorder keeps beside the table. The rows do not change.

        Files of plain Parquet that have moved go back to where they were before the first run. On an object
        store this copies the table, so ``home`` must be given there: ``"move"``, or ``"stay"`` to leave the
        files where they are. The result is one row, whose ``status`` is REMOVED or NOTHING_TO_DO.
        """
        return self._run(_sql.remove(self._target, home))

    def arrange(self, df: DataFrame) -> DataFrame:
        """The DataFrame in the order of the stored layout, so that any writer keeps neighbours together.

        The boundaries are stored, so nothing is fitted. Spark samples the key to cut it into ranges. Raises
        ValueError if no run in force has stored a layout, if the DataFrame lacks a column of it, or if the
        table is partitioned: each partition has a layout of its own.
        """
        return self._in_order(df, self._kind())

    def _in_order(self, df: DataFrame, kind: Row) -> DataFrame:
        self._require_whole(kind, "write the rows with Spark, and the next run puts them in order")
        names = kind["clustering_columns"]
        if not names:
            raise ValueError(
                f"{self._target.text} has no layout yet, or a column of it was dropped: "
                "cluster it first, with optimize()."
            )
        key = functions.zorder_key(self._target.layout, *_found_in(df, self._target.text, names))
        keyed = df.withColumn(_KEY, key)
        return keyed.repartitionByRange(_KEY).sortWithinPartitions(_KEY).drop(_KEY)

    def _require_whole(self, kind: Row, advice: str) -> None:
        if kind["partitioned"]:
            raise ValueError(
                f"{self._target.text} is partitioned, and each partition has a layout of its own: {advice}."
            )

    def append(self, df: DataFrame, format: str | None = None) -> None:
        """Appends rows in layout order, so that each new file spans a narrow part of the layout.

        Columns are matched by name. A table by name is written through its catalog, a table by path in its
        own format; another ``format`` raises ValueError. So do partitioned tables, as for ``arrange``,
        columns that a table by name does not have, structs whose fields differ from the table's in name or
        order, and Hudi by path. The next clustering run moves the rows
        into their cells, or leaves them in files of their own. A statistics index is refreshed; if that
        fails, a warning says so.
        """
        kind = self._kind(format if self._target.is_path else None)
        if self._target.is_path and kind["format"] == "hudi":
            raise ValueError(
                f"{self._target.text} is a Hudi table, whose writer needs its own options: "
                "write the rows with Spark, and the next run puts them in order."
            )
        schema = None if self._target.is_path else self._spark.table(self._target.sql).schema
        if schema is not None:
            self._require_columns(schema, df.schema)
        placed = self._in_order(df, kind)
        if schema is None:
            placed.write.mode("append").format(kind["format"]).save(self._target.text)
        else:
            placed.select(*[_sql.quoted(c) for c in schema.names]).write.insertInto(self._target.sql)
        try:
            refresh = _sql.refresh_index_if_exists(self._target)
            _session.run(self._spark, refresh, self._target.texts).collect()
        except Exception as error:
            # the rows are there: who takes this for a failure would append them again
            warnings.warn(
                f"The rows are appended. The index is behind: ZORDER REFRESH INDEX {self._target.sql}. "
                f"{sentence(error)}",
                stacklevel=2,
            )

    def _require_columns(self, schema: StructType, given: StructType) -> None:
        exact = self._spark.conf.get("spark.sql.caseSensitive", "false") == "true"

        def spelled(name: str) -> str:
            return name if exact else name.lower()

        known = {spelled(field.name): field.dataType for field in schema.fields}
        unknown = [name for name in given.names if spelled(name) not in known]
        if unknown:
            raise ValueError(
                f"{self._target.text} has no column {', '.join(unknown)}: add it to the table, "
                "or leave it out of the rows."
            )
        for field in given.fields:
            # Spark inserts by position, inside of columns, too
            if not _same_fields(field.dataType, known[spelled(field.name)], spelled):
                raise ValueError(
                    f"Structs in {field.name} have other fields than those in {self._target.text}, or in "
                    "another order: make them with named_struct, in the order of the table."
                )

    def _run(self, statement: str, more: Sequence[str] = ()) -> DataFrame:
        return shown(_session.run(self._spark, statement, [*self._target.texts, *more]))

    def layout(self) -> Layout | None:
        """The layout that the newest run has stored, or None.

        Raises ValueError for a partitioned table, and SetupError on Spark Connect.
        """
        self._require_whole(self._kind(), f"functions take one by its id, as in {self._target.layout}#id")
        return stored(self._spark, self._target)


def _same_fields(given: DataType, known: DataType, spelled: Callable[[str], str]) -> bool:
    """Whether structs have the same fields in the same order, at any depth."""
    from pyspark.sql import types

    if isinstance(given, types.StructType) and isinstance(known, types.StructType):
        if [spelled(name) for name in given.names] != [spelled(name) for name in known.names]:
            return False
        pairs = [(g.dataType, k.dataType) for g, k in zip(given.fields, known.fields)]
    elif isinstance(given, types.ArrayType) and isinstance(known, types.ArrayType):
        pairs = [(given.elementType, known.elementType)]
    elif isinstance(given, types.MapType) and isinstance(known, types.MapType):
        pairs = [(given.keyType, known.keyType), (given.valueType, known.valueType)]
    else:
        pairs = []
    return all(_same_fields(g, k, spelled) for g, k in pairs)


class OptimizeBuilder:
    """A clustering run. Methods return a new builder and run nothing, but for those that execute."""

    def __init__(
        self, spark: SparkSession, clustering: _sql.Clustering, log: DataFrame | None = None
    ) -> None:
        """Use ``ZOrderTable.optimize()``."""
        self._spark = spark
        self._clustering = clustering
        self._log = log

    def __repr__(self) -> str:
        """The statement so far."""
        return f"<{visible(self._clustering.sql)}: not run yet, call execute() or executeZOrderBy(...)>"

    def where(self, predicate: str) -> OptimizeBuilder:
        """Takes only the files that lie wholly inside a SQL predicate. Several calls are joined by AND.

        With ``option("overlap", "include")`` it also takes those that only overlap it.
        """
        if not isinstance(predicate, str):
            raise TypeError(f"where takes a SQL predicate as text, not {type(predicate).__name__}.")
        return self._with(self._clustering.filtered(predicate))

    def usingCurve(self, curve: str) -> OptimizeBuilder:
        """Sets the curve: ``auto`` (default), ``zorder``, ``hilbert``, ``lexical`` or ``tree``."""
        return self._with(replace(self._clustering, curve=curve))

    def option(self, name: str, value: _sql.Value) -> OptimizeBuilder:
        """Sets one option by its name in ``WITH (...)``: ``option("targetFileSize", "256m")``.

        Columns, as of ``bloom``, are a list, or one text with commas.
        """
        return self.options(**{name: value})

    def options(self, **values: _sql.Value) -> OptimizeBuilder:
        """Sets several options at once. Case does not matter, and the later one counts."""
        clustering = self._clustering
        for name, value in values.items():
            clustering = clustering.option(name, value)
        replaced = any(name.lower() == "querylog" for name in values)
        return OptimizeBuilder(self._spark, clustering, None if replaced else self._log)

    def queries(self, log: Queries) -> OptimizeBuilder:
        """Sets the queries that the layout is made for.

        ``log`` is a query log as a DataFrame, the table or path that holds one, or a list of SQL texts. The
        texts are not run.
        """
        found = _log_of(self._spark, log)
        if isinstance(found, str):
            return self.option("queryLog", found)
        return OptimizeBuilder(self._spark, self._clustering, found)

    def into(self, path: str | os.PathLike[str]) -> OptimizeBuilder:
        """Writes a clustered copy to a path and leaves the table alone."""
        # without a path the statement would rewrite the table itself
        return self._with(replace(self._clustering, into=_sql.path_text(path, "into")))

    def full(self) -> OptimizeBuilder:
        """Takes all files, even if they are in their place already, and however small the gain is."""
        return self._with(replace(self._clustering, full=True))

    def dryRun(self) -> OptimizeBuilder:
        """Makes it a forecast only, which writes nothing."""
        return self._with(replace(self._clustering, dry_run=True))

    def executeZOrderBy(self, *cols: str | list[str] | tuple[str, ...]) -> DataFrame:
        """Clusters by these columns, given one by one or as one list, and returns the result row.

        A text may name several, as in ``"a, b"``, and one with a bracket is an expression, such as
        ``"lower(s)"``. A name that has a comma or a bracket itself needs backquotes.

        The result is one row. ``status`` is DONE, PARTIAL, DRY_RUN, NOTHING_TO_DO, NO_GAIN or TOO_SMALL, and
        ``reason`` says why; ``metrics`` has bytes and milliseconds; ``columns``, ``queries``, ``others`` and
        ``alternatives`` have the shares that look-ups read. What cannot be done raises AnalysisException; a
        commit that others were faster than has the SQLSTATE 40001 (``ZORDER_CONFLICT``).

        Examples:
            >>> t = ZOrderTable.forName(spark, "db.events")
            >>> t.optimize().dryRun().executeZOrderBy("customer", "product")
            >>> t.optimize().where("day >= '2026-01-01'").executeZOrderBy("customer", "product")
        """
        names = _sql.one_by_one(cols)
        if not names:
            raise ValueError("executeZOrderBy takes at least one column; execute() takes those of the table.")
        return self._with(replace(self._clustering, by=names)).execute()

    def execute(self) -> DataFrame:
        """Clusters by the table's own columns.

        These are those of ``zorder.by``, else of the format or of CLUSTER BY, else of the newest run. Returns
        and raises what ``executeZOrderBy`` does; AnalysisException if the table names none.
        """
        with followed(self._spark):
            if self._log is None:
                return self._run(self._clustering)
            with _session.viewed(self._log) as view:
                return self._run(self._clustering.option("queryLog", view))

    def _run(self, clustering: _sql.Clustering) -> DataFrame:
        return shown(_session.run(self._spark, clustering.sql, clustering.texts))

    def _with(self, clustering: _sql.Clustering) -> OptimizeBuilder:
        return OptimizeBuilder(self._spark, clustering, self._log)


def _log_of(spark: SparkSession, queries: Queries) -> DataFrame | str:
    """A query log as a DataFrame, or the name of one."""
    if isinstance(queries, (str, os.PathLike)):
        return _sql.path_text(queries, "queries")
    if isinstance(queries, (list, tuple)):
        return query_log.of_sql(spark, queries)
    if not hasattr(queries, "createOrReplaceTempView"):
        raise TypeError("queries takes a DataFrame, the table or path of a log, or a list of SQL texts.")
    _session.require_same(spark, queries)
    return queries


def _newest(runs: Sequence[Row]) -> Row | None:
    """The newest run that no rollback has undone. Its columns are SQL."""
    return next((r for r in reversed(runs) if r["operation"] == "OPTIMIZE" and r["status"] == "DONE"), None)


def _found_in(df: DataFrame, table: str, names: Sequence[str]) -> list[Column]:
    """The columns of the DataFrame by these names. A ValueError names the first missing one."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as sf

    for name in names:
        try:
            _ = df.select(sf.expr(name)).schema  # resolved now, by the server if there is one
        except AnalysisException:
            by = ", ".join(names)
            raise ValueError(
                f"{table} is clustered by {by}, and the DataFrame has no {name}: add it."
            ) from None
    return [sf.expr(name) for name in names]
