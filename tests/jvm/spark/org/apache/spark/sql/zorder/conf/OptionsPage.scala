package org.apache.spark.sql.zorder.conf

/** Generates the page `docs/guide/options.md` from the options; a test compares the two. */
object OptionsPage {

  def markdown: String = {
    val options = ZOrderOption.all.map(o => row(s"`${o.name}`", o.unit, o.default, o.doc))
    val settings = SessionKeys.settings.map(s =>
      row(s"`${s.key}`", s.unit, if (s.default.isEmpty) "none" else s.default, s.doc))
    val lines = Seq("# Options", "") ++ intro ++ Seq("") ++ head ++ options ++
      Seq("", "Settings of the session alone:", "") ++ head ++ settings ++
      Seq("", "This page is generated from the code.")
    lines.mkString("", "\n", "\n")
  }

  private val intro = Seq(
    "The same names work in a statement, `WITH (fileCount = 64)`; as a table property, `zorder.fileCount`;",
    "as a session default, `spark.zorder.fileCount`; and on the builders. The statement wins over the table",
    "property, the table property over the session. Upper and lower case do not matter. An unknown name is an",
    "error. The names of settings with one more dot, such as `spark.zorder.skipping.enabled`, are not checked: one with a",
    "typing error has no effect. Their values are checked by each run. The options of `ZORDER INDEX` are [elsewhere](skipping.md).",
    "",
    "In Python: `.option(\"fileCount\", 64)`. Of an option that is set twice the later value counts, and columns are a list or one",
    "text: `.option(\"bloom\", [\"id\", \"email\"])`."
  )

  private val head = Seq(row("name", "unit", "default", "what it does"), row("---", "---", "---", "---"))

  private def row(cells: String*): String = cells.mkString("| ", " | ", " |")
}
