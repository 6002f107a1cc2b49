package org.apache.spark.sql.zorder.stats

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types._

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
      val column = df.col("`" + f.name.replace("`", "``") + "`")
      Seq(column.isNull, withoutMaps(column, f.dataType))
    }
    // a leading literal, so that a frame without columns still has a hash
    val hash = xxhash64(lit(1) +: parts: _*).cast(DecimalType(38, 0))
    val row = df.agg(count(lit(1)), coalesce(sum(hash), lit(0).cast(DecimalType(38, 0)))).head()
    Checksum(row.getLong(0), BigInt(row.getDecimal(1).toBigInteger), skipped.map(_.name))
  }

  private def hashable(dataType: DataType): Boolean = dataType match {
    case s: StructType => s.forall(f => hashable(f.dataType))
    case a: ArrayType => hashable(a.elementType)
    case m: MapType => hashable(m.keyType) && hashable(m.valueType) && sortable(m.valueType)
    case CalendarIntervalType => true
    case _: AtomicType => dataType.typeName != "variant"
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

  /** The same value with every map as its sorted entries: Spark hashes no maps. */
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
