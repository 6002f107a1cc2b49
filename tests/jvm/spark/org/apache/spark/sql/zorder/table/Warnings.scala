package org.apache.spark.sql.zorder.table

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import org.apache.logging.log4j.{Level, LogManager}
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Property

/** What the log warns of. */
object Warnings {

  /** The warnings of one logger in `body`, whatever the level of the others is. */
  def of(name: String)(body: => Any): Seq[String] = {
    val said = new ConcurrentLinkedQueue[String]
    val appender = new AbstractAppender("warnings", null, null, true, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit = {
        if (event.getLevel == Level.WARN) said.add(event.getMessage.getFormattedMessage)
        ()
      }
    }
    val logger = LogManager.getLogger(name).asInstanceOf[Logger]
    val level = logger.getLevel
    appender.start()
    logger.addAppender(appender)
    logger.setLevel(Level.WARN)
    try {
      body
      said.asScala.toVector
    } finally {
      logger.removeAppender(appender)
      logger.setLevel(level)
    }
  }
}
