package sparkzorder.curve.build

/** The builders by the names that `USING CURVE` takes. */
object Builders {
  val Auto = "auto"
  private val Trees: Seq[LayoutBuilder] = Seq(KdTree, QueryTree, LiteralTree)

  val names: Seq[String] = Seq(Auto, "zorder", "hilbert", "lexical", "tree")

  /**
   * The builders to choose among. `hilbert` is the aligned Z-order with the rows of a file along the Hilbert
   * curve, which at the level of files reads what a Hilbert curve does.
   *
   * @param columns
   *   number of clustering columns
   */
  def named(name: String, columns: Int): Seq[LayoutBuilder] = name match {
    case Auto =>
      (AlignedZ +: (0 until math.min(
        columns,
        MostLexical)).map(Lexical.by)) ++ (BitPatternTree +: SliceTree +: Trees)
    case "zorder" | "hilbert" => Seq(AlignedZ)
    case "lexical" => Seq(Lexical)
    case "tree" => Trees
    case other => throw new IllegalArgumentException(s"unknown curve: $other; one of ${names.mkString(", ")}")
  }

  private val MostLexical = 8
}
