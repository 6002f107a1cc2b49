package org.apache.spark.sql.zorder.table.parquet.journal

import java.util.UUID

import scala.util.Try

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.{Operation, RunRecordJson}
import org.apache.spark.sql.zorder.table.file.PathText
import org.apache.spark.sql.zorder.table.parquet.files.{HiddenDirectories, ListedFile, LocalDirectories}
import org.apache.spark.sql.zorder.table.storage.{LocalProcesses, TextFiles}

/**
 * One directory that takes the place of another: the whole table or one partition.
 *
 * @param partition
 *   as in [[org.apache.spark.sql.zorder.table.file.DataFile]]; "" when unpartitioned
 * @param target
 *   where the new data ends up
 * @param staged
 *   where the new data is prepared (in a catalog commit, the target itself)
 * @param old
 *   where the old data is after the commit
 * @param inputs
 *   files of the old data that were rewritten
 * @param kept
 *   files of the old data that were not rewritten and were copied to the new data
 * @param outputs
 *   the new files
 */
private[zorder] final case class SwapUnit(
    partition: String,
    target: Path,
    staged: Path,
    old: Path,
    inputs: Seq[ListedFile],
    kept: Seq[ListedFile],
    outputs: Seq[ListedFile]) {

  /** What vacuum may delete in `old`. */
  def oldFiles: Seq[ListedFile] = inputs ++ kept
}

/**
 * Everything about one commit, kept beside the table so that anybody can finish or undo it.
 *
 * @param txn
 *   unique to this commit
 * @param owner
 *   the JVM that works on it
 * @param table
 *   which table of the catalog (see [[TableIdentity]]); "" for a path
 * @param home
 *   the table's root, where `_zorder/` is
 * @param carried
 *   full paths of files that arrived late in an `old` directory and were copied into the table
 * @param ignored
 *   full paths of files in such a directory of which the user has said that they are no rows of the table
 * @param process
 *   of the owner (see [[LocalProcesses]]), by which its own machine knows at once that it is dead
 */
private[zorder] final case class Journal(
    txn: String,
    kind: JournalKind,
    operation: Operation,
    state: JournalState,
    owner: String,
    table: String,
    runId: String,
    changedMs: Long,
    home: Path,
    staging: Path,
    units: Seq[SwapUnit],
    carried: Seq[ListedFile],
    ignored: Seq[ListedFile] = Nil,
    process: String) {

  def at(newState: JournalState): Journal = copy(
    state = newState,
    owner = Journal.thisJvm,
    changedMs = System.currentTimeMillis,
    process = LocalProcesses.own)

  /** This commit when only time, or the catalog, can decide whether it takes place. */
  def inDoubt: Journal = at(state).copy(owner = Journal.Nobody, process = "")

  /** Whether a commit of this JVM is still working on it. */
  def active: Boolean = Journal.isActive(txn)

  /** Whether directories are being renamed, there or back. */
  def isExchanging: Boolean = state == JournalState.Swapping || state == JournalState.Undoing

  /** Whether its owner gives signs of life: while it exchanges directories, or copies files that are not its own. */
  def beats: Boolean = isExchanging || !operation.makesFiles
}

private[zorder] object Journal {

  /** Identifies this JVM: its own dead commits are recovered without waiting. */
  val thisJvm: String = UUID.randomUUID.toString

  /** The owner of a commit that only time, or the catalog, can decide. */
  val Nobody = "nobody"

  private val activeTxns = java.util.concurrent.ConcurrentHashMap.newKeySet[String]()

  def isActive(txn: String): Boolean = activeTxns.contains(txn)
  def begin(txn: String): Unit = { activeTxns.add(txn); () }
  def end(txn: String): Unit = { activeTxns.remove(txn); () }

  /** A commit that has not staged anything yet. */
  def draft(
      txn: String,
      kind: JournalKind,
      operation: Operation,
      table: String,
      runId: String,
      home: Path,
      staging: Path): Journal =
    Journal(
      txn,
      kind,
      operation,
      JournalState.Staging,
      thisJvm,
      table,
      runId,
      System.currentTimeMillis,
      home,
      staging,
      units = Nil,
      carried = Nil,
      process = LocalProcesses.own)

  /** An id that no earlier commit of the table has. */
  def newTxn(runId: String): String = {
    val id = runId.filter(c => c < 128 && c.isLetterOrDigit)
    s"$id${UUID.randomUUID.toString.replace("-", "").take(if (id.isEmpty) 12 else 6)}"
  }
}

/**
 * How far a commit has come.
 *
 * @param text
 *   as the journal on disk spells it
 */
sealed abstract private[zorder] class JournalState(val text: String)

private[zorder] object JournalState {

  /** A run is writing its staging directory. */
  case object Staging extends JournalState("STAGING")

  /** The staged data is complete; the table is untouched. */
  case object Prepared extends JournalState("PREPARED")

  /** Directories are being renamed. Whoever finds this state finishes the renames. */
  case object Swapping extends JournalState("SWAPPING")

  /** Directories are being renamed back, or the catalog is given the old places again. */
  case object Undoing extends JournalState("UNDOING")

  /** The new data is the table's; `old` directories wait for the vacuum. */
  case object Done extends JournalState("DONE")

  private val all = Seq(Staging, Prepared, Swapping, Undoing, Done)

  def of(text: String): Option[JournalState] = all.find(_.text == text)
}

/**
 * How a commit puts new data in place.
 *
 * @param text
 *   as the journal on disk spells it
 */
sealed abstract private[zorder] class JournalKind(val text: String)

private[zorder] object JournalKind {

  /** The table's path stays, and directories are renamed. */
  case object Path extends JournalKind("path")

  /** The new directories stay where they are, and the catalog gets their locations. */
  case object Catalog extends JournalKind("catalog")

  def of(text: String): Option[JournalKind] = Seq(Path, Catalog).find(_.text == text)
}

/** [[Journal]] as JSON and back. */
private[parquet] object JournalJson {

  private val mapper = new ObjectMapper()

  def write(j: Journal): String = {
    val node = mapper.createObjectNode()
    node.put("version", 1).put("txn", j.txn).put("kind", j.kind.text).put("operation", j.operation.text)
    node.put("state", j.state.text).put("owner", j.owner).put("table", j.table)
    if (j.process.nonEmpty) node.put("process", j.process)
    node.put("runId", j.runId).put("changedMs", j.changedMs)
    node.put("home", j.home.toString).put("staging", j.staging.toString)
    val units = node.putArray("units")
    j.units.foreach { u =>
      val unit = units.addObject()
      unit.put("partition", u.partition).put("target", u.target.toString)
      unit.put("staged", u.staged.toString).put("old", u.old.toString)
      files(unit, "inputs", u.inputs)
      files(unit, "kept", u.kept)
      files(unit, "outputs", u.outputs)
    }
    files(node, "carried", j.carried)
    if (j.ignored.nonEmpty) files(node, "ignored", j.ignored)
    mapper.writeValueAsString(node)
  }

  /**
   * None when the text is not a journal, or one of a later version with a word that this one does not know. Statements
   * that change the table are refused then (`JournalStore.all`).
   */
  def read(text: String): Option[Journal] =
    try Option(mapper.readTree(text)).filter(_.hasNonNull("txn")).flatMap(journal)
    catch { case _: java.io.IOException | _: IllegalArgumentException => None }

  private def journal(node: JsonNode): Option[Journal] =
    for {
      kind <- JournalKind.of(node.path("kind").asText)
      operation <- Operation.of(node.path("operation").asText)
      state <- JournalState.of(node.path("state").asText)
    } yield journal(node, kind, operation, state)

  private def journal(
      node: JsonNode,
      kind: JournalKind,
      operation: Operation,
      state: JournalState): Journal = Journal(
    txn = node.path("txn").asText,
    kind = kind,
    operation = operation,
    state = state,
    owner = node.path("owner").asText,
    table = node.path("table").asText,
    runId = node.path("runId").asText,
    changedMs = node.path("changedMs").asLong,
    home = new Path(node.path("home").asText),
    staging = new Path(node.path("staging").asText),
    units = RunRecordJson.each(node, "units").map { u =>
      SwapUnit(
        u.path("partition").asText,
        new Path(u.path("target").asText),
        new Path(u.path("staged").asText),
        new Path(u.path("old").asText),
        readFiles(u, "inputs"),
        readFiles(u, "kept"),
        readFiles(u, "outputs"))
    },
    carried = readFiles(node, "carried"),
    ignored = readFiles(node, "ignored"),
    process = node.path("process").asText)

  private def files(node: ObjectNode, name: String, list: Seq[ListedFile]): Unit = {
    val array = node.putArray(name)
    list.foreach { f =>
      array.addObject().put("path", f.rel).put("length", f.length).put("modified", f.modified)
    }
  }

  private def readFiles(node: JsonNode, name: String): Seq[ListedFile] =
    RunRecordJson.each(node, name).map { f =>
      ListedFile(f.path("path").asText, f.path("length").asLong, f.path("modified").asLong)
    }
}

/**
 * The journals of one table: `.<base>.zorder-<txn>.json` in the directory `parent`, and the names of the
 * directories that go with them.
 */
private[zorder] final case class JournalStore(fs: FileSystem, parent: Path, base: String) {

  private val prefix = s".$base.zorder-"

  /**
   * All journals that were written here and name our own directories alone, oldest first. Refused where one is there
   * and cannot be read: by it any file may be an old one, or one that a commit at work puts in place.
   */
  def all(): Seq[Journal] = except(Set.empty)

  /** Those of them that can be read, for what does no harm without the others. */
  def known(): Seq[Journal] = readable().filter(isOwn)

  private def isOwn(journal: Journal): Boolean = isHere(journal) && namesOurs(journal)

  /**
   * Whether it was written here, and has not come with a copy of the directory. What such a journal names is the
   * original's, and may still be in use there.
   */
  private def isHere(journal: Journal): Boolean = Option(journal.home.getParent).exists { at =>
    (PathText.of(at) == PathText.of(parent) && Try(fs.makeQualified(at)).isSuccess) ||
    LocalDirectories.same(at, parent)
  }

  /**
   * Whether nothing that a commit renames or deletes lies elsewhere than in the table's directory and in those that
   * commits make. Whoever may write beside a table could otherwise have others' directories deleted by a journal of
   * his own.
   */
  private def namesOurs(journal: Journal): Boolean = {
    val at = copy(parent = journal.home.getParent)
    def isTable(dir: Path) = PathText.isWithin(PathText.of(dir), PathText.of(new Path(at.parent, base)))
    def isBeside(dir: Path) = at.sibling(dir).exists(d => isOurs(d.getName))
    val isOver = journal.state == JournalState.Done
    val changed = journal.kind match {
      case JournalKind.Path =>
        journal.units.flatMap(u => Seq(u.target, u.old) ++ Some(u.staged).filterNot(_ => isOver))
      case JournalKind.Catalog if journal.operation.makesFiles && !isOver =>
        journal.units.flatMap(u => Seq(u.target, u.staged))
      // what a rollback or a way home puts in place may be a partition's own place, and is not deleted
      case JournalKind.Catalog => Nil
    }
    (journal.staging +: changed).forall(d =>
      isTable(d) || isBeside(d) || at.topOf(journal.home, d).isDefined)
  }

  /** All but those of these commits, which are not read. */
  def except(txns: Set[String]): Seq[Journal] = journals(txns, readOrRefuse).filter(isOwn)

  /** Those that can be read, also such as have come with a copy. */
  private[zorder] def readable(): Seq[Journal] = journals(Set.empty, read)

  private def journals(without: Set[String], reading: Path => Option[Journal]): Seq[Journal] = {
    val skipped = without.map(named)
    TextFiles.children(fs, parent).map(_.getPath)
      .filter(p => isJournal(p.getName) && !skipped(p.getName))
      .flatMap(p => reading(p).filter(j => named(j.txn) == p.getName))
      .sortBy(j => (j.changedMs, j.txn))
  }

  private def read(at: Path): Option[Journal] = TextFiles.read(fs, at).flatMap(JournalJson.read)

  /** None if it is gone. */
  private def readOrRefuse(at: Path): Option[Journal] = read(at).orElse {
    // it may have been written just then, or a storage has failed for a moment
    val again = read(at)
    if (again.isEmpty && !isAbsent(at))
      refuse("ZORDER_NO_PERMISSION.READ_JOURNAL", "file" -> at, "path" -> new Path(parent, base))
    again
  }

  /** Whether anything of ours is beside the table, even without a journal. */
  def hasTraces: Boolean = TextFiles.children(fs, parent).exists(s => isOurs(s.getPath.getName))

  /** The journal of a transaction; None also where it cannot be read. */
  def get(txn: String): Option[Journal] = read(file(txn)).filter(isOwnOf(txn))

  /** The journal of a transaction; refused where it is there and cannot be read. */
  def getOrRefuse(txn: String): Option[Journal] = readOrRefuse(file(txn)).filter(isOwnOf(txn))

  private def isOwnOf(txn: String)(journal: Journal): Boolean = journal.txn == txn && isOwn(journal)

  /** Whether there certainly is no such journal: where a storage is out of reach, `get` finds none either. */
  def isGone(txn: String): Boolean = isAbsent(file(txn))

  private def isAbsent(at: Path): Boolean = Try(!fs.exists(at)).getOrElse(false)

  def write(journal: Journal): Journal = {
    TextFiles.replace(fs, file(journal.txn), JournalJson.write(journal))
    journal
  }

  def delete(journal: Journal): Unit = {
    fs.delete(file(journal.txn), false)
    ()
  }

  /** Files of commits that have no journal: a JVM died while it wrote them. */
  def leftovers(): Seq[FileStatus] = TextFiles.children(fs, parent).filter { s =>
    val name = s.getPath.getName
    s.isFile && name.startsWith(prefix) && !isJournal(name) &&
    get(name.stripPrefix(prefix).takeWhile(_ != '.')).isEmpty
  }

  def staging(txn: String): Path = new Path(parent, s"$prefix$txn.new")
  def retired(txn: String): Path = new Path(parent, s".$base.old-$txn")
  def stray(txn: String): Path = new Path(parent, s"$prefix$txn.stray")
  def beat(txn: String): Path = new Path(parent, s"$prefix$txn.beat")

  /**
   * Where a run puts the new directories of an external table. Their names must not begin with the table's: Hive 4 takes
   * partitions for missing whose paths begin like the path of the table and go on otherwise than it writes them.
   */
  def fresh(txn: String): Path = new Path(parent, s"z$txn.$base")

  private def isFresh(name: String): Boolean = JournalStore.madeBy(name).exists(_._2 == base)

  /** The directory of a run that `dir` lies in, if it does: one inside the table's `root`, or beside it. */
  def topOf(root: Path, dir: Path): Option[Path] = HiddenDirectories.topOf(root, dir).orElse(
    sibling(dir).filter(d => isFresh(d.getName)))

  /** The directory beside the table's that `dir` is, or lies in. */
  private def sibling(dir: Path): Option[Path] =
    Iterator.iterate(dir)(_.getParent).takeWhile(d => d != null && d.getParent != null)
      .find(d => PathText.of(d.getParent) == PathText.of(parent))

  /** The file by which a session takes the place of a dead owner. */
  def heir(txn: String, owner: String): Path = new Path(parent, s"$prefix$txn.heir-$owner")

  def isOurs(name: String): Boolean = name.startsWith(prefix) || name.startsWith(s".$base.old-")

  private[parquet] def file(txn: String): Path = new Path(parent, named(txn))

  private def named(txn: String): String = s"$prefix$txn.json"

  private def isJournal(name: String): Boolean =
    name.startsWith(prefix) && name.endsWith(".json") &&
      !name.stripPrefix(prefix).stripSuffix(".json").contains(".")
}

private[zorder] object JournalStore {

  /** The name of the table beside whose directory the journal of a commit lies. */
  def baseOf(fs: FileSystem, parent: Path, txn: String): Option[String] = {
    val rest = s".zorder-$txn.json"
    TextFiles.children(fs, parent).map(_.getPath.getName)
      .find(n => n.startsWith(".") && n.endsWith(rest)).map(_.stripPrefix(".").stripSuffix(rest))
  }

  def beside(fs: FileSystem, root: Path): JournalStore = new JournalStore(fs, root.getParent, root.getName)

  /** The commit that has made a directory beside an external table, by the directory's name. */
  def movedTo(fs: FileSystem, dir: Path): Option[Journal] =
    madeBy(dir.getName).flatMap { case (txn, base) => new JournalStore(fs, dir.getParent, base).get(txn) }
      .filter(_.kind == JournalKind.Catalog)

  /** The commit and the table that a directory is called after, if it is one of ours beside an external table. */
  private def madeBy(name: String): Option[(String, String)] = name match {
    case Fresh(txn, base) => Some(txn -> base)
    case FreshBefore(base, txn) => Some(txn -> base)
    case _ => None
  }

  private val Fresh = "z([A-Za-z0-9]{6,})\\.(.+)".r

  /** Before version 0.2.0. */
  private val FreshBefore = "(.+)\\.z([A-Za-z0-9]{6,})".r

  /**
   * The commit that a place belongs to, by its path. Of several that have left it, as after a place that the catalog was
   * given back, the last one knows what it held.
   *
   * @param journals
   *   oldest first
   */
  def newestOf(journals: Seq[Journal]): Map[String, Journal] =
    journals.flatMap(j => j.units.map(u => PathText.of(u.old) -> j)).toMap
}

/**
 * How a journal identifies its table: `name@time of creation`. The time distinguishes the table from a dropped one
 * that lay at the same place. The name may change and is only for people.
 */
private[zorder] object TableIdentity {

  def of(meta: CatalogTable): String = s"${meta.identifier.unquotedString}@${meta.createTime}"

  def same(a: String, b: String): Boolean = created(a) == created(b)

  /** Certainly two tables. "" is a path, which may be that of any table. */
  def differ(a: String, b: String): Boolean = a.nonEmpty && b.nonEmpty && !same(a, b)

  /**
   * Whether a journal certainly is of a table that lay there before the one of this identity. A run by the path may not
   * have known its table; then the time tells.
   */
  def isOfEarlier(journal: Journal, identity: String): Boolean =
    differ(journal.table, identity) ||
      (journal.table.isEmpty && Try(created(identity).toLong).toOption.exists(_ > journal.changedMs))

  def name(identity: String): String = identity.substring(0, math.max(0, identity.lastIndexOf('@')))

  private def created(identity: String): String = identity.substring(identity.lastIndexOf('@') + 1)
}
