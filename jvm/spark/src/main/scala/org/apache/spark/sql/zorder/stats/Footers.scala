package org.apache.spark.sql.zorder.stats

import org.apache.commons.lang3.exception.ExceptionUtils
import org.apache.hadoop.conf.Configuration
import org.apache.spark.{SparkContext, SparkException}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.storage.DriverReads
import org.apache.spark.util.{SerializableConfiguration, Utils}

/** The footers of a table's files. */
object Footers {

  /**
   * Reads every footer once, in one Spark job (none for a handful of files).
   *
   * @param columns
   *   to get the zones of, for each row group; names are compared as the session compares names
   * @return
   *   in the order of `files`. A file that cannot be read fails the call; an encrypted file is marked.
   */
  def read(session: ClassicSession, files: Seq[DataFile], columns: Seq[StatColumn] = Nil): Seq[FileFooter] =
    each(session, files, columns, "footers")(_.read(_))

  /**
   * Reads as `read` does, but only files whose footers are not known yet.
   *
   * @param known
   *   footers read before, with the same columns; a file that has changed since is read again
   */
  def readOthers(
      session: ClassicSession,
      files: Seq[DataFile],
      columns: Seq[StatColumn],
      known: Seq[FileFooter]): Seq[FileFooter] = {
    val byFile = known.map(f => f.file -> f).toMap
    val others = read(session, files.filterNot(byFile.contains), columns)
    val all = byFile ++ others.map(f => f.file -> f)
    files.map(all)
  }

  /**
   * Reads as `read` does, and the page indexes of some of the files, which represent those of all. No file is opened
   * twice.
   *
   * @param paged
   *   how many of the columns, the first ones, to get the pages of
   * @return
   *   no pages at all if those of one of these files cannot be read
   */
  def readWithSomePages(
      session: ClassicSession,
      files: Seq[DataFile],
      columns: Seq[StatColumn],
      paged: Int): (Seq[FileFooter], Seq[FilePages]) = {
    val some = PageIndex.some(files).map(_.path).toSet
    val read = each(session, files, columns, "footers and page indexes") { (reader, file) =>
      reader.read(file, if (some(file.path)) paged else 0)
    }
    val pages = read.flatMap(_._2)
    // where the indexes of a file cannot be read, the caller may do without
    (read.map(_._1), if (pages.length < some.size) Nil else pages)
  }

  /**
   * The statistics of files that anybody may have written, as far as they can be read, in one job.
   *
   * @param listed
   *   the columns, by number, whose dictionaries are read for the values that they have
   */
  def readIfPossible(
      session: ClassicSession,
      files: Seq[DataFile],
      columns: Seq[StatColumn],
      listed: Set[Int]): Seq[Option[FileStatistics]] =
    each(session, files, columns, "statistics for the index")(_.readIfPossible(_, listed))

  /** Footers and page indexes of files that a run has just written, read in one job. */
  def readWithPages(
      session: ClassicSession,
      files: Seq[DataFile],
      columns: Seq[StatColumn]): Seq[(FileFooter, FilePages)] =
    each(session, files, columns, "verification")(_.readWithPages(_))

  private def each[T](
      session: ClassicSession,
      files: Seq[DataFile],
      columns: Seq[StatColumn],
      what: String)(body: (FooterReader, DataFile) => T): Seq[T] = {
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    FooterJob.run(session, files, what) { (conf, slice) =>
      val reader = new FooterReader(conf, columns, caseSensitive)
      slice.map(body(reader, _))
    }
  }
}

/** One Spark job over a list of files, results in the order of the list. */
private[stats] object FooterJob {

  /** Up to this number of files for each of so many threads, the driver reads them itself: a job would cost more. */
  private val OnDriver = 4
  private val Threads = 4
  private val SlicesPerCore = 4

  /** @param onDriver up to this number of files for each of its threads, the driver reads them itself */
  def run[T](
      session: ClassicSession,
      files: Seq[DataFile],
      what: String,
      onDriver: Int = OnDriver)(body: (Configuration, Seq[DataFile]) => Seq[T]): Seq[T] = {
    val conf = session.sessionState.newHadoopConf()
    // a list that is computed when it is asked for would be read elsewhere
    def here(slice: Seq[DataFile]): Seq[T] = body(conf, slice).toIndexedSeq
    if (files.size <= onDriver) here(files)
    else if (files.size <= onDriver * Threads)
      DriverReads.each(files.grouped((files.size + Threads - 1) / Threads).toSeq, Threads)(here).flatten
    else {
      val sc = session.sparkContext
      val shipped = new SerializableConfiguration(conf)
      val slices = math.min(files.size, math.max(1, sc.defaultParallelism) * SlicesPerCore)
      val size = (files.size + slices - 1) / slices
      // bytes of our own, so that a session's own serializer need not know our classes
      val tasks = files.grouped(size).map(slice => Utils.serialize(slice.toArray)).toSeq
      described(sc, s"spark-zorder: $what of ${files.size} files")(refused {
        sc.parallelize(tasks, tasks.size).map { bytes =>
          val slice = Utils.deserialize[Array[DataFile]](bytes, classOf[DataFile].getClassLoader)
          // packed, since Spark limits the bytes of all results of a job (spark.driver.maxResultSize)
          try Deflated.of(Utils.serialize(body(shipped.value, slice.toSeq).toArray[Any]))
          finally slice.flatMap(_.own).distinct.foreach(_.release())
        }.collect()
      }).toSeq.flatMap { bytes =>
        Utils.deserialize[Array[Any]](Deflated.plain(bytes), classOf[DataFile].getClassLoader)
          .toSeq.asInstanceOf[Seq[T]]
      }
    }
  }

  /** Runs a job. If it fails at a file, the error is what its task said of the file. */
  private def refused[T](job: => T): T =
    try job
    catch {
      case e: SparkException =>
        throw ExceptionUtils.getThrowables(e).collectFirst { case z: ZOrderException => z }.getOrElse(e)
    }

  /** Runs `body` under a job description and puts the caller's own back. */
  private def described[T](sc: SparkContext, description: String)(body: => T): T = {
    val before = sc.getLocalProperty("spark.job.description")
    sc.setJobDescription(description)
    try body
    finally sc.setJobDescription(before)
  }
}

/** What the user can do about a column that this Spark cannot read: part of a sentence. */
object UnreadableColumnHints {

  /**
   * As what its writer should store the column.
   *
   * @param logical
   *   the column's logical type
   */
  def otherType(logical: String): String = logical.takeWhile(_ != '(') match {
    case "TIMESTAMP" => "timestamps in microseconds"
    case "TIME" => "a number of microseconds or a string"
    case "UUID" => "a string"
    case "DECIMAL" => "a decimal of at most 38 digits"
    case _ => "a type that Spark has, such as a float or a string"
  }

  /**
   * @param packing
   *   the name of a codec or an encoding
   * @param vectorized
   *   whether Spark's own reader has tried, which knows fewer encodings than Parquet's
   */
  def otherPacking(packing: String, vectorized: Boolean): String =
    if (Encodings.isCodec(packing))
      s"put the codec for $packing on Spark's class path, or have its writer use zstd or snappy"
    else {
      val reader =
        if (vectorized) "try Parquet's own reader (SET spark.sql.parquet.enableVectorizedReader = false), or "
        else ""
      s"${reader}have its writer store it without $packing"
    }
}
