"""Breaks rules of skipping and of runs one by one in a copy of the sources: a suite must fail each time.

``make mutants`` takes more than an hour: each mutant is compiled and tested. Arguments: those to run
alone. A mutant whose text is not found, or that does not compile, is an error of this list.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
COPY = TOP / "target" / "mutants"
SKIP = "jvm/spark/src/main/scala/org/apache/spark/sql/zorder/skipping"
PREDICATE = "jvm/spark/src/main/scala/org/apache/spark/sql/zorder/skipping/predicate"
STATS = "jvm/spark/src/main/scala/org/apache/spark/sql/zorder/stats"
PLANNED = "org/apache/spark/sql/zorder/skipping/scan"
DELTA = f"jvm/spark/src/main/scala-delta/{PLANNED}/delta"
ICEBERG = f"jvm/spark/src/main/scala-iceberg/{PLANNED}/iceberg"
RUN = "jvm/spark/src/main/scala/org/apache/spark/sql/zorder/clustering"
TABLE = "org/apache/spark/sql/zorder/table"


@dataclass(frozen=True)
class Mutant:
    """One change of one file, and the suite that must fail by it, or its tests with some words."""

    name: str
    file: str
    old: str
    new: str
    suite: str = "FilterOracleSuite"
    test: str = ""


MUTANTS = [
    Mutant(
        "row groups without statistics are skipped",
        f"{SKIP}/index/FileColumn.scala",
        "else if (zones.contains(Zone.Unknown)) Unknown\n",
        "\n",
        "SkippingSuite",
        "the rule",
    ),
    Mutant(
        "no range means all NULL",
        f"{STATS}/ParquetZones.scala",
        "if (nulls(chunk).contains(chunk.getValueCount)) Zone.OnlyNulls else Zone.Unknown",
        "if (nulls(chunk).contains(chunk.getValueCount) || chunk != null) Zone.OnlyNulls else Zone.Unknown",
        "SkippingSuite",
        "the rule",
    ),
    Mutant(
        "what is unknown prunes",
        f"{SKIP}/index/ColumnRanges.scala",
        "case _ => condition.intervals.nonEmpty || nulls(f) != 0",
        "case _ => condition.orNull && nulls(f) != 0",
    ),
    Mutant(
        "bounds are swapped",
        f"{SKIP}/index/ColumnRanges.scala",
        "if (highs(i) < mins(r)) i = ends.firstAtLeast(mins(r))\n"
        "        else if (lows(i) <= maxs(r)) met = true",
        "if (highs(i) < maxs(r)) i = ends.firstAtLeast(maxs(r))\n"
        "        else if (lows(i) <= mins(r)) met = true",
    ),
    Mutant(
        "NULLs of real scans are lost",
        f"{SKIP}/index/ColumnRanges.scala",
        "condition.orNull && nulls(f) != 0 || test.meetsAny(offsets(f), offsets(f + 1))",
        "test.meetsAny(offsets(f), offsets(f + 1))",
        "RealScanSuite",
    ),
    Mutant(
        "NULLs beside values are lost",
        f"{SKIP}/index/ColumnRanges.scala",
        "condition.orNull && nulls(f) != 0 || test.meetsAny(offsets(f), offsets(f + 1))",
        "test.meetsAny(offsets(f), offsets(f + 1))",
    ),
    Mutant(
        "files of NULLs are lost",
        f"{SKIP}/index/ColumnRanges.scala",
        "case ColumnRanges.OnlyNulls => condition.orNull",
        "case ColumnRanges.OnlyNulls => false",
    ),
    Mutant(
        "< for <= in a filter",
        f"{PREDICATE}/Predicates.scala",
        "case _: LessThanOrEqual => Some(ColumnPredicate(c, ray(None, Some(w)), above(c, w)))",
        "case _: LessThanOrEqual => Some(ColumnPredicate(c, below(c, w), above(c, w)))",
    ),
    Mutant(
        "< for <= between a filter and a range",
        f"{SKIP}/index/ColumnRanges.scala",
        "else if (lows(i) <= maxs(r)) met = true",
        "else if (lows(i) < maxs(r)) met = true",
    ),
    Mutant(
        "a negation is lost",
        f"{PREDICATE}/Predicates.scala",
        "case Not(child) => where(child, !truth, sets)",
        "case Not(child) => where(child, truth, sets)",
    ),
    Mutant(
        "NOT (a AND b) as NOT a AND NOT b",
        f"{PREDICATE}/Predicates.scala",
        "case And(l, r) => if (truth) all(e, truth, sets) else sets.or(part(l), part(r))",
        "case And(l, r) => sets.and(part(l), part(r))",
    ),
    Mutant(
        "the racy rule is off",
        f"{SKIP}/index/StatisticsIndex.scala",
        "else if (readAt(number) - IndexedFiles.RacyMs < modifiedAt) Left(NoEntry.Racy)\n",
        "\n",
        "SkippingSuite",
        "written while the index was made",
    ),
    Mutant(
        "changed files keep their entries",
        f"{SKIP}/index/StatisticsIndex.scala",
        "else if (lengths(number) != length || modified(number) != modifiedAt) Left(NoEntry.Changed)\n",
        "\n",
        "SkippingSuite",
        "new, changed or gone",
    ),
    Mutant(
        "a default of old files counts as NULL",
        f"{SKIP}/SkippingRule.scala",
        "(partitionSchema.fieldNames ++ taken).toSet",
        "partitionSchema.fieldNames.toSet ++ taken.take(0)",
        "SkippingSuite",
        "a default stands",
    ),
    Mutant(
        "hours that come twice are overlooked",
        f"{PREDICATE}/MonotoneFunction.scala",
        "if (rules.isFixedOffset) 0L",
        "if (rules != null) 0L",
        "MonotoneFunctionSuite",
    ),
    Mutant(
        "hours that are left out are overlooked",
        f"{PREDICATE}/MonotoneFunction.scala",
        "t.isGap == ofLocal",
        "t.isGap && !ofLocal",
        "MonotoneFunctionSuite",
        "local times",
    ),
    Mutant(
        "a time that is cut to one that clocks leave out counts as that",
        f"{PREDICATE}/MonotoneFunction.scala",
        "!exact && movesBorder(t)",
        "!exact && movesBorder(t) && ofLocal",
        "MonotoneFunctionSuite",
        "behind those that clocks leave out",
    ),
    Mutant(
        "texts of years beyond 9999 are in order",
        f"{PREDICATE}/MonotoneFunction.scala",
        "if (asText) (FirstTextDay, LastTextDay) else",
        "if (asText && SafeDays < 0) (FirstTextDay, LastTextDay) else",
        "MonotoneFunctionSuite",
        "texts of days",
    ),
    Mutant(
        "counts that contradict each other are believed",
        f"{STATS}/ParquetZones.scala",
        "chunk.getValueCount == rows && nulls(chunk).forall(_ <= rows)",
        "chunk != null && rows >= 0",
        "BelievedStatisticsSuite",
    ),
    Mutant(
        "a function's last value is left out",
        f"{PREDICATE}/MonotoneFunction.scala",
        "first(w < _) - 1",
        "first(w <= _) - 1",
        "MonotoneFunctionSuite",
    ),
    Mutant(
        "a negation within a conjunction is lost",
        f"{PREDICATE}/Predicates.scala",
        "case Not(child) => conjuncts(child, !truth)",
        "case Not(child) => conjuncts(child, truth)",
    ),
    Mutant(
        "two tests of one column are asked of a column that is not answered",
        f"{PREDICATE}/Predicates.scala",
        "case (e, _) => e.references.size == 1 && !sets.unanswered(e)",
        "case (e, _) => e.references.size == 1",
        "SkippingSuite",
        "a default stands",
    ),
    Mutant(
        "pages without dictionary are overlooked",
        f"{STATS}/FooterReader.scala",
        "pages.hasDictionaryEncodedPages &&\n    !pages.hasNonDictionaryEncodedPages",
        "pages.hasDictionaryEncodedPages",
        "ValueSetSuite",
        "wholly encoded",
    ),
    Mutant(
        "row groups after the first have no further values",
        f"{STATS}/Dictionaries.scala",
        "              all = values ++ here\n",
        "              all = if (values.isEmpty) here else values\n",
        "ValueSetSuite",
    ),
    Mutant(
        "values that cannot be all are believed",
        f"{SKIP}/index/FileColumn.scala",
        "inside.head == ranges.head._1 && inside.last == ranges.last._2",
        "inside.head == ranges.head._1 || inside.nonEmpty",
        "ValueSetSuite",
        "mislead",
    ),
    Mutant(
        "an expression of another time zone is the same",
        f"{SKIP}/index/ExpressionMeaning.scala",
        "case _ => e.productIterator.filterNot(isExpression).map(text).toSeq",
        "case _ => e.productIterator.filterNot(isExpression).map(text).take(0).toSeq",
        "ExpressionIndexSuite",
        "means another thing",
    ),
    Mutant(
        "dates that nobody knows the bounds of are believed in expressions",
        f"{SKIP}/make/IndexBuilder.scala",
        "dated.forall(c => !file.footer.rowGroups.exists(_.zones(c) == Zone.Unknown))",
        "dated.forall(c => !file.footer.rowGroups.exists(_.zones(c) == Zone.Unknown) || c >= 0)",
        "ExpressionIndexSuite",
        "old kinds",
    ),
    Mutant(
        "a file that was read in part is believed",
        f"{SKIP}/make/IndexBuilder.scala",
        "values.filter(_.rows == footer.rows)",
        "values",
        "ExpressionIndexSuite",
        "damaged",
    ),
    Mutant(
        "names stay as the statement spells them",
        f"{SKIP}/scan/PruningScan.scala",
        "= ColumnPath.asDeclared(e, relation.output)",
        "= if (relation.output.isEmpty) ColumnPath.asDeclared(e, relation.output) else e",
        "AggregateSuite",
        "another case",
    ),
    Mutant(
        "what the session listed is believed",
        f"{SKIP}/AggregateRule.scala",
        "if (same) f else",
        "if (same || status != null) f else",
        "AggregateSuite",
        "written over",
    ),
    Mutant(
        "the types of an expression's parts do not count",
        f"{SKIP}/index/ExpressionMeaning.scala",
        'to.append("):").append(TypeText.of(e.dataType))',
        'to.append(")")',
        "ExpressionIndexSuite",
        "another scale",
    ),
    Mutant(
        "any function can be indexed",
        f"{SKIP}/index/ExpressionMeaning.scala",
        "case _ if !isListed(e) => Some(e)",
        "case _ if !isListed(e) && e.children.isEmpty => Some(e)",
        "ExpressionIndexSuite",
        "no index can hold",
    ),
    Mutant(
        "sixteen bytes are above all strings of a prefix",
        f"{PREDICATE}/ConditionAlgebra.scala",
        "afterPrefix(prefix).map(BelowBytes(_))",
        "afterPrefix(prefix).map(_ => NormalizedBytes(prefix ++ Array.fill(16)(-1.toByte)))",
    ),
    Mutant(
        "sixteen bytes are above all strings below another",
        f"{PREDICATE}/ConditionAlgebra.scala",
        "case NormalizedBytes(b) => Some(BelowBytes(b))",
        "case NormalizedBytes(b) => "
        "Some(NormalizedBytes((b.init :+ (b.last - 1).toByte) ++ Array.fill(16)(-1.toByte)))",
    ),
    Mutant(
        "pages that contradict their row group are believed",
        f"{STATS}/ParquetZones.scala",
        "Some(pages).filter(agrees)",
        "Some(pages).filter(p => agrees(p) || p.nonEmpty)",
        "PageIndexSuite",
        "contradict",
    ),
    Mutant(
        "an index of a format answers a column that has taken another's name",
        f"{SKIP}/scan/NarrowedList.scala",
        "!index.identities.get(name).exists(identities.get(name).contains(_))",
        "!index.identities.contains(name) && !identities.contains(name)",
        "FormatIndexSuite",
    ),
    Mutant(
        "an index of a format is asked for the first rows",
        f"{SKIP}/scan/NarrowedList.scala",
        "case _: TopRows => Nil",
        "case t: TopRows if !t.holds => Nil",
        "FormatIndexSuite",
    ),
    Mutant(
        "a constant in place of a column counts files in full",
        f"{PREDICATE}/Markers.scala",
        "columns == TopRows.columnsIn(children) && super.holds",
        "super.holds",
        "TopRowsSuite",
        "LATERAL",
    ),
    Mutant(
        "seconds of an offset are not made up for",
        f"jvm/spark/src/main/scala-delta/{TABLE}/delta/DeltaRows.scala",
        "private val WholeMinutes = 2 * 365 * MICROS_PER_DAY",
        "private val WholeMinutes = Long.MinValue + 0 * MICROS_PER_DAY",
        "DeltaSkippingSuite",
        "offset has seconds",
    ),
    Mutant(
        "an index of a table that was there before tells of the next one",
        f"jvm/spark/src/main/scala-delta/{TABLE}/delta/DeltaIndexing.scala",
        'FormatIndexing.identity(s"${snapshot.metadata.id} ${named(f)}")',
        "FormatIndexing.identity(named(f))",
        "DeltaIndexSuite",
        "an earlier table",
    ),
    Mutant(
        "an index of a format goes by the name of a file alone",
        f"{SKIP}/scan/NarrowedList.scala",
        "index.files.find(key(file.path), file.length, file.generation)",
        "index.files.find(key(file.path), math.min(file.length, 7L), file.generation)",
        "FormatIndexSuite",
    ),
    Mutant(
        "files that a snapshot does not have are left out of a list",
        f"{SKIP}/scan/FilesToRead.scala",
        "_.forall(needed.get(_))",
        "_.exists(needed.get(_))",
        "NarrowedListSuite",
    ),
    Mutant(
        "files that a scan does not list hold rows of its order",
        f"{SKIP}/scan/FilesToRead.scala",
        "listed.foreach(_.foreach(counted.set(_)))",
        "counted.set(0, index.files.count + 0 * listed.length)",
        "NarrowedListSuite",
    ),
    Mutant(
        "Delta: deleted rows count",
        f"{DELTA}/LoggedBounds.scala",
        "math.max(0L, physical - deleted),",
        "math.max(0L, physical),",
        "DeltaSkippingSuite",
        "deleted rows do not count",
    ),
    Mutant(
        "Delta: rows that are left are all NULL if so many were",
        f"{DELTA}/LoggedBounds.scala",
        "c.bounds(row, 6 + 3 * i, physical, exactNulls)",
        "c.bounds(row, 6 + 3 * i, physical - deleted, exactNulls)",
        "DeltaSkippingSuite",
        "the number of NULLs",
    ),
    Mutant(
        "Delta: NULLs are as many as before rows were deleted",
        f"{DELTA}/LoggedBounds.scala",
        "if (exactNulls || logged == 0 || logged == rows) logged",
        "if (exactNulls || logged <= rows) logged",
        "DeltaSkippingSuite",
        "the number of NULLs",
    ),
    Mutant(
        "Delta: texts that may be cut are believed",
        f"{DELTA}/LoggedBounds.scala",
        "private val Prefix = 32",
        "private val Prefix = 64",
        "DeltaSkippingSuite",
        "cannot be trusted",
    ),
    Mutant(
        "Delta: bounds of DOUBLE are believed",
        f"{DELTA}/LoggedBounds.scala",
        "TimestampType | TimestampNTZType => true",
        "TimestampType | TimestampNTZType | DoubleType => true",
        "DeltaSkippingSuite",
        "cannot be trusted",
    ),
    Mutant(
        "Delta: no moment is later than its whole milliseconds",
        f"jvm/spark/src/main/scala-delta/{TABLE}/delta/DeltaRows.scala",
        "MICROS_PER_MINUTE + MICROS_PER_MILLIS else MICROS_PER_MILLIS)",
        "MICROS_PER_MINUTE + MICROS_PER_MILLIS else 0L)",
        "DeltaSkippingSuite",
        "between whole milliseconds",
    ),
    Mutant(
        "Delta: statistics of one version are those of all",
        f"{DELTA}/DeltaPlannedFormat.scala",
        's"${snapshot.version} ${snapshot.timestamp} ${logged.name}"',
        "logged.name",
        "DeltaSkippingSuite",
        "deleted rows do not count",
    ),
    Mutant(
        "Iceberg: deleted rows count",
        f"{ICEBERG}/ManifestBounds.scala",
        "math.max(0L, task.file.recordCount - deletes.map(_.recordCount).sum)",
        "task.file.recordCount",
        "IcebergSkippingSuite",
        "position deletes",
    ),
    Mutant(
        "Iceberg: rows count where deletes of several files, or of values, may take them away",
        f"{ICEBERG}/ManifestBounds.scala",
        "- deletes.map(_.recordCount).sum) else 0L",
        "- deletes.map(_.recordCount).sum) else task.file.recordCount",
        "IcebergSkippingSuite",
        "deletes of several files",
    ),
    Mutant(
        "Iceberg: a delete takes away as many rows as it has values",
        f"{ICEBERG}/ManifestBounds.scala",
        "if (counted) math.max(",
        "if (counted || deletes.nonEmpty) math.max(",
        "IcebergSkippingSuite",
        "deletes of several files",
    ),
    Mutant(
        "Iceberg: texts that may be cut are believed",
        f"{SKIP}/scan/SnapshotStatistics.scala",
        "bound.numChars >= longest",
        "bound.numChars > longest",
        "IcebergSkippingSuite",
        "no ends of all values",
    ),
    Mutant(
        "Iceberg: milliseconds are taken for microseconds",
        f"{ICEBERG}/ManifestBounds.scala",
        "if min <= max && !mayBeMillis(min, max) =>",
        "if min <= max || mayBeMillis(min, max) =>",
        "IcebergSkippingSuite",
        "may be milliseconds",
    ),
    Mutant(
        "Iceberg: statistics of one snapshot are those of all",
        f"{ICEBERG}/ManifestBounds.scala",
        "(Seq(snapshot.toString, schema.schemaId.toString)",
        "(Seq(schema.schemaId.toString)",
        "IcebergSkippingSuite",
        "position deletes",
    ),
    Mutant(
        "Iceberg: statistics of the files of one filter are those of all filters",
        f"{ICEBERG}/ManifestBounds.scala",
        "filtered.map(_.filter().toString)",
        'filtered.map(_ => "few")',
        "IcebergSkippingSuite",
        "leaves few files",
    ),
    Mutant(
        "a row that others removed takes all that are equal to it",
        "jvm/spark/src/main/scala/org/apache/spark/sql/zorder/expr/layout/StaysWithout.scala",
        "else if (count > 1) counts(key) = count - 1",
        "else if (count > 0) counts(key) = count",
        "DeltaRebaseSuite",
        "one of three equal rows",
    ),
    Mutant(
        "Iceberg: a commit is validated from its beginning alone, whatever was taken out since",
        f"jvm/spark/src/main/scala-iceberg/{TABLE}/iceberg/IcebergWrite.scala",
        ".validateFromSnapshot(base.snapshotId)",
        ".validateFromSnapshot(start.snapshotId)",
        "IcebergRebaseSuite",
        "DELETE, merge-on-read",
    ),
    Mutant(
        "Iceberg: vectors of the new files are not committed",
        f"jvm/spark/src/main/scala-iceberg/{TABLE}/iceberg/IcebergWrite.scala",
        "marked.vectors.foreach(rewrite.addFile(_))",
        "marked.vectors.take(0).foreach(rewrite.addFile(_))",
        "IcebergRebaseSuite",
        "DELETE, merge-on-read, version 3",
    ),
    Mutant(
        "Iceberg: of two rows with one id, any is marked",
        f"jvm/spark/src/main/scala-iceberg/{TABLE}/iceberg/MarkedRows.scala",
        "if (byId.contains(id)) Nowhere else file.toLong << 32 | position",
        "file.toLong << 32 | position",
        "IcebergRebaseSuite",
        "an id that two rows have",
    ),
    Mutant(
        "Iceberg: a file that is written again keeps its vector",
        f"jvm/spark/src/main/scala-iceberg/{TABLE}/iceberg/MarkedRows.scala",
        "byFile --= paths",
        "byFile --= paths.take(0)",
        "IcebergRebaseSuite",
        "many rows",
    ),
    Mutant(
        "Iceberg: a run is put on a table of another shape",
        f"jvm/spark/src/main/scala-iceberg/{TABLE}/iceberg/IcebergChanges.scala",
        "isOfBefore &&",
        "(isOfBefore || shapeBefore.nonEmpty) &&",
        "IcebergRebaseSuite",
        "another schema",
    ),
    Mutant(
        "Iceberg: the records of runs that died after their commit are forgotten",
        f"jvm/spark/src/main/scala-iceberg/{TABLE}/iceberg/IcebergState.scala",
        "kept ++ named.filterNot(e => known(e.name))",
        "kept ++ named.filterNot(e => known(e.name)).take(0)",
        "IcebergFileIOSuite",
    ),
    Mutant(
        "files of sampled rows are as wide as their samples",
        "jvm/spark/src/main/scala/org/apache/spark/sql/zorder/insight/advise/Proposals.scala",
        "1.0 - sampledShare / 2",
        "0.0 * sampledShare",
        "AdviceSuite",
        "an end of its column",
    ),
    Mutant(
        "cells grow without end",
        f"{RUN}/plan/Growth.scala",
        "newLayoutFiles >= 2 * rows.length",
        "newLayoutFiles >= 2000 * rows.length",
        "GrowthSuite",
    ),
    Mutant(
        "merges of late rows only span more time",
        f"{RUN}/plan/Growth.scala",
        "bytes.toDouble * rows.length <= totalBytes.toDouble * cells",
        "bytes > 0",
        "GrowthOverTimeSuite",
        "in the order of time",
    ),
    Mutant(
        "late rows are cut by the stored layout",
        f"{RUN}/forecast/OwnLayouts.scala",
        "private val Notably = 0.8",
        "private val Notably = 0.0",
        "IncrementSuite",
        "beyond the last values",
    ),
    Mutant(
        "a partition keeps the layout of its newest rows",
        f"{RUN}/rewrite/Rewriter.scala",
        "plan.recorded.getOrElse(plan.layouts.refs)",
        "plan.layouts.refs",
        "IncrementSuite",
        "beyond the last values",
    ),
    Mutant(
        "a batch takes all that is free on the disks",
        f"{RUN}/Batches.scala",
        "private val DiskPerByte = 4",
        "private val DiskPerByte = 1",
        "PartitionStepSuite",
    ),
    Mutant(
        "outlines are known by their numbers alone",
        f"jvm/spark/src/main/scala/{TABLE}/StateDir.scala",
        ".filter { case (file, _) => present(file) }",
        ".filter { case (file, _) => present.exists(_.number == file.number) }",
        "OutlinesSuite",
    ),
    Mutant(
        "pages of some files stand for those of all, though others could not be read",
        f"{STATS}/Footers.scala",
        "if (pages.length < some.size) Nil else pages",
        "pages",
        "FootersSuite",
    ),
    Mutant(
        "first rows are counted in files that were written over",
        f"{SKIP}/scan/SkippingFileIndex.scala",
        "now.getLen == f.getLen && now.getModificationTime / 1000 == f.getModificationTime / 1000",
        "now.getLen >= 0 && f.getLen >= 0",
        "AggregateSuite",
        "written over",
    ),
    Mutant(
        "plain files have the names that a Delta table once gave their columns",
        f"{STATS}/StatColumn.scala",
        "Seq(FieldId, PhysicalName, StatColumn.AbsentIsUnknown)",
        "Seq(FieldId, StatColumn.AbsentIsUnknown)",
        "SkippingSuite",
        "what a Delta table called",
    ),
    Mutant(
        "a copying task that begins late empties the copy of another one",
        f"jvm/spark/src/main/scala/{TABLE}/parquet/files/FileMoves.scala",
        "overwrite = there.isDefined",
        "overwrite = true",
        "FileMovesSuite",
    ),
    Mutant(
        "an original goes though its copy aside is not whole",
        f"jvm/spark/src/main/scala/{TABLE}/parquet/commit/Recovery.scala",
        "copies.find { case (_, to, f) => !whole((to, f.length)) }",
        "copies.find { case (_, to, _) => !whole.exists(_._1 == to) }",
        "CatalogCommitSuite",
        "when its copy aside is whole",
    ),
    Mutant(
        "journals that cannot be read are passed over",
        f"jvm/spark/src/main/scala/{TABLE}/parquet/journal/Journal.scala",
        "if (again.isEmpty && !isAbsent(at))",
        "if (again.nonEmpty && !isAbsent(at))",
        "LateFilesSuite",
        "cannot be",
    ),
    Mutant(
        "of two ways home the second takes the mark of the first",
        f"jvm/spark/src/main/scala/{TABLE}/parquet/commit/HomeCommit.scala",
        "table.store.all().find(isOther)",
        "table.store.all().find(j => isOther(j) && j == null)",
        "HomeSuite",
        "two removals",
    ),
    Mutant(
        "a failed copy takes away that of another attempt",
        f"jvm/spark/src/main/scala/{TABLE}/parquet/files/FileMoves.scala",
        "if (!status(fs, to).exists(_.getLen == length)) {",
        "if (length >= 0) {",
        "FileMovesSuite",
    ),
    Mutant(
        "streams of other sessions do not count",
        f"jvm/spark/src/main/scala/{TABLE}/SessionRefresh.scala",
        "query <- session.sharedState.activeStreamingQueries.values.asScala",
        "query <- session.sharedState.activeStreamingQueries.values.asScala\n"
        "      if session.streams.active.exists(_.id == query.id)",
        "ReadersSuite",
    ),
    Mutant(
        "Delta's new files are not looked for",
        f"jvm/spark/src/main/scala-delta/{TABLE}/delta/DeltaWrite.scala",
        "files.zip(there).collect { case (file, false) => file }",
        "files.zip(there).collect { case (file, false) if file == null => file }",
        "DeltaConcurrencySuite",
    ),
    Mutant(
        "entries by older rules are believed",
        f"{SKIP}/index/IndexFile.scala",
        "else if (said.rules < Rules)",
        "else if (said.rules < 0)",
        "IndexUnderChangeSuite",
        "older rules",
    ),
    Mutant(
        "a Bloom filter with keys of another version is asked",
        f"{STATS}/bloom/BloomKey.scala",
        "if (code > FixedFrom) Some",
        "if (code > 3) Some",
        "ColumnBloomsSuite",
    ),
    Mutant(
        "a short retention of a Delta table's own spares a run at work",
        f"jvm/spark/src/main/scala-delta/{TABLE}/delta/DeltaUpkeep.scala",
        "keepMs < math.max(ownMs, DayMs)",
        "keepMs < math.min(ownMs, DayMs)",
        "DeltaConcurrencySuite",
        "vacuum",
    ),
    Mutant(
        "an overwrite does not wait for an exchange",
        f"jvm/spark/src/main/scala/{TABLE}/parquet/CommandGuard.scala",
        "case insert: InsertIntoHadoopFsRelationCommand if insert.mode == SaveMode.Overwrite =>",
        "case insert: InsertIntoHadoopFsRelationCommand if insert.mode == null =>",
        "ExchangeWritersSuite",
    ),
    Mutant(
        "the journal of another exchange need not be readable",
        f"jvm/spark/src/main/scala/{TABLE}/parquet/commit/PathCommit.scala",
        "hidden.foreach { base =>",
        "hidden.filter(_ == null).foreach { base =>",
        "ExchangeSuite",
    ),
    Mutant(
        "a copy of a Hudi table lacks the partitions that have log files alone",
        f"{RUN}/request/RunContext.scala",
        "if (request.where.isDefined && request.into.isEmpty) table.selectable() else table.files()",
        "table.selectable()",
        "HudiRefusalsSuite",
    ),
    Mutant(
        "Hudi deletes indexes that no setting names",
        f"jvm/spark/src/main/scala-hudi/{TABLE}/hudi/HudiClient.scala",
        '"hoodie.metadata.auto.delete.partitions" -> "false"',
        '"hoodie.metadata.auto.delete.partitions" -> "true"',
        "HudiRunSuite",
        "outlive",
    ),
    Mutant(
        "of two exchanges that begin in the same moment the first one does not look again",
        f"jvm/spark/src/main/scala/{TABLE}/parquet/commit/PathCommit.scala",
        "if (mark.marked == own && own.forall(_ == prepared.txn)) swapping",
        "if (mark.marked == own || own.forall(_ == prepared.txn)) swapping",
        "ExchangeSuite",
        "at marked",
    ),
    Mutant(
        "of two exchanges that begin in the same moment the second one does not look for the first",
        f"jvm/spark/src/main/scala/{TABLE}/parquet/commit/PathCommit.scala",
        "val beside = if (mark.marked.contains(txn)) exchanging(txn) else Nil",
        "val beside = if (mark.marked.isEmpty) exchanging(txn) else Nil",
        "ExchangeSuite",
        "at moved-old",
    ),
    Mutant(
        "SET LOCATION does not wait for an exchange",
        f"jvm/spark/src/main/scala/{TABLE}/parquet/CommandGuard.scala",
        "case set: AlterTableSetLocationCommand => Some(set.tableName)",
        "case set: AlterTableSetLocationCommand if set.location == null => Some(set.tableName)",
        "ExchangeSuite",
        "another place after a run died",
    ),
    Mutant(
        "WHERE on Iceberg goes by what files hold in an identity column",
        "jvm/spark/src/main/scala-iceberg/org/apache/spark/sql/zorder/table/iceberg/IcebergClusterTable.scala",
        ".filter(_ => field.transform.isIdentity)",
        ".filter(_ => field.transform.isVoid)",
        "IcebergPartitionsSuite",
        "WHERE on an identity column",
    ),
    Mutant(
        "a Delta table that was made anew during a run gets its rows",
        f"jvm/spark/src/main/scala-delta/{TABLE}/delta/DeltaChanges.scala",
        "now.version >= before.version && identity(before) == identity(now)",
        "now.version >= before.version || identity(before) == identity(now)",
        "DeltaConcurrencySuite",
        "made anew",
    ),
    Mutant(
        "a cancelled thread writes no record",
        "jvm/spark/src/main/scala/org/apache/spark/sql/zorder/table/storage/Cancellation.scala",
        "case OrNonFatal(e) => deferred(e)(write)",
        "case OrNonFatal(e) => throw e",
        "PendingRunsSuite",
        "interrupted",
    ),
    Mutant(
        "a partition with empty new files is clustered anew beside an outgrown one",
        f"{RUN}/IncrementPlanner.scala",
        "gains).orElse(idleAlone)",
        "gains).orElse(None)",
        "EmptyTableSuite",
        "append without rows is not written again",
    ),
    Mutant(
        "after USE, the next batch is of another table",
        f"{RUN}/ClusteringRun.scala",
        "begun.filter(_ != place)",
        "begun.filter(_ == place)",
        "BatchesSuite",
        "a name means in each batch",
    ),
    Mutant(
        "a copy is made inside a Delta table",
        f"jvm/spark/src/main/scala/{TABLE}/resolve/IntoTarget.scala",
        "PathRefusals.outerTable(fs, target).foreach",
        "PathRefusals.outerTable(fs, target).filter(_._1 == target).foreach",
        "RefusalSuite",
        "a copy",
    ),
    Mutant(
        "a row group without rows counts as one without statistics",
        f"{STATS}/FooterReader.scala",
        ".filter(_.getRowCount != 0L)",
        ".filter(_.getRowCount >= 0L)",
        "AuditSuite",
        "without rows",
    ),
    Mutant(
        "the index answers for a column that a file has in two spellings",
        f"{STATS}/FooterReader.scala",
        "case _ if !caseSensitive && schema.isSpelledTwice(column)",
        "case _ if caseSensitive && schema.isSpelledTwice(column)",
        "AggregateSuite",
        "spells a column",
    ),
    Mutant(
        "a dry run forgets that a limit ends the run behind what grows",
        f"{RUN}/ClusteringRun.scala",
        "val read = before :+ result.report.metrics.inputBytes",
        "val read = before.filter(_ => result.report.metrics.inputBytes < 0)",
        "DryRunSuite",
        "one partition grows and another is new",
    ),
    Mutant(
        "advice names a statement that leaves files in place alone",
        "jvm/spark/src/main/scala/org/apache/spark/sql/zorder/insight/advise/Proposals.scala",
        "full || laidOut.contains(by)",
        "full && laidOut.contains(by)",
        "AdviceSuite",
        "clustered by these columns already",
    ),
]


def main(names: list[str]) -> int:
    """The number of mutants that no suite has found."""
    wanted = [m for m in MUTANTS if not names or m.name in names]
    if names and len(wanted) < len(set(names)):
        sys.exit("No such mutant; there are: " + "; ".join(m.name for m in MUTANTS))
    copied()
    alive = []
    for m in wanted:
        began = time.monotonic()
        outcome = tried(m)
        if not outcome.startswith("found"):
            alive.append(m.name)
        print(f"{m.name}: {outcome} ({time.monotonic() - began:.0f} s)", flush=True)
    print(f"{len(wanted) - len(alive)} of {len(wanted)} mutants make a suite fail.")
    return len(alive)


def copied() -> None:
    """The sources as they are now, with what sbt has compiled of them."""
    shutil.rmtree(COPY, ignore_errors=True)
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=TOP,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    for name in names:
        if (TOP / name).is_file():
            (COPY / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, COPY / name)
    for built in ("target/tools", "target/sbt/spark35_212", "target/sbt/curve_212"):
        if (TOP / built).is_dir():
            shutil.copytree(TOP / built, COPY / built, symlinks=True)


def tried(m: Mutant) -> str:
    """What the suites make of a mutant."""
    file = COPY / m.file
    text = file.read_text()
    if text.count(m.old) != 1:
        return f"its text is in {m.file} {text.count(m.old)} times"
    file.write_text(text.replace(m.old, m.new))
    try:
        only = f' -- -z "{m.test}"' if m.test else ""
        command = f"spark35_212/testOnly *.{m.suite}{only}"
        run = subprocess.run(["tools/sbt.sh", command], cwd=COPY, capture_output=True, text=True)
    finally:
        file.write_text(text)
    (COPY / "target" / f"{re.sub('[^a-z]+', '-', m.name.lower())}.log").write_text(run.stdout + run.stderr)
    failed = sorted(set(re.findall(r"^\[error\] \t\S*?(\w+Suite)$", run.stdout, flags=re.M)))
    if failed:
        return "found by " + ", ".join(failed)
    return "NOT FOUND" if run.returncode == 0 else "no test was run: see the log in target/mutants/target"


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
