package org.apache.spark.sql.zorder.store

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import scala.collection.mutable.ArrayBuffer

import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.zorder.skipping.index.LoadedIndexes
import sparkzorder.LongTest

/** What each statement asks of an object store; the table of `make store-test`. */
class RequestsSuite extends AnyFunSuite with StoreFixture {

  override protected def settings: Map[String, String] = FormatsOnStore.settings(place("ice"))

  private val rows = 200000L
  private val files = 16
  private val lines = ArrayBuffer.empty[String]
  private val parts = ArrayBuffer.empty[String]
  private val by = s"BY (a, b) WITH (fileCount = $files, force = true, location = 'move')"

  private val kinds = Seq(
    "GET" -> Set("GetObject"),
    "HEAD" -> Set("HeadObject"),
    "LIST" -> Set("ListObjectsV2"),
    "PUT" -> Set("PutObject"),
    "upload in parts" ->
      Set("CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload", "ListMultipartUploads"),
    "COPY" -> Set("CopyObject"),
    "DELETE" -> Set("DeleteObject", "DeleteObjects"))

  /** Bytes that S3A has read and written in this JVM. */
  private def bytes: (Long, Long) = {
    val all = FileSystem.getGlobalStorageStatistics.get("s3a")
    (all.getLong("bytesRead"), all.getLong("bytesWritten"))
  }

  private def line(what: String)(statement: => Any): Seq[Request] = {
    val before = bytes
    val made = requests(statement)
    val counts = kinds.map { case (_, actions) => made.count(r => actions(r.action)) }
    assert(counts.sum === made.length, s"a request of another kind: ${made.map(_.action).distinct}")
    val mib = Seq(bytes._1 - before._1, bytes._2 - before._2).map(b => f"${b / 1048576.0}%.1f")
    lines += (what +: (counts :+ made.length).map(_.toString) ++: mib).mkString("| ", " | ", " |")
    made
  }

  private def life(table: String, kind: String): Unit = {
    line(s"`DRY RUN`$kind")(one(s"ZORDER TABLE $table $by DRY RUN"))
    val made = line(s"a run$kind")(done(one(s"ZORDER TABLE $table $by")))
    assert(made.count(_.action == "CopyObject") === 0)
    split(s"a run$kind", made, if (kind.isEmpty) files else 8 * files)
    line(s"a run that finds all in place$kind")(one(s"ZORDER TABLE $table $by"))
    append(table, rows, rows + rows / 20)
    line(s"a run after 5 % were appended$kind")(done(one(s"ZORDER TABLE $table $by")))
    line(s"`zorder_history`$kind")(sql(s"SELECT * FROM zorder_history('$table')").collect())
    line(s"`ROLLBACK`$kind")(one(s"ZORDER ROLLBACK $table"))
    line(s"`VACUUM`$kind")(sql(s"ZORDER VACUUM $table RETAIN 0 HOURS").collect())
    assert(ids(table) === (0L until rows + rows / 20))
    ()
  }

  /** Who asks what of a run that reads `files` files; ours are read and written once, with an open for each look. */
  private def split(what: String, made: Seq[Request], written: Int): Unit = {
    val uploads = kinds.collectFirst { case ("upload in parts", actions) => actions }.get
    val (commit, others) = made.partition(r => r.key.contains("__magic") || uploads(r.action))
    val (data, rest) = others.partition(_.key.endsWith(".parquet"))
    val (back, read) = data.partition(_.key.contains("/z"))
    // ours: a footer with page indexes; Spark 3.5's reader: a sample, the rows, each with four
    assert(read.count(_.action == "HeadObject") === (1 + 4 + 4) * files)
    // a footer and page indexes at once; this Hadoop asks for a file that it is told the length of
    assert(back.map(_.action).groupBy(identity).map { case (a, all) => a -> all.size } ===
      Map("HeadObject" -> written, "GetObject" -> written))
    parts += Seq(what, files, read.size, written, commit.size, back.size, rest.size).mkString(
      "| ",
      " | ",
      " |")
    ()
  }

  private def external(name: String, columns: String*)(body: => Any): Unit = {
    val at = place(name)
    val data = numbers(0, rows, files).withColumn("p", expr("id % 8"))
    data.repartition(if (columns.isEmpty) files else 2).write.partitionBy(columns: _*).parquet(at)
    val parts = if (columns.isEmpty) "" else columns.mkString("PARTITIONED BY (", ", ", ")")
    sql(s"CREATE TABLE $name (id BIGINT, a INT, b BIGINT, p BIGINT) USING parquet $parts LOCATION '$at'")
    if (columns.nonEmpty) sql(s"MSCK REPAIR TABLE $name")
    try {
      body
      ()
    } finally sql(s"DROP TABLE $name")
  }

  test("requests and bytes of each statement", LongTest) {
    external("flat") {
      life("flat", "")
      line("`REMOVE`")(one("ZORDER REMOVE flat STAY"))
      line("`INTO` another place")(done(one(s"ZORDER TABLE flat $by INTO '${place("copy")}'")))
    }
    external("renamed") {
      spark.conf.set("fs.s3a.committer.magic.enabled", "false")
      try line("a run with Spark's own committer")(done(one(s"ZORDER TABLE renamed $by")))
      finally spark.conf.unset("fs.s3a.committer.magic.enabled")
    }
    external("parted", "p")(life("parted", ", 8 partitions"))
    for ((table, format) <- Seq("delta_table" -> "Delta", "ice.db.t" -> "Iceberg")) {
      val where = if (format == "Delta") s"LOCATION '${place("delta")}'" else ""
      sql(s"CREATE TABLE $table (id BIGINT, a INT, b BIGINT, p BIGINT) USING ${format.toLowerCase} $where")
      numbers(0, rows, files).write.insertInto(table)
      line(s"a run, $format")(done(one(s"ZORDER TABLE $table $by")))
    }
    sql("DROP TABLE delta_table")
    external("indexed") {
      done(one(s"ZORDER TABLE indexed $by"))
      indexed("indexed")
    }
    write()
  }

  /** A look-up by an index that is not in memory costs some requests more and saves those of files. */
  private def indexed(table: String): Unit = {
    line("`ZORDER INDEX`")(one(s"ZORDER INDEX $table"))
    // without an exchange, before which adaptive execution would run the scan
    val query = s"SELECT id FROM $table WHERE a = 17"
    sql(query).collect() // the listing of the table is in the session's memory from now on
    val opened = line("a look-up without the index") {
      spark.conf.set("spark.zorder.skipping.enabled", "false")
      try sql(query).collect()
      finally spark.conf.unset("spark.zorder.skipping.enabled")
    }
    LoadedIndexes.forget(new Path(location(table)))
    val first = line("a look-up planned, the index not in memory")(planned(query))
    val again = line("a look-up planned")(planned(query))
    val skipped = line("a look-up with the index")(sql(query).collect())
    assert(first.length <= 10 && again.isEmpty, first.map(_.action).mkString(", "))
    assert(skipped.length < opened.length / 2)
  }

  private def planned(query: String): Int = sql(query).queryExecution.toRdd.getNumPartitions

  private def location(table: String): String =
    sql(s"DESCRIBE FORMATTED $table").where("col_name = 'Location'").head().getString(1)

  private def whoAsks: String = {
    val head =
      "| statement | files read | requests of them | files written | of S3A's committer | to check what was " +
        "written | the rest |"
    """
      |## Who asks
      |
      |What must be asked of a file that a run reads: its footer and page indexes, a sample, its rows; of one that it
      |writes: an upload, and the footer to check it. Ours is one request for each look at a footer or at page indexes, and
      |a HEAD before it, which Hadoop from 3.3.5 on leaves out. Spark 3.5's reader asks for a file four times before it
      |reads a sample of it, and again before it reads its rows. S3A's committer asks 23 times for a file. The rest are
      |listings and small files: the journal, the claim, the record.
      |
      |""".stripMargin + (head +: "| --- | ---: | ---: | ---: | ---: | ---: | ---: |" +: parts).mkString(
      "",
      "\n",
      "\n")
  }

  private def write(): Unit = {
    val head =
      ("statement" +: kinds.map(_._1) :+ "all" :+ "MiB read" :+ "MiB written").mkString("| ", " | ", " |")
    val rule = ("---" +: Seq.fill(kinds.size + 3)("---:")).mkString("| ", " | ", " |")
    val text =
      s"""# What statements ask of an object store
        |
        |`make store-test`, Spark ${spark.version}, Hadoop's S3A against an S3 server on the loopback address
        |(${S3Server.pinned}): requests by the server's log, bytes by
        |S3A's statistics. $rows rows in $files files, of external tables whose warehouse is elsewhere. A run reads footers, page
        |indexes and a sample before it reads and writes the rows; it writes $files files, or $files in each of 8 partitions.
        |Bytes of a `ROLLBACK`, and of a run that leaves files alone, are those files, which the new directory needs too.
        |
        |""".stripMargin + (head +: rule +: lines).mkString("", "\n", "\n") + whoAsks
    Files.write(Paths.get("target/store-requests.md"), text.getBytes(UTF_8))
    println(text)
  }
}
