package org.apache.spark.sql.zorder.stats

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import org.apache.parquet.crypto.FileEncryptionProperties
import org.apache.parquet.example.data.Group

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.functions.{col, max, min}
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.util.Utils
import sparkzorder.curve.Zone

/** Real Parquet files, by Spark and by Parquet's own writer, and the truth about them as Spark reads them. */
trait StatsFixture {
  protected lazy val spark: SparkSession = SparkSession.builder().master("local[2]").appName("stats tests")
    .config("spark.sql.shuffle.partitions", "4").config("spark.ui.enabled", "false")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.warehouse.dir", Files.createTempDirectory("stats-warehouse-").toUri.toString)
    .getOrCreate()

  protected def session: Shims.ClassicSession = Shims.classic(spark)

  protected def inTempDir[T](body: Path => T): T = {
    val dir = Files.createTempDirectory("stats-test-")
    try body(dir)
    finally Utils.deleteRecursively(dir.toFile)
  }

  protected def setting[T](pairs: (String, String)*)(body: => T): T = {
    val before = pairs.map { case (k, _) => k -> spark.conf.getOption(k) }
    pairs.foreach { case (k, v) => spark.conf.set(k, v) }
    try body
    finally before.foreach {
        case (k, Some(v)) => spark.conf.set(k, v)
        case (k, None) => spark.conf.unset(k)
      }
  }

  protected def parquetFiles(dir: Path): Seq[DataFile] =
    Files.walk(dir).iterator().asScala.filter(_.toString.endsWith(".parquet")).toSeq.sortBy(_.toString)
      .map(p => DataFile("file:" + p, Files.size(p), Files.getLastModifiedTime(p).toMillis, ""))

  protected def footers(dir: Path, columns: StatColumn*): Seq[FileFooter] =
    Footers.read(session, parquetFiles(dir), columns)

  /** One file by Parquet's own writer; `fill` sets the fields of row `i`. */
  protected def exampleFile(
      path: Path,
      schema: String,
      rows: Int = 3,
      encryption: Option[FileEncryptionProperties] = None)(fill: (Group, Int) => Unit): Unit =
    ForeignFile.write(path, schema, rows)(_.withEncryption(encryption.orNull))(fill)

  /** The zones of the columns as Spark's own min and max have them. */
  protected def trueZones(df: DataFrame, columns: Seq[StatColumn]): IndexedSeq[Zone] = {
    val bounds = columns.flatMap { c =>
      val value = col(c.path.mkString("."))
      Seq(min(value), max(value))
    }
    val plan = df.agg(bounds.head, bounds.tail: _*).queryExecution.executedPlan
    val row: InternalRow = plan.executeCollect().head
    columns.indices.map { i =>
      val dataType = columns(i).dataType
      val normalizedType = Normalization.of(dataType).get
      if (row.isNullAt(2 * i)) Zone.OnlyNulls
      else Zone.Between(
        normalizedType.normalize(row.get(2 * i, dataType)),
        normalizedType.normalize(row.get(2 * i + 1, dataType)))
    }
  }
}
