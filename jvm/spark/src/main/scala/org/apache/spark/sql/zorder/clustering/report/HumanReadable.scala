package org.apache.spark.sql.zorder.clustering.report

import java.util.Locale

import org.apache.spark.sql.zorder.table.file.DataFile

/** Numbers as people read them. */
private[zorder] object HumanReadable {
  def files(files: Seq[DataFile]): String =
    s"${count(files.length.toLong, "file")}, ${bytes(files.map(_.length).sum)}"

  def count(n: Long, noun: String): String =
    String.format(Locale.ROOT, "%,d", Long.box(n)) + " " + noun + (if (n == 1) "" else "s")

  /** The verb behind a count. */
  def are(n: Long): String = if (n == 1) "is" else "are"

  def bytes(n: Long): String = {
    val units = Seq("B", "KiB", "MiB", "GiB", "TiB", "PiB")
    val power =
      if (n <= 0) 0 else math.min(units.length - 1, (63 - java.lang.Long.numberOfLeadingZeros(n)) / 10)
    if (power == 0) s"$n B"
    else String.format(Locale.ROOT, "%.1f %s", Double.box(n / math.pow(1024, power.toDouble)), units(power))
  }

  def percent(x: Double): String = String.format(Locale.ROOT, "%.1f %%", Double.box(x * 100))

  def share(x: Double): String = String.format(Locale.ROOT, "%.3f", Double.box(x))

  def tenths(x: Double): String = String.format(Locale.ROOT, "%.1f", Double.box(x))
}
