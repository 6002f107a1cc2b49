package sparkzorder.curve.build

/**
 * A curve that `USING CURVE` takes.
 *
 * @param builders
 *   the builders for a number of clustering columns; of several, the one whose layout reads least is taken
 */
final case class Curve(name: String, builders: Int => Seq[LayoutBuilder])

/** The curves. A new one is added here; SQL, the options of a run and the messages read this list. */
object CurveRegistry {
  private val trees: Seq[LayoutBuilder] = Seq(KdTree, QueryTree, LiteralTree)

  /** `auto` tries sorts that begin with each of the first columns, up to this number. */
  private val MostSorts = 8

  val Auto: Curve = Curve(
    "auto",
    columns =>
      AlignedZ +: ((0 until math.min(columns, MostSorts)).map(Lexical.by) ++ (SliceTree +: trees)))

  val ZOrder: Curve = Curve("zorder", _ => Seq(AlignedZ))

  /** A Hilbert curve in files. The files are those of the aligned Z-order, which reads the same. */
  val Hilbert: Curve = Curve("hilbert", _ => Seq(AlignedZ))

  val Sort: Curve = Curve("lexical", _ => Seq(Lexical))

  val Tree: Curve = Curve("tree", _ => trees)

  val all: Seq[Curve] = Seq(Auto, ZOrder, Hilbert, Sort, Tree)

  val names: Seq[String] = all.map(_.name)

  /** The builders of the curve with this name, for a number of clustering columns. */
  def builders(name: String, columns: Int): Seq[LayoutBuilder] =
    all.find(_.name == name).map(_.builders(columns)).getOrElse(
      throw new IllegalArgumentException(s"unknown curve: $name; one of ${names.mkString(", ")}"))
}
