package org.apache.spark.sql.zorder.stats

import org.apache.hadoop.conf.Configuration

import org.apache.spark.SparkContext
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.util.{SerializableConfiguration, Utils}

/** One Spark job over a list of files, results in the order of the list. */
private[stats] object FooterJob {

  /** Up to this number of files, the driver reads them itself: a job would cost more. */
  private val OnDriver = 4
  private val SlicesPerCore = 4

  /** @param onDriver up to this number of files, the driver reads them itself */
  def run[T](
      session: ClassicSession,
      files: Seq[DataFile],
      what: String,
      onDriver: Int = OnDriver)(body: (Configuration, Seq[DataFile]) => Seq[T]): Seq[T] = {
    val conf = session.sessionState.newHadoopConf()
    if (files.size <= onDriver) body(conf, files)
    else {
      val sc = session.sparkContext
      val shipped = new SerializableConfiguration(conf)
      val slices = math.min(files.size, math.max(1, sc.defaultParallelism) * SlicesPerCore)
      val size = (files.size + slices - 1) / slices
      // bytes of our own, so that a session's own serializer need not know our classes
      val tasks = files.grouped(size).map(slice => Utils.serialize(slice.toArray)).toSeq
      described(sc, s"spark-zorder: $what of ${files.size} files") {
        sc.parallelize(tasks, tasks.size).map { bytes =>
          val slice = Utils.deserialize[Array[DataFile]](bytes, classOf[DataFile].getClassLoader)
          Utils.serialize(body(shipped.value, slice.toSeq).toArray[Any])
        }.collect()
      }.toSeq.flatMap { bytes =>
        Utils.deserialize[Array[Any]](bytes, classOf[DataFile].getClassLoader).toSeq.asInstanceOf[Seq[T]]
      }
    }
  }

  /** Runs `body` under a job description and puts the caller's own back. */
  private def described[T](sc: SparkContext, description: String)(body: => T): T = {
    val before = sc.getLocalProperty("spark.job.description")
    sc.setJobDescription(description)
    try body
    finally sc.setJobDescription(before)
  }
}
