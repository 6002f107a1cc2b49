package org.apache.spark.sql.zorder.errors

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.nio.file.attribute.FileTime

import scala.collection.JavaConverters._

import org.apache.parquet.crypto.FileEncryptionProperties
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.clustering.RunFixture
import org.apache.spark.sql.zorder.stats.ForeignFile
import sparkzorder.mark.SameOnAllLines

/** One broken or foreign file among sound ones: what each statement says of it. */
@SameOnAllLines
class BrokenFilesSuite extends AnyFunSuite with RunFixture {
  import BrokenFilesSuite._

  private def sound = numbers(7000)

  /** Six sound files with a seventh that is made of one of them. Old enough that an index trusts them at once. */
  private def table(path: Path, name: String, write: Path => Unit): Unit = {
    val made = path.resolveSibling("made")
    sound.repartition(7).write.parquet(made.toString)
    Files.createDirectories(path)
    val files = dataFiles(made).keys.toSeq.sorted.map(made.resolve(_))
    files.tail.zipWithIndex.foreach { case (f, i) => Files.move(f, path.resolve(s"part-${i + 1}.parquet")) }
    Files.move(files.head, path.resolve(name))
    write(path.resolve(name))
    val all = Files.list(path)
    val old = FileTime.fromMillis(System.currentTimeMillis() - 60000)
    try all.iterator.asScala.foreach(Files.setLastModifiedTime(_, old))
    finally all.close()
  }

  /** A file of Spark's in place of that at `path`. */
  private def rewritten(path: Path, columns: String*)(rows: Int): Unit = {
    val made = path.getParent.resolveSibling("again")
    numbers(rows.toLong).selectExpr(columns: _*).coalesce(1).write.parquet(made.toString)
    Files.delete(path)
    val _ = Files.move(made.resolve(dataFiles(made).keys.head), path)
  }

  private val corpus = Seq(
    Broken("cut in half", changed(b => b.take(b.length / 2)))(alike(NotParquet))(
      Expected(NotParquet, NotParquet, fine)),
    Broken("without a byte", changed(_ => Array.empty))(alike(fine))(alike(fine)),
    Broken("a text", changed(_ => "id,a,b\n1,2,3\n4,5,6\n".getBytes(UTF_8)))(alike(NotParquet))(
      Expected(NotParquet, NotParquet, fine)),
    Broken(
      "a damaged byte in the footer",
      changed { b =>
        b(b.length - 8 - footerLength(b)) = -1
        b
      })(alike(Damaged))(Expected(Damaged, Damaged, fine)),
    Broken(
      "a footer that begins before the file",
      changed { b =>
        b(b.length - 6) = 127
        b
      })(alike(Damaged))(Expected(Damaged, Damaged, fine)),
    Broken(
      "damaged pages",
      changed { b =>
        (b.length / 20 until b.length / 2).foreach(i => b(i) = (b(i) ^ 0x5a).toByte)
        b
      })(Expected(Said("ZORDER_FILE_UNREADABLE.NOT_READ"), fine, fine))(
      Expected(Said("ZORDER_FILE_UNREADABLE.NOT_READ"), fine, fine)),
    Broken(
      "an encrypted footer",
      { path =>
        val key = FileEncryptionProperties.builder("0123456789abcdef".getBytes(UTF_8)).build()
        Files.delete(path)
        ForeignFile.write(path, "message m { optional int64 id; optional int32 a; }", 10)(
          _.withEncryption(key))((g, i) => g.append("id", i.toLong).append("a", i))
      })(alike(Encrypted))(Expected(Encrypted, fine, fine)),
    Broken(
      "the magic of an encrypted footer",
      changed(b => b.dropRight(4) ++ "PARE".getBytes(UTF_8)))(alike(Encrypted))(Expected(
      Encrypted,
      fine,
      fine)),
    Broken(
      "a type that Spark has not",
      { path =>
        Files.delete(path)
        ForeignFile.write(
          path,
          "message m { optional int64 id; optional int32 a; optional int64 t (TIMESTAMP(NANOS,true)); }",
          10)(identity)((g, i) => g.append("id", i.toLong).append("a", i).append("t", i.toLong))
      })(alike(Said("ZORDER_FILE_REFUSED.COLUMN_TYPE", column = "t")))(
      Expected(Said("ZORDER_FILE_REFUSED.COLUMN_TYPE", column = "t"), fine, fine)),
    Broken("another type", rewritten(_, "id", "cast(a AS string) a", "b")(10))(
      // the first type counts, and the next file is the odd one
      Expected(
        Said("ZORDER_SCHEMA_CONFLICT.TYPE", column = "a", file = Some("part-1.parquet")),
        fine,
        fine))(Expected(Said("ZORDER_SCHEMA_CONFLICT.TYPE", column = "a"), fine, fine)),
    Broken("no rows", rewritten(_, "id", "a", "b")(0))(alike(fine))(alike(fine))
  )

  for {
    broken <- corpus
    // Spark takes the schema of a directory from its first file
    (place, name, expected) <- Seq(
      ("first", "part-0.parquet", broken.first),
      ("last", "part-9.parquet", broken.last))
  } test(s"${broken.what}, in the $place of seven files") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path, name, broken.write)
      val before = listing(path)
      for ((sql, outcome) <- Seq(
          s"ZORDER TABLE '$path' BY (a, id) WITH (fileCount = 8, pageRowLimit = 500) DRY RUN" -> expected.run,
          s"SELECT * FROM clustering_information('$path', 'a')" -> expected.audit,
          s"ZORDER INDEX '$path' COLUMNS (a)" -> expected.index
        )) outcome match {
        case None => assert(spark.sql(sql).collect().nonEmpty, sql)
        case Some(said) =>
          val e = intercept[ZOrderException](spark.sql(sql).collect())
          assert(e.condition == said.condition, s"$sql: ${e.getMessage}")
          assert(
            e.getMessageParameters.get("file").endsWith(s"/t/${said.file.getOrElse(name)}"),
            e.getMessage)
          if (said.column.nonEmpty) assert(e.getMessageParameters.get("column") == said.column)
          assert(!e.getMessage.contains("\n"), e.getMessage)
          assert(listing(path) == before)
      }
    }
  }

  test("a file whose type is not that of the catalog") {
    withTempDir { dir =>
      withTable("broken_t") {
        val path = dir.resolve("t")
        table(path, "part-9.parquet", _ => ())
        spark.sql(s"CREATE TABLE broken_t (id bigint, a array<int>, b bigint) USING parquet LOCATION '$path'")
        val e = intercept[ZOrderException](spark.sql("ZORDER TABLE broken_t BY (id) DRY RUN").collect())
        assert(e.condition == "ZORDER_SCHEMA_CONFLICT.TYPE_IN_CATALOG", e.getMessage)
        assert(e.getMessageParameters.get("column") == "a")
        assert(e.getMessageParameters.get("file").endsWith("/t/part-1.parquet"))
      }
    }
  }

  test("words of other statements after a path") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      table(path, "part-9.parquet", _ => ())
      for (target <- Seq(s"'$path'", s"parquet.`$path`");
        clause <- Seq("CLUSTER BY NONE", "CLUSTER BY (a)")) {
        val e = intercept[ZOrderException](spark.sql(s"ZORDER TABLE $target $clause"))
        assert(e.condition == "ZORDER_SYNTAX.NOT_UNDERSTOOD" && e.getSqlState == "42601", e.getMessage)
        assert(e.getMessageParameters.get("place").nonEmpty)
      }
      val none = intercept[ZOrderException](spark.sql(s"ZORDER TABLE '$path' BY (NONE)").collect())
      assert(none.condition == "ZORDER_COLUMN_NOT_FOUND.IN_TABLE", none.getMessage)
      assert(none.getMessageParameters.get("column") == "NONE")
    }
  }
}

private object BrokenFilesSuite {

  /** @param file the name of the file that is named, if that is not the broken one */
  final case class Said(condition: String, column: String = "", file: Option[String] = None)

  /** What a run, an audit and a statement that makes an index say; None where they are done. */
  final case class Expected(run: Option[Said], audit: Option[Said], index: Option[Said])

  object Expected {
    def apply(run: Said, audit: Said, index: Option[Said]): Expected =
      new Expected(Some(run), Some(audit), index)

    def apply(run: Said, audit: Option[Said], index: Option[Said]): Expected =
      new Expected(Some(run), audit, index)
  }

  final class Broken(val what: String, val write: Path => Unit, val first: Expected, val last: Expected)

  object Broken {

    /**
     * @param write
     *   breaks a sound file
     * @param first
     *   where the schema of the directory is taken from it
     * @param last
     *   where it is taken from another file
     */
    def apply(what: String, write: Path => Unit)(first: Expected)(last: Expected): Broken =
      new Broken(what, write, first, last)
  }

  val NotParquet: Said = Said("ZORDER_FILE_UNREADABLE.NOT_PARQUET")
  val Damaged: Said = Said("ZORDER_FILE_UNREADABLE.DAMAGED")
  val Encrypted: Said = Said("ZORDER_FILE_UNREADABLE.ENCRYPTED")
  val fine: Option[Said] = None

  def alike(said: Said): Expected = alike(Some(said))
  def alike(said: Option[Said]): Expected = new Expected(said, said, said)

  def changed(how: Array[Byte] => Array[Byte])(path: Path): Unit = {
    val _ = Files.write(path, how(Files.readAllBytes(path)))
  }

  /** Four bytes before the magic, the low ones first. */
  def footerLength(file: Array[Byte]): Int =
    (0 until 4).map(i => (file(file.length - 8 + i) & 0xff) << (8 * i)).sum
}
