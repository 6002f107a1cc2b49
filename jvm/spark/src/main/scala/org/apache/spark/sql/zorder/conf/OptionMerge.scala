package org.apache.spark.sql.zorder.conf

import java.util.Locale

/** Statement over table property over session over default. */
private[conf] object OptionMerge {

  /** Table properties of ours that are no options: what to cluster by, and what a commit notes down. */
  private val ownProperties = Seq("by", "curve", "txn", "layout", "run", "root", "location", "previous")

  def merge(
      statement: Map[String, String],
      tableProperties: Map[String, String],
      session: Map[String, String]): RunOptions = {
    val layers = Seq(
      known(session, ZOrderOption.SessionPrefix, _.contains('.')),
      known(tableProperties, ZOrderOption.TablePrefix, n => n.contains('.') || ownProperties.contains(n)),
      known(statement, "", _ => false))
    layers.flatten.foldLeft(RunOptions()) { case (options, (option, value)) => option.set(options, value) }
  }

  /** The options under a prefix; keys that are ours but no options are passed over. */
  private def known(
      pairs: Map[String, String],
      prefix: String,
      passedOver: String => Boolean): Seq[(ZOrderOption, String)] =
    pairs.toSeq.sorted.filter(_._1.toLowerCase(Locale.ROOT).startsWith(prefix)).flatMap { case (key, value) =>
      val name = key.substring(prefix.length)
      if (passedOver(name.toLowerCase(Locale.ROOT))) None
      else Some((ZOrderOption.find(name).getOrElse(
        ZOrderOption.unknown(key, name, ZOrderOption.all.map(_.name))), value))
    }
}
