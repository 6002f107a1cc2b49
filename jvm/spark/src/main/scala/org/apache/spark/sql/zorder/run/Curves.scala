package org.apache.spark.sql.zorder.run

import java.util.Locale

import org.apache.spark.sql.zorder.ZOrderException.refuse
import org.apache.spark.sql.zorder.conf.Nearest
import org.apache.spark.sql.zorder.fit.Fit
import sparkzorder.curve.build.LayoutBuilder

/** The names of `USING CURVE`. */
private[run] object Curves {
  def builder(named: Option[String]): LayoutBuilder = {
    val name = named.getOrElse("auto").toLowerCase(Locale.ROOT)
    Fit.builders.getOrElse(
      name,
      refuse(s"USING CURVE $name is not known: use ${Fit.builders.keys.toSeq.sorted.mkString(", ")}." +
        Nearest.hint(name, Fit.builders.keys)))
  }
}
