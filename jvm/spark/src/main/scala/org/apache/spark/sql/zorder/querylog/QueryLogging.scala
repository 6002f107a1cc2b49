package org.apache.spark.sql.zorder.querylog

import java.lang.ref.WeakReference
import java.sql.Timestamp
import java.util.UUID
import java.util.concurrent.{CountDownLatch, TimeoutException}
import java.util.concurrent.TimeUnit.{MILLISECONDS, NANOSECONDS}

import scala.collection.mutable
import scala.util.Try
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.{Job, TaskAttemptID}
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd, SparkListenerEvent}
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.apache.spark.sql.util.QueryExecutionListener
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.errors.ZOrderException.{firstLine, refuse}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.querylog.scan.{ColumnStatistics, ScanFinder, ScanStatistics}
import org.apache.spark.sql.zorder.skipping.join.ExecutedKeys
import org.apache.spark.sql.zorder.skipping.predicate.FilterColumn

/**
 * Turns the query log of a session on and off. The session's settings decide: the next statement applies
 * them. `ZORDER LOG START` and `STOP` change them.
 */
object QueryLogging extends Logging {

  /**
   * The result of `START` and `STOP`. `queries`: filters seen; `shapes`: distinct ones kept; `left_out`: not kept, or
   * not written; `literals`: whether values are logged, `keep` or `drop`.
   */
  val resultSchema: StructType = new StructType()
    .add("path", StringType).add("status", StringType)
    .add("queries", LongType).add("shapes", LongType).add("left_out", LongType).add("literals", StringType)

  /** Starts a log or continues the same one. Without a path it is the session's own. */
  def start(session: ClassicSession, path: Option[String], keepLiterals: Option[Boolean]): Row = {
    val conf = session.sessionState.conf
    // refuses what cannot be read before anything is set
    val most = SessionKeys.QueryLogMost.of(conf)
    val keeps = keepLiterals.getOrElse(SessionKeys.QueryLogLiterals.of(conf) == QueryLogSettings.Keep)
    val directory = path.orElse(Some(SessionKeys.QueryLogPath.of(conf)).filter(_.nonEmpty))
      .getOrElse(refuse("ZORDER_INVALID_QUERY_LOG.NO_PLACE", "setting" -> SessionKeys.QueryLogPath.key))
    val qualified = made(session, directory)
    val settings = QueryLogSettings(qualified, keeps, most)
    conf.setConfString(SessionKeys.QueryLogPath.key, qualified)
    conf.setConfString(SessionKeys.QueryLogLiterals.key, settings.literals)
    follow(session, Some(settings))
    row("STARTED", running(session), unwritten = 0L)
  }

  /** The full path of the directory. */
  private def made(session: ClassicSession, directory: String): String =
    try {
      val root = new Path(directory)
      val fs = root.getFileSystem(session.sessionState.newHadoopConf())
      val qualified = fs.makeQualified(root)
      val found =
        try fs.mkdirs(root)
        catch { case e: java.io.IOException => failed(qualified.toString, e) }
      if (!found) refuse("ZORDER_INVALID_QUERY_LOG.NOT_A_DIRECTORY", "dir" -> qualified)
      qualified.toString
    } catch {
      // the text is no path, or one of a file system that is not there
      case e @ (_: java.io.IOException | _: IllegalArgumentException) => failed(directory, e)
    }

  private def failed(directory: String, e: Throwable): Nothing =
    refuse("ZORDER_STORAGE_FAILED.QUERY_LOG", "dir" -> directory, "cause" -> firstLine(e))

  /** Stops the log and writes the queries that have ended. */
  def stop(session: ClassicSession): Row = {
    val last = running(session)
    session.conf.unset(SessionKeys.QueryLogPath.key)
    session.conf.unset(SessionKeys.QueryLogLiterals.key)
    // the application's own settings may name a path too
    session.sessionState.conf.setConfString(SessionKeys.QueryLogPath.key, "")
    follow(session, None)
    row(if (last.isEmpty) "NOT_STARTED" else "STOPPED", last, last.fold(0L)(_.recorder.unwritten))
  }

  /** Runs for every analysed statement: it reads the settings once and never fails the statement. */
  def check(session: SparkSession): LogicalPlan => Unit = {
    val classic = Shims.classic(session)
    var followed: Option[QueryLogSettings] = None
    _ =>
      try {
        val wanted = QueryLogSettings.orCautious(classic.sessionState.conf)
        if (wanted != followed) {
          followed = wanted
          wanted.flatMap(_.complaint).foreach(c =>
            logWarning(s"The query log leaves out values, and keeps as many queries as by default: $c"))
          follow(classic, wanted)
        }
      } catch {
        case e @ (NonFatal(_) | _: LinkageError) => logWarning("The query log cannot be turned on or off", e)
      }
  }

  private def follow(session: ClassicSession, wanted: Option[QueryLogSettings]): Unit = {
    // not under the lock: other sessions need not wait for the queries of this one
    running(session).filterNot(l => wanted.contains(l.settings)).foreach(_.await())
    synchronized {
      val last = running(session)
      if (last.map(_.settings) != wanted) {
        last.foreach(_.finish(session))
        val over = logs.filter(l => last.contains(l) || l.isOver)
        (over -- last).foreach(_.release())
        logs --= over
        wanted.foreach { settings =>
          val log = new QueryLogListener(session, settings)
          log.register(session)
          logs += log
        }
      }
    }
  }

  /** Of all sessions. Where one is gone, nobody else writes what is left of its log. */
  private var logs = Set.empty[QueryLogListener]

  private def running(session: ClassicSession): Option[QueryLogListener] =
    session.listenerManager.listListeners().collectFirst { case l: QueryLogListener if !l.isFinished => l }

  private def row(status: String, log: Option[QueryLogListener], unwritten: Long): Row = Row(
    log.map(_.settings.path).orNull,
    status,
    log.fold(0L)(_.recorder.seen),
    log.fold(0L)(_.recorder.kept.toLong),
    log.fold(0L)(_.recorder.leftOut) + unwritten,
    log.map(_.settings.literals).orNull)
}

/**
 * How the queries of a session are logged.
 *
 * @param complaint
 *   of a setting that cannot be read
 */
final private case class QueryLogSettings(
    path: String,
    keepLiterals: Boolean,
    maxQueries: Int,
    complaint: Option[String] = None) {

  /** As the setting spells it. */
  def literals: String = if (keepLiterals) QueryLogSettings.Keep else QueryLogSettings.Drop
}

private object QueryLogSettings {
  val Keep = "keep"
  private val Drop = "drop"

  /**
   * What the session has set; for a setting that cannot be read its default, so that no value is logged by mistake. None
   * while it sets no path: nothing is logged then.
   */
  def orCautious(conf: SQLConf): Option[QueryLogSettings] =
    Some(SessionKeys.QueryLogPath.of(conf)).filter(_.nonEmpty).map { path =>
      val unread = Seq(SessionKeys.QueryLogLiterals, SessionKeys.QueryLogMost).flatMap(s =>
        Try(s.of(conf)).failed.toOption.map(firstLine))
      QueryLogSettings(
        path,
        keepLiterals = SessionKeys.QueryLogLiterals.orDefault(conf) == Keep,
        SessionKeys.QueryLogMost.orDefault(conf),
        unread.headOption)
    }
}

/**
 * Logs the filters of a session's queries. Spark calls it on a thread of its own after a query has ended, so
 * no query waits for it. An error is logged once, and so is one of writing.
 *
 * The application holds it until it ends. So it does not hold its session, which Spark forgets when nobody uses it.
 */
final private class QueryLogListener(session: ClassicSession, val settings: QueryLogSettings)
    extends QueryExecutionListener
    with Logging {
  private val directory = new Path(settings.path)
  private val owner = new WeakReference(session)
  private val context = session.sparkContext
  private val ownWriter = new QueryLogWriter(session, directory)
  private val facts = new ScanStatistics
  @volatile private var complained = false
  @volatile private var complainedOfWriting = false
  @volatile private var finished = false

  val recorder: QueryRecorder = new QueryRecorder(settings.maxQueries, isWritten)

  /** By the settings that the session has now, or those that it had at the start if it is gone. */
  private def isWritten(batch: Seq[LoggedQuery]): Boolean =
    try {
      Option(owner.get).fold(ownWriter)(new QueryLogWriter(_, directory)).append(batch)
      true
    } catch {
      case e @ (NonFatal(_) | _: LinkageError) =>
        if (!complainedOfWriting)
          logWarning(s"The query log cannot be written to ${settings.path}; this is said once", e)
        complainedOfWriting = true
        false
    }

  private val atEnd = new SparkListener {
    override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit = recorder.flush()

    override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
      case QueryLogMark(passed) => passed.countDown()
      case _ =>
    }
  }

  /** Whether it was stopped. Sessions that were cloned from its own have it still. */
  def isFinished: Boolean = finished

  /** Whether its session or its application is gone. */
  def isOver: Boolean = owner.get == null || context.isStopped

  override def onSuccess(funcName: String, qe: QueryExecution, durationNs: Long): Unit = guarded {
    // a batch of a stream reads what has come since the last one, however files are laid out
    if (!finished && !qe.logical.isStreaming) add(qe, durationNs)
  }

  private def add(qe: QueryExecution, durationNs: Long): Unit = {
    val began = new Timestamp(System.currentTimeMillis() - NANOSECONDS.toMillis(durationNs))
    new ScanFinder(keys(qe)).of(qe.optimizedPlan).foreach { scan =>
      import settings.keepLiterals
      val of: FilterColumn => ColumnStatistics = facts.of(qe.sparkSession, scan)
      val filters = LoggedRanges.of(scan.ranges, keepLiterals, of)
      val conjunctions = LoggedKeys.beside(filters, scan, keepLiterals, of)
      if (conjunctions.nonEmpty) recorder.add(QueryShape.logged(scan.table, began, conjunctions))
    }
  }

  /** Without them, a query is logged by its filters. */
  private def keys(qe: QueryExecution): Map[ExprId, Seq[Set[Any]]] =
    try ExecutedKeys.of(qe.executedPlan)
    catch { case NonFatal(_) | _: LinkageError => Map.empty }

  /** A query that failed says nothing about what people ask for. */
  override def onFailure(funcName: String, qe: QueryExecution, exception: Exception): Unit = ()

  def register(of: ClassicSession): Unit = {
    of.listenerManager.register(this)
    context.addSparkListener(atEnd)
  }

  /**
   * Waits for the events of queries that have ended. Spark tells its listeners of them in their order, so that they have
   * all come when a later event has.
   */
  def await(): Unit = if (!context.isStopped) guarded {
    val mark = QueryLogMark(new CountDownLatch(1))
    context.listenerBus.post(mark)
    if (!mark.passed.await(QueryLogListener.WaitMs, MILLISECONDS))
      throw new TimeoutException("Spark has not told of all queries yet.")
  }

  /** Ends the log of this session and of its clones. */
  def finish(of: ClassicSession): Unit = {
    finished = true
    of.listenerManager.unregister(this)
    release()
  }

  /** Writes the rest. */
  def release(): Unit = {
    context.removeSparkListener(atEnd)
    recorder.flush()
  }

  private def guarded(body: => Unit): Unit =
    try body
    catch {
      case e @ (NonFatal(_) | _: LinkageError) =>
        if (!complained) logWarning(s"A query could not be logged in ${settings.path}; this is said once", e)
        complained = true
    }
}

private object QueryLogListener {
  private val WaitMs = 5000L
}

/** An event by which a log knows that those before it have come. */
final private case class QueryLogMark(passed: CountDownLatch) extends SparkListenerEvent {
  override protected[spark] def logEvent: Boolean = false
}

/**
 * Counts logged queries in bounded memory and writes them in batches.
 *
 * @param most
 *   number of distinct queries to keep; later ones of another shape are left out
 * @param write
 *   takes a batch: each shape once, its weight counted; whether it is written
 */
final private[querylog] class QueryRecorder(most: Int, write: Seq[LoggedQuery] => Boolean) {
  private val shapes = mutable.HashSet.empty[String]
  private val pending = mutable.LinkedHashMap.empty[String, LoggedQuery]
  private var sinceFlush = 0
  private var seenQueries = 0L
  private var leftOutQueries = 0L

  /** All queries, including those left out. */
  def seen: Long = synchronized(seenQueries)

  def leftOut: Long = synchronized(leftOutQueries)

  /** Queries that wait to be written, or could not be. */
  def unwritten: Long = synchronized(pending.values.map(_.weight).sum.toLong)

  /** Distinct queries that were kept. */
  def kept: Int = synchronized(shapes.size)

  def add(query: LoggedQuery): Unit = synchronized {
    seenQueries += 1
    if (shapes.size >= most && !shapes.contains(query.query)) leftOutQueries += 1
    else {
      shapes += query.query
      val before = pending.get(query.query)
      pending(query.query) = before.fold(query)(q => q.copy(weight = q.weight + query.weight))
      sinceFlush += 1
      if (sinceFlush >= QueryRecorder.Batch) flush()
    }
  }

  /** Writes what has been counted since the last time. What cannot be written is tried again with what comes next. */
  def flush(): Unit = synchronized {
    if (pending.nonEmpty && write(pending.values.toVector)) pending.clear()
    sinceFlush = 0
  }
}

private[querylog] object QueryRecorder {

  /** Queries between two files of a log. */
  val Batch = 1000
}

/**
 * Adds files to a query log. The driver writes them without a job, so it also works while the application
 * ends. It does not keep the session whose settings it has.
 */
final private class QueryLogWriter(session: ClassicSession, directory: Path) {
  private val (conf, factory) = {
    val job = Job.getInstance(session.sessionState.newHadoopConf())
    val made = new ParquetFileFormat().prepareWrite(session, job, Map.empty, LoggedQuery.schema)
    job.getConfiguration.set(SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key, "TIMESTAMP_MICROS")
    (job.getConfiguration, made)
  }

  /** One more file in the directory, which appears when it is complete. */
  def append(queries: Seq[LoggedQuery]): Unit = {
    val name = s"queries-${UUID.randomUUID()}.parquet"
    val hidden = new Path(directory, s".$name")
    val context = new TaskAttemptContextImpl(conf, new TaskAttemptID())
    val writer = factory.newInstance(hidden.toString, LoggedQuery.schema, context)
    val toCatalyst = CatalystTypeConverters.createToCatalystConverter(LoggedQuery.schema)
    val fs = directory.getFileSystem(conf)
    try {
      try queries.foreach(q => writer.write(toCatalyst(LoggedQuery.row(q)).asInstanceOf[InternalRow]))
      finally writer.close()
      if (!fs.rename(hidden, new Path(directory, name)))
        throw new java.io.IOException(s"$hidden cannot be renamed to $name")
    } catch {
      case e: Throwable =>
        // the next try has another name
        Try(fs.delete(hidden, false))
        throw e
    }
  }
}
