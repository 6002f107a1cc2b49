package org.apache.spark.sql.zorder.table.iceberg

import java.util.zip.GZIPInputStream

import scala.collection.JavaConverters._
import scala.util.Try

import com.fasterxml.jackson.core.{JsonFactory, JsonToken}
import org.apache.hadoop.fs.Path
import org.apache.iceberg.{Snapshot, TableMetadata, TableMetadataParser}
import org.apache.iceberg.io.{FileIO, SupportsPrefixOperations}
import org.apache.spark.sql.zorder.table.storage.DriverReads
import org.apache.spark.util.Utils

/**
 * Tables at one location. A renamed table keeps its directory, and most catalogs give the next table of its old
 * name the same one; `LOCATION` may be copied, and two catalogs may go on with one table. To each of them, the
 * files of the other are files that no snapshot has.
 */
private[iceberg] object SharedLocation {
  private val Threads = 8

  /** So many versions that the table does not name are looked at closely, where it names few. */
  private val Newest = 8

  /** How often, and after how long, it is asked again whether a version is that of a commit under way. */
  private val Looks = 3
  private val CommitMs = 1000L
  private val json = new JsonFactory()

  /** How a Hadoop table calls its versions, and a version until its commit. */
  private val Version = "v\\d+\\..*"
  private val Uncommitted = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\\..*"

  /**
   * A file of metadata that is none of the table's.
   *
   * @param mayBeFork
   *   whether it may have commits of the same table, whose snapshots have files of ours, too
   */
  final case class Other(file: String, mayBeFork: Boolean) {

    /** Why files stay. */
    def why(table: String): String =
      if (mayBeFork)
        s"$file may have commits of this table that $table does not have, as where another catalog writes " +
          "to it, too: no snapshot expires, and all files stay. Give each table a location of its own, or " +
          "delete that file if it is hours old and no catalog names it: a commit that died has left it."
      else
        s"$file is metadata of another table: files here that no snapshot of $table has may be that " +
          "table's, and stay. Give each table a location of its own."
  }

  /** None if the location is the table's alone. */
  def others(opened: IcebergClusterTable): Option[Other] = {
    def look(judged: String => Boolean): Seq[Other] = {
      val listed = metadataFiles(opened).filter(judged)
      // what others commit meanwhile is not listed
      val mine = IcebergRefusals.operations(opened.table).refresh()
      val io = IcebergRefusals.operations(opened.table).io
      def notOf(files: Seq[String], own: Seq[String]): Seq[String] = {
        val known = own.map(nameOf).toSet
        files.filterNot(file => known(nameOf(file)))
      }
      val unknown = notOf(listed, mine.metadataFileLocation +: mine.previousFiles.asScala.map(_.file).toSeq)
      if (unknown.isEmpty) Nil
      else {
        val line = OwnLine.of(io, mine)
        ofOthers(io, notOf(unknown, line.files), mine, line)
      }
    }
    // a commit writes its metadata before that is the table's
    def settled(found: Seq[Other], looks: Int): Seq[Other] =
      if (looks == 0 || !found.exists(_.mayBeFork)) found
      else {
        Thread.sleep(CommitMs)
        settled(look(found.map(_.file).toSet), looks - 1)
      }
    val found = settled(look(_ => true), Looks)
    found.find(_.mayBeFork).orElse(found.headOption)
  }

  private def ofOthers(
      io: FileIO,
      unknown: Seq[String],
      mine: TableMetadata,
      line: OwnLine): Seq[Other] = {
    val heads = DriverReads.each(unknown, Threads)(file => (file, head(io, file)))
      .filterNot { case (file, _) => isUncommitted(file, mine) }
    // tables of the first version need no identity
    val (ofTable, ofAnother) = heads.partition { case (_, read) =>
      read.forall(_.uuid.forall(_ == mine.uuid))
    }
    // where the table names few of its versions, another line's newest one may be older than these
    val newest = if (line.isWhole) Set.empty[String]
    else {
      val dated = ofTable.flatMap { case (file, read) => read.map(r => (file, r.updatedMs)) }
      dated.sortBy(-_._2).take(Newest).map(_._1).toSet
    }
    val forks = DriverReads.each(ofTable, Threads) { case (file, read) =>
      if (read.exists(isEarlier(io, file, _, mine, line, newest(file)))) None
      else Some(Other(file, mayBeFork = true))
    }
    forks.flatten ++ ofAnother.map { case (file, _) => Other(file, mayBeFork = false) }
  }

  /**
   * The versions that the table has had last.
   *
   * @param files
   *   the newest first
   * @param sinceMs
   *   when the oldest of them was made
   * @param isWhole
   *   whether these are all since then, or at least as many as a table names by default
   */
  final private case class OwnLine(files: Seq[String], sinceMs: Long, isWhole: Boolean)

  private object OwnLine {

    /** A table names as many of its versions by default. */
    private val Default = 100

    /** A version names those before it: where each names few, they are followed so far. */
    private val Links = 32

    def of(io: FileIO, mine: TableMetadata): OwnLine = {
      def before(version: TableMetadata): Seq[TableMetadata.MetadataLogEntry] =
        version.previousFiles.asScala.toSeq.sortBy(-_.timestampMillis)
      def from(named: Seq[TableMetadata.MetadataLogEntry], links: Int): OwnLine = {
        def line(isWhole: Boolean) = OwnLine(
          mine.metadataFileLocation +: named.map(_.file),
          named.lastOption.fold(mine.lastUpdatedMillis)(_.timestampMillis),
          isWhole)
        if (named.isEmpty || named.size >= Default) line(isWhole = true)
        else if (links == 0) line(isWhole = false)
        else Try(before(TableMetadataParser.read(io, named.last.file))).toOption match {
          case None => line(isWhole = false)
          case Some(Nil) => line(isWhole = true)
          case Some(more) => from(named ++ more, links - 1)
        }
      }
      from(before(mine), Links)
    }
  }

  /** The beginning of a file of metadata. */
  final private case class Head(uuid: Option[String], updatedMs: Long)

  /** What a commit to a Hadoop table leaves that dies before it is named as a version. */
  private def isUncommitted(file: String, mine: TableMetadata): Boolean =
    nameOf(mine.metadataFileLocation).matches(Version) && nameOf(file).matches(Uncommitted)

  /**
   * Whether a version is the table's, though it does not name it any more: it is older than all that it names,
   * and than the newest of those that it does not, where it names few. Others do no harm if they lead to no snapshot
   * that is there and is not the table's. A commit that fails takes its snapshot back, though its metadata may stay.
   */
  private def isEarlier(
      io: FileIO,
      file: String,
      head: Head,
      mine: TableMetadata,
      line: OwnLine,
      isOfNewest: Boolean): Boolean = {
    (head.updatedMs < line.sinceMs && !isOfNewest) || Try(TableMetadataParser.read(
      io,
      file)).toOption.exists {
      read =>
        val ends = read.refs.values.asScala.map(_.snapshotId: Long) ++
          Option(read.currentSnapshot).map(_.snapshotId)
        val foreign =
          ends.toSeq.distinct.filter(mine.snapshot(_) == null).flatMap(id => Option(read.snapshot(id)))
        if (foreign.isEmpty) head.updatedMs <= mine.lastUpdatedMillis else foreign.forall(isGone(io, _))
    }
  }

  private def isGone(io: FileIO, snapshot: Snapshot): Boolean =
    snapshot.manifestListLocation != null && !io.newInputFile(snapshot.manifestListLocation).exists()

  private def nameOf(location: String): String = location.substring(location.lastIndexOf('/') + 1)

  /** An empty file is what a commit leaves that died as it began to write: no table's metadata. */
  private def metadataFiles(opened: IcebergClusterTable): Seq[String] = {
    val directory = new Path(opened.table.location, "metadata")
    val all = opened.hadoop match {
      case Some(fs) if fs.exists(directory) =>
        fs.listStatus(directory).toSeq.map(f => (f.getPath.toString, f.getLen))
      case Some(_) => Nil
      case None =>
        opened.table.io.asInstanceOf[SupportsPrefixOperations].listPrefix(s"$directory/").asScala.toSeq
          .map(f => (f.location, f.size))
    }
    all.collect { case (file, bytes) if bytes > 0 && nameOf(file).contains(".metadata.json") => file }
  }

  /** None if it cannot be read. */
  private def head(io: FileIO, location: String): Option[Head] = Try {
    Utils.tryWithResource(io.newInputFile(location).newStream()) { in =>
      val packed = nameOf(location).contains(".gz")
      val parser = json.createParser(if (packed) new GZIPInputStream(in) else in)
      var (uuid, updated) = (Option.empty[String], Option.empty[Long])
      parser.nextToken()
      while ((uuid.isEmpty || updated.isEmpty) && parser.nextToken() == JsonToken.FIELD_NAME) {
        val name = parser.currentName
        parser.nextToken()
        if (name == "table-uuid") uuid = Some(parser.getText)
        else if (name == "last-updated-ms") updated = Some(parser.getLongValue)
        else parser.skipChildren()
      }
      Head(uuid, updated.get)
    }
  }.toOption
}
