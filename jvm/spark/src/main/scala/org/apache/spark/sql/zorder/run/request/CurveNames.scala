package org.apache.spark.sql.zorder.run.request

import java.util.Locale

import org.apache.spark.sql.zorder.conf.Nearest
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.fit.Fit

/** The names of `USING CURVE`. */
private[run] object CurveNames {
  def checked(named: Option[String]): String = {
    val name = named.getOrElse("auto").toLowerCase(Locale.ROOT)
    if (!Fit.curves.contains(name))
      refuse(
        s"USING CURVE $name is not known: use ${Fit.curves.mkString(", ")}.${Nearest.hint(name, Fit.curves)}")
    name
  }
}
