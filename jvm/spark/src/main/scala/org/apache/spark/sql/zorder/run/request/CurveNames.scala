package org.apache.spark.sql.zorder.run.request

import java.util.Locale

import org.apache.spark.sql.zorder.conf.NearestName
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import sparkzorder.curve.build.Curves

/** The names of `USING CURVE`. */
private[run] object CurveNames {
  def checked(named: Option[String]): String = {
    val name = named.getOrElse(Curves.Auto.name).toLowerCase(Locale.ROOT)
    if (!Curves.names.contains(name))
      refuse(
        s"USING CURVE $name is not known: use ${Curves.names.mkString(", ")}.${NearestName.hint(name, Curves.names)}")
    name
  }
}
