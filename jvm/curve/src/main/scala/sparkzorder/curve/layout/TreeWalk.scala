package sparkzorder.curve.layout

import scala.collection.mutable.ArrayBuffer

/**
 * A tree of cuts as one flat array, two levels a step: the three cuts of a step are read and compared at the
 * same time, where a step a level would wait for each. There is no branch on a rank, since which way a row
 * goes cannot be predicted.
 *
 * @param nodes
 *   ten ints a node: column and cut of the node itself, of its left child and of its right child, then the
 *   places of the four grandchildren from left to right; a negative place is leaf -1 - place
 */
final private[layout] class TreeWalk private (nodes: Array[Int]) {

  /** The leaf, counted from the left, in which a row has these ranks. */
  def leaf(ranks: Array[Int]): Int = {
    // a tree without cuts has no node to begin with
    var node = if (nodes.length == 0) -1 else 0
    while (node >= 0) {
      // a sign is -1 on the left of a cut, else 0
      val sign = (ranks(nodes(node)) - nodes(node + 1)) >> 31
      val ifLeft = (ranks(nodes(node + 2)) - nodes(node + 3)) >> 31
      val ifRight = (ranks(nodes(node + 4)) - nodes(node + 5)) >> 31
      val next = ifRight ^ ((ifLeft ^ ifRight) & sign)
      node = nodes(node + 9 + 2 * sign + next)
    }
    -1 - node
  }
}

private[layout] object TreeWalk {
  private val Ints = 10

  def apply(tree: CutTree): TreeWalk = {
    val out = ArrayBuffer.empty[Int]
    var leaves = 0

    // puts the column and the cut of one of a node's three cuts; a leaf has the same on both sides of any
    def put(at: Int, tree: CutTree): (CutTree, CutTree) = tree match {
      case Cut(column, rank, left, right) =>
        out(at) = column
        out(at + 1) = rank
        (left, right)
      case leaf: Leaf => (leaf, leaf)
    }

    def place(tree: CutTree): Int = tree match {
      case _: Leaf =>
        leaves += 1
        -leaves
      case _: Cut =>
        val me = out.length
        out ++= Seq.fill(Ints)(0)
        val (left, right) = put(me, tree)
        pair(me + 6, left, put(me + 2, left))
        pair(me + 8, right, put(me + 4, right))
        me
    }

    def pair(at: Int, child: CutTree, children: (CutTree, CutTree)): Unit = {
      out(at) = place(children._1)
      out(at + 1) = child match {
        case _: Leaf => out(at)
        case _: Cut => place(children._2)
      }
    }

    place(tree)
    new TreeWalk(out.toArray)
  }
}
