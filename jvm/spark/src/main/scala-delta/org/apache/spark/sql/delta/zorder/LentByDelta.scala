package org.apache.spark.sql.delta.zorder

import org.apache.spark.sql.delta.{
  NoOpTransactionExecutionObserver,
  OptimisticTransaction,
  RowTracking,
  Snapshot,
  TransactionExecutionObserver
}
import org.apache.spark.sql.delta.deletionvectors.RoaringBitmapArray

// Delta shows what is used here to its own packages only. So this one file lies in a package below them.

/** A commit that keeps the ids of the rows it moves. */
object KeptRowIds {

  /** The commit's tags. */
  def tags(snapshot: Snapshot): Map[String, String] = RowTracking.addPreservedRowTrackingTagIfNotSet(snapshot)
}

/** A statement of Delta's whose transaction begins at a version that was checked, or does not begin. */
object PinnedTransaction {

  /** The table had another version already. */
  final class Moved(val version: Long)
      extends RuntimeException(s"The transaction would have begun at version $version")

  /**
   * @param version
   *   that the first transaction of `body` has to begin at; others follow its commit
   * @param begun
   *   called when it has begun
   * @throws Moved
   *   from within `body`
   */
  def at[A](version: Long, begun: () => Unit)(body: => A): A =
    TransactionExecutionObserver.withObserver(new First(version, begun))(body)

  final private class First(version: Long, begun: () => Unit) extends TransactionExecutionObserver {
    private var isFirst = true

    override def startingTransaction(f: => OptimisticTransaction): OptimisticTransaction = {
      val txn = f
      if (isFirst) {
        isFirst = false
        if (txn.snapshot.version != version) throw new Moved(txn.snapshot.version)
        begun()
      }
      txn
    }

    override def createChild(): TransactionExecutionObserver = NoOpTransactionExecutionObserver
    override def preparingCommit[T](f: => T): T = f
    override def beginDoCommit(): Unit = ()
    override def beginBackfill(): Unit = ()
    override def beginPostCommit(): Unit = ()
    override def transactionCommitted(): Unit = ()
    override def transactionAborted(): Unit = ()
  }
}

/** The rows of a file that a set of them leaves, told by ranges. */
object OtherRows {
  private val Step = 1L << 30

  /** The first `n` rows but for these. */
  def of(rows: RoaringBitmapArray, n: Long): RoaringBitmapArray = {
    val others = new RoaringBitmapArray()
    // a range of numbers has no more than an INT counts
    for (from <- 0L until n by Step) others.addRange(from until math.min(n, from + Step))
    others.andNot(rows)
    others
  }
}
