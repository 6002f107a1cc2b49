package sparkzorder.curve.build

import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.{RankBlocks, RankQueries}
import sparkzorder.curve.layout.{CutTree, InFileOrder}

/**
 * Rows and queries that no layout is fitted on, to estimate what queries would read. The rows have more
 * columns than a layout clusters by: what goes along with a clustered column gains too, and is counted.
 *
 * @param files
 *   number of files of the layouts
 * @param pagesPerFile
 *   mean number of pages in a file
 * @param missing
 *   share of the table's rows that are not among these, whose values widen files and pages; 0.0 where layouts
 *   are only compared with each other
 */
final class HeldOut(
    rows: RankedSample,
    queries: RankQueries,
    files: Int,
    pagesPerFile: Double,
    missing: Double) {
  import HeldOut._

  private[this] val pageRows = PlacedRows.pageRows(rows.rows, files, pagesPerFile)

  /**
   * @param columns
   *   numbers of the columns that the tree cuts, in its order
   */
  def read(columns: IndexedSeq[Int], tree: CutTree, inFile: InFileOrder): QueryShares = {
    val placed = PlacedRows.of(rows.only(columns), tree, inFile).withColumnsOf(rows)
    new QueryShares(
      placed.files.widened(FileDistances * missing).shares(queries),
      placed.pages(pageRows).widened(PageDistances * missing).shares(queries),
      queries)
  }

  /** The shares read of blocks that exist already. */
  def read(files: RankBlocks, pages: RankBlocks): QueryShares =
    new QueryShares(files.shares(queries), pages.shares(queries), queries)

  /** Per column of the tree, how often its values are halved on the way to a file: the mean over the rows. */
  def bits(columns: IndexedSeq[Int], tree: CutTree, inFile: InFileOrder): IndexedSeq[Double] = {
    val chosen = rows.only(columns)
    val blocks = PlacedRows.of(chosen, tree, inFile).files
    columns.indices.map { c =>
      val each = (0 until blocks.size).map { b =>
        val share = chosen.shareOfValues(c, blocks.extent(c, b))
        blocks.rows(b) * (if (share <= 0.0) 0.0 else -math.log(share) / math.log(2))
      }
      each.sum / math.max(1, rows.rows)
    }
  }
}

private object HeldOut {

  /** In 2 % of the files, a bound falls short by more mean distances; each is a small part of a file. */
  private val FileDistances = 4.0

  /** Fewer: few rows are sampled of a page, so more would make pages of a sorted column too wide. */
  private val PageDistances = 2.0
}
