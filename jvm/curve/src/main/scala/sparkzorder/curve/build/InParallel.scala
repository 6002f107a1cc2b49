package sparkzorder.curve.build

import java.util.stream.IntStream

/** Pure work on the idle cores of the driver. */
private[build] object InParallel {

  /** The results in the order of the things, whichever is done first. */
  def map[A, B](things: IndexedSeq[A])(work: A => B): IndexedSeq[B] = {
    val results = new Array[Any](things.length)
    IntStream.range(0, things.length).parallel().forEach(i => results(i) = work(things(i)))
    results.toIndexedSeq.map(_.asInstanceOf[B])
  }
}
