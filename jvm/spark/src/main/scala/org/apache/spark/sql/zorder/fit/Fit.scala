package org.apache.spark.sql.zorder.fit

import org.apache.spark.sql.zorder.expr.LayoutRef
import sparkzorder.curve.build.{AlignedZ, LayoutBuilder, Lexical, RankedSample}
import sparkzorder.curve.layout.{Layout, LayoutColumn}

/** A clustering column by its SQL text and the SQL name of its type. */
final case class FitColumn(sql: String, dataType: String)

/** Fits a layout on a sample. Deterministic. */
object Fit {

  /** The builders by the names that `USING CURVE` takes. */
  val builders: Map[String, LayoutBuilder] =
    Map("auto" -> AlignedZ, "zorder" -> AlignedZ, "hilbert" -> AlignedZ, "lexical" -> Lexical)

  def layout(sample: Sample, columns: Seq[FitColumn], files: Int, builder: LayoutBuilder): Layout = {
    val scales = sample.columns.map(_.scale)
    val ranked =
      new RankedSample(scales, sample.columns.zip(scales).map { case (c, s) => c.ranks(s) }.toArray)
    Layout(
      columns.zip(scales).map { case (c, s) => LayoutColumn(c.sql, c.dataType, s) }.toIndexedSeq,
      builder.build(ranked, files),
      builder.name,
      builder.inFile)
  }

  def ref(layout: Layout): LayoutRef = new LayoutRef(LayoutJson.id(LayoutJson.write(layout)), layout)
}
