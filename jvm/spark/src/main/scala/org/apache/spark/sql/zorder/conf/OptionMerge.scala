package org.apache.spark.sql.zorder.conf

import java.util.Locale

import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse

/** Merges options: statement over table property over session over default. */
private[conf] object OptionMerge {

  /** Our table properties that are no options: what to cluster by, and what a commit records. */
  private val ownProperties = Seq("by", "curve", "txn", "base", "layout", "exchanging")

  def merge(
      statement: Map[String, String],
      tableProperties: Map[String, String],
      session: Map[String, String]): RunOptions = {
    val retention = ZOrderOption.Retention
    statement.keys.find(_.equalsIgnoreCase(retention.name)).foreach(_ =>
      refuse(
        s"${retention.name} says how long ZORDER VACUUM keeps old files and means nothing to a run: write " +
          s"ZORDER VACUUM ... RETAIN n HOURS, or set the table property ${retention.tableProperty} or " +
          s"${retention.sessionKey}."))
    SessionKeys.settings.foreach(s => session.get(s.key).foreach(s.check))
    val layers = Seq(
      known(session, ZOrderOption.SessionPrefix, _.contains('.')),
      known(tableProperties, ZOrderOption.TablePrefix, n => n.contains('.') || ownProperties.contains(n)),
      known(statement, "", _ => false)
    )
    layers.flatten.foldLeft(RunOptions())(put)
  }

  /** How long a vacuum keeps old files. Ignores other options, which a vacuum does not use. */
  def retention(tableProperties: Map[String, String], session: Map[String, String]): Long =
    only(ZOrderOption.Retention, Map.empty, tableProperties, session).retentionMs

  def location(
      statement: Map[String, String],
      tableProperties: Map[String, String],
      session: Map[String, String]): String =
    only(ZOrderOption.Location, statement, tableProperties, session).location

  /** The one option, from the first that says it. */
  private def only(
      option: ZOrderOption,
      statement: Map[String, String],
      tableProperties: Map[String, String],
      session: Map[String, String]): RunOptions = {
    def under(key: String, pairs: Map[String, String]) = pairs.find(_._1.equalsIgnoreCase(key))
    under(option.name, statement).orElse(under(option.tableProperty, tableProperties))
      .orElse(under(option.sessionKey, session))
      .map { case (key, value) => (option, key, value) }.foldLeft(RunOptions())(put)
  }

  /** Refuses a bad value by the key it was written with, so that the user finds the place. */
  private def put(options: RunOptions, found: Found): RunOptions = {
    val (option, key, value) = found
    try option.set(options, value)
    catch {
      case e: ZOrderException => refuse(e.getMessage.replace(s"option ${option.name} ", s"option $key "))
    }
  }

  private type Found = (ZOrderOption, String, String)

  /** The options under a prefix, without our keys that are no options. */
  private def known(
      pairs: Map[String, String],
      prefix: String,
      passedOver: String => Boolean): Seq[Found] =
    pairs.toSeq.sorted.filter(_._1.toLowerCase(Locale.ROOT).startsWith(prefix)).flatMap { case (key, value) =>
      val name = key.substring(prefix.length)
      if (passedOver(name.toLowerCase(Locale.ROOT))) None
      else Some((ZOrderOption.named(key, prefix), key, value))
    }
}
