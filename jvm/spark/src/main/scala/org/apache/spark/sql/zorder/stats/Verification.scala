package org.apache.spark.sql.zorder.stats

import java.util.IdentityHashMap

import scala.collection.mutable

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types._

/** Compares what a run wrote with what it read, by footers alone. */
object Verification {

  /**
   * @param accepted
   *   whether a column (as `LeafColumn.name`) may come back as this type: losses that were forced, timestamps
   *   on request
   * @param stored
   *   the identity of a column in all files; None if the table no longer has the column
   * @return
   *   sentences about what does not agree; empty when all is well
   */
  def compare(
      inputs: Seq[FileFooter],
      outputs: Seq[FileFooter],
      accepted: (String, String) => Boolean = (_, _) => false,
      stored: LeafColumn => Option[Seq[String]] = leaf => Some(leaf.column)): Seq[String] = {
    def left(files: Seq[FileFooter]) = files.map(f => f.rows - f.file.deleted.getOrElse(0L)).sum
    val (before, after) = (left(inputs), left(outputs))
    // if the number of deleted rows is unknown, the run counts the rows
    val countable = inputs.forall(_.file.deleted.isDefined)
    val rows =
      if (!countable || before == after) Nil
      else Seq(s"The files read hold $before rows and the files written $after.")
    val read = Leaves.of(inputs, stored)
    val written = Leaves.of(outputs, stored)
    // deleted rows took their NULLs along
    val whole = (inputs ++ outputs).forall(_.file.deleted.contains(0L))
    // without rows a run may write no file at all
    val columns = if (outputs.isEmpty && (before == 0 || !countable)) Nil
    else read.flatMap { in =>
      written.find(_.key == in.key) match {
        case None => Seq(s"Column ${in.name} of file ${in.file} is in none of the files written.")
        case Some(out) => types(in, out, accepted) ++ (if (whole) nulls(in, out) else Nil)
      }
    }
    rows ++ columns
  }

  private def types(in: Leaves, out: Leaves, accepted: (String, String) => Boolean): Seq[String] =
    if (in.types.toSet == out.types.toSet || out.types.forall(accepted(in.name, _))) Nil
    else Seq(
      s"Column ${in.name} of file ${in.file} is ${in.types.mkString(" or ")} in the files read and " +
        s"${out.types.mkString(" or ")} in those written.")

  /** Rows of files that lack a column count as NULL at most: the column may have a default for them. */
  private def nulls(in: Leaves, out: Leaves): Seq[String] =
    (in.nulls, out.nulls) match {
      case (Some(before), Some(after)) if !in.repeated || (in.absentRows == 0 && out.absentRows == 0) =>
        val spare = if (in.repeated) 0L else in.absentRows
        val found = after + (if (in.repeated) 0L else out.absentRows)
        val nullsAgree = before <= found && found <= before + spare
        val valuesAgree = !in.repeated || in.values == out.values
        if (nullsAgree && valuesAgree) Nil
        else Seq(s"Column ${in.name} has ${before + spare} NULLs of ${in.values + spare} values in the " +
          s"files read and $found of ${out.values} in those written.")
      case _ => Nil
    }
}

/** A type of later Sparks that is atomic and yet has no hash: Spark's functions fail on its values. */
private[zorder] object UnhashedType {
  private val Names = Seq("variant", "geometry", "geography")

  /** By the name alone, since older Sparks have no such class; details may follow, as in `geometry(4326)`. */
  def apply(typeName: String): Boolean = Names.exists(typeName.startsWith(_))
}

/** One leaf column over several files. `nulls` is None where a file does not say. */
private[stats] final case class Leaves(
    key: Seq[String],
    name: String,
    file: String,
    types: Seq[String],
    repeated: Boolean,
    nulls: Option[Long],
    values: Long,
    absentRows: Long)

private[stats] object Leaves {
  def of(footers: Seq[FileFooter], stored: LeafColumn => Option[Seq[String]]): Seq[Leaves] = {
    val allRows = footers.map(_.rows).sum
    val sums = mutable.LinkedHashMap.empty[Seq[String], LeafSums]
    // once for all files that share a schema: a format may look for a leaf among thousands of columns
    val bySchema = new IdentityHashMap[FileSchema, IndexedSeq[Option[LeafSums]]]
    for (footer <- footers) {
      val leaves = footer.schema.leaves
      def sumsOf(leaf: LeafColumn): Option[LeafSums] =
        stored(leaf).map(key => sums.getOrElseUpdate(key, new LeafSums(key, leaf.name, footer.file.path)))
      val found = bySchema.computeIfAbsent(footer.schema, _ => leaves.map(sumsOf(_)))
      for (i <- leaves.indices) found(i).foreach(_.add(leaves(i), footer, i))
    }
    sums.values.toSeq.sortBy(_.key.mkString(".")).map(_.leaves(allRows))
  }
}

/** The sums of a leaf while its files are gone through: there may be hundreds of leaves in each of many files. */
final private class LeafSums(val key: Seq[String], name: String, file: String) {
  private val types = mutable.LinkedHashSet.empty[String]
  private var repeated = false
  private var isCounted = true
  private var nulls = 0L
  private var values = 0L
  private var rows = 0L

  /** @param i the number of the leaf in the file */
  def add(leaf: LeafColumn, footer: FileFooter, i: Int): Unit = {
    types += leaf.sameType
    repeated ||= leaf.maxRepetition > 0
    if (footer.nulls(i) < 0) isCounted = false else nulls += footer.nulls(i)
    values += footer.values(i)
    rows += footer.rows
  }

  /** @param allRows of all files, also of those without the leaf */
  def leaves(allRows: Long): Leaves = Leaves(
    key,
    name,
    file,
    types.toSeq,
    repeated,
    if (isCounted) Some(nulls) else None,
    values,
    absentRows = allRows - rows)
}

/**
 * A sum over all rows that does not depend on their order.
 *
 * @param skipped
 *   columns of types that cannot be hashed: they are not part of the sum
 */
final case class Checksum(rows: Long, sum: BigInt, skipped: Seq[String])

object Checksum {

  /** Reads the whole of `df` once, in one job. Equal rows in any order have equal sums; NULL is a value. */
  def of(df: DataFrame): Checksum = {
    val (known, skipped) = df.schema.fields.toSeq.partition(f => hashable(f.dataType))
    val parts = known.flatMap { f =>
      val column = df.col(QuotingUtils.quoteIdentifier(f.name))
      Seq(column.isNull, withoutMaps(column, f.dataType))
    }
    // a leading literal, so that a frame without columns still has a hash
    val hash = xxhash64(lit(1) +: parts: _*).cast(DecimalType(38, 0))
    val row = df.agg(count(lit(1)), coalesce(sum(hash), lit(0).cast(DecimalType(38, 0)))).head()
    Checksum(row.getLong(0), BigInt(row.getDecimal(1).toBigInteger), skipped.map(_.name))
  }

  private[stats] def hashable(dataType: DataType): Boolean = dataType match {
    case s: StructType => s.forall(f => hashable(f.dataType))
    case a: ArrayType => hashable(a.elementType)
    case m: MapType => hashable(m.keyType) && hashable(m.valueType) && sortable(m.valueType)
    case CalendarIntervalType => true
    case _: AtomicType => !UnhashedType(dataType.typeName)
    case NullType => true
    case u: UserDefinedType[_] => hashable(u.sqlType)
    case _ => false
  }

  /** The entries of a map are sorted, values included. */
  private def sortable(dataType: DataType): Boolean = dataType match {
    case s: StructType => s.forall(f => sortable(f.dataType))
    case a: ArrayType => sortable(a.elementType)
    case m: MapType => sortable(m.valueType)
    case CalendarIntervalType | _: UserDefinedType[_] => false
    case _ => true
  }

  private def hasMap(dataType: DataType): Boolean = dataType.existsRecursively(_.isInstanceOf[MapType])

  /** Turns every map into its sorted entries, since Spark hashes no maps. */
  private def withoutMaps(column: Column, dataType: DataType): Column = dataType match {
    case other if !hasMap(other) => column
    case m: MapType =>
      val entries = transform(
        map_entries(column),
        e =>
          struct(
            withoutMaps(e.getField("key"), m.keyType).as("key"),
            withoutMaps(e.getField("value"), m.valueType).as("value")))
      array_sort(entries)
    case a: ArrayType => transform(column, e => withoutMaps(e, a.elementType))
    case s: StructType =>
      val fields = s.fields.toSeq.map(f => withoutMaps(column.getField(f.name), f.dataType).as(f.name))
      when(column.isNotNull, struct(fields: _*))
    case _ => column
  }
}
