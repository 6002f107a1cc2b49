package org.apache.spark.sql.zorder.table

import scala.collection.mutable
import scala.util.{Random, Try}
import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.shims.Shims

/**
 * Another session that never stops to delete, update and merge a few rows of a table `(id BIGINT, a INT, b INT)`, and
 * knows what the table must hold. It is its only other writer.
 *
 * @param restMs
 *   between two statements
 */
private[zorder] class RestlessWriter(user: SparkSession, table: String, seed: Long, restMs: Long) {
  private val session = Shims.cloneSession(Shims.classic(user))
  private val random = new Random(seed)
  private val rows: mutable.Map[Long, (Int, Int)] = mutable.HashMap(read(): _*)
  private var nextId = rows.keys.max + 1
  @volatile private var stopped = false
  @volatile private var broken: Option[Throwable] = None

  /** Statements that were committed, and that failed. */
  @volatile private var committed = 0
  @volatile private var failed = 0

  private val thread = new Thread(
    () => {
      // its share of the cores, where the session has a fair scheduler
      session.sparkContext.setLocalProperty("spark.scheduler.pool", "writer")
      while (!stopped && broken.isEmpty) {
        step()
        Thread.sleep(restMs)
      }
    },
    "restless writer")

  private def start(): Unit = thread.start()

  private def stop(): Unit = {
    stopped = true
    thread.join()
    broken.foreach(e => throw e)
  }

  /**
   * Ten runs beside the writer, with pauses between them.
   *
   * @param run
   *   gives the reason of the result
   * @return
   *   how they ended, and how the writer's statements did
   */
  def besideRuns(run: => String): String = {
    start()
    val outcomes =
      try {
        (1 to 10).map { _ =>
          Thread.sleep(1500)
          try if (run.contains("Others removed or rewrote")) "REBASED" else "DONE"
          catch { case _: ZOrderConflictException => "CONFLICT" }
        }
      } finally stop()
    val counts = outcomes.groupBy(identity).map { case (o, all) => s"$o ${all.length}" }.mkString(", ")
    s"$counts; the writer committed $committed and failed $failed times"
  }

  /** What is in the table and not among the rows that were committed, and the other way round. */
  def difference(): (Seq[(Long, (Int, Int))], Seq[(Long, (Int, Int))]) = {
    // a catalog's cache, where there is one
    Try(session.catalog.refreshTable(table))
    val found = read()
    (found.diff(rows.toSeq), rows.toSeq.diff(found))
  }

  private def read(): Seq[(Long, (Int, Int))] =
    session.sql(s"SELECT id, a, b FROM $table").collect().toSeq
      .map(r => r.getLong(0) -> ((r.getInt(1), r.getInt(2))))

  private def some(): Seq[Long] = random.shuffle(rows.keys.toSeq.sorted).take(20)

  private def step(): Unit = {
    val ids = some()
    val in = ids.mkString("(", ", ", ")")
    random.nextInt(3) match {
      case 0 => commit(s"DELETE FROM $table WHERE id IN $in")(rows --= ids)
      case 1 =>
        commit(s"UPDATE $table SET a = a + 1 WHERE id IN $in")(ids.foreach { i =>
          val (a, b) = rows(i)
          rows(i) = (a + 1, b)
        })
      case _ =>
        val (gone, other) = ids.splitAt(5)
        val more = (nextId until nextId + 20).toSeq
        nextId += 20
        val source = (gone.map(i => s"($i, -1)") ++ other.map(i => s"($i, 7)") ++ more.map(i => s"($i, 8)"))
          .mkString(", ")
        commit(
          s"MERGE INTO $table t USING (SELECT * FROM VALUES $source AS v(id, a)) s ON t.id = s.id " +
            "WHEN MATCHED AND s.a = -1 THEN DELETE WHEN MATCHED THEN UPDATE SET t.a = s.a " +
            "WHEN NOT MATCHED THEN INSERT (id, a, b) VALUES (s.id, s.a, 1)") {
          rows --= gone
          other.foreach(i => rows(i) = (7, rows(i)._2))
          more.foreach(i => rows(i) = (8, 1))
        }
    }
  }

  private def commit(statement: String)(remember: => Any): Unit =
    try {
      session.sql(statement).collect()
      remember
      committed += 1
    } catch {
      case e if RestlessWriter.isConflict(e) => failed += 1
      case NonFatal(e) => broken = Some(e)
    }
}

private[zorder] object RestlessWriter {

  /** Delta's and Iceberg's own exceptions, by name: this file knows neither. */
  private def isConflict(e: Throwable): Boolean =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(10).map(_.getClass.getName)
      .exists(n =>
        n.contains("Concurrent") || n.contains("ValidationException") || n.contains("CommitFailed"))
}
