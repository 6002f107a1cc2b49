package sparkzorder.curve.layout

/** The order of the rows inside a file. `name` describes it fully: `named` turns it back into the order. */
sealed abstract class InFileOrder(val name: String) extends Serializable

object InFileOrder {

  /** Hilbert curve over the ranks within the file: row groups and pages skip on every column. */
  case object Hilbert extends InFileOrder("hilbert")

  /** Sorted by the first column, then the second, ... */
  case object Lexical extends InFileOrder("lexical")

  /**
   * A Hilbert curve over cells that are stretched first, so that pages become narrower in some columns.
   *
   * @param bits
   *   per column, how many more of the halvings inside a file it gets than the others
   */
  final case class Stretched(bits: IndexedSeq[Int])
      extends InFileOrder("hilbert" + bits.mkString(" ", " ", ""))

  def named(name: String): InFileOrder = name match {
    case Hilbert.name => Hilbert
    case Lexical.name => Lexical
    case other if other.matches("hilbert( -?\\d{1,2})+") =>
      Stretched(other.split(' ').tail.map(_.toInt).toIndexedSeq)
    case other => throw new IllegalArgumentException(s"unknown order inside files: $other")
  }
}
