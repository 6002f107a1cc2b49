package org.apache.spark.sql.zorder.stats

import java.nio.file.Path

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.schema.MessageTypeParser

/** Files that Spark does not write itself, by Parquet's own writer. */
object ForeignFile {

  /**
   * @param how
   *   further settings of the writer
   * @param fill
   *   sets the fields of row `i`
   */
  def write(path: Path, schema: String, rows: Int)(
      how: ExampleParquetWriter.Builder => ExampleParquetWriter.Builder)(fill: (Group, Int) => Unit): Unit = {
    val message = MessageTypeParser.parseMessageType(schema)
    val writer = how(
      ExampleParquetWriter.builder(new HadoopPath(path.toUri)).withType(message)
        .withConf(new Configuration(false))).build()
    val groups = new SimpleGroupFactory(message)
    try {
      (0 until rows).foreach { i =>
        val group = groups.newGroup()
        fill(group, i)
        writer.write(group)
      }
    } finally writer.close()
  }
}
