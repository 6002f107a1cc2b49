package org.apache.spark.sql.zorder.stats

import org.apache.parquet.column.ColumnReadStore
import org.apache.parquet.column.impl.ColumnReadStoreImpl
import org.apache.parquet.column.page.PageReadStore
import org.apache.parquet.io.api.{Converter, GroupConverter, PrimitiveConverter}
import org.apache.parquet.schema.{GroupType, MessageType}

/** Reads the values of single columns of a row group as the file stores them, without making records. */
private[stats] object ColumnReaders {

  /**
   * @param schema
   *   the columns that were requested of the file
   * @param createdBy
   *   the writer that the file names, since Parquet's library works around errors of some
   */
  def of(pages: PageReadStore, schema: MessageType, createdBy: String): ColumnReadStore =
    new ColumnReadStoreImpl(pages, new IgnoringConverter(schema), schema, createdBy)

  /** Ignores all values: Parquet's library requires a receiver, though the values are taken from the readers. */
  final private class IgnoringConverter(group: GroupType) extends GroupConverter {
    override def getConverter(field: Int): Converter = {
      val child = group.getType(field)
      if (child.isPrimitive) new PrimitiveConverter {} else new IgnoringConverter(child.asGroupType)
    }
    override def start(): Unit = ()
    override def end(): Unit = ()
  }
}
