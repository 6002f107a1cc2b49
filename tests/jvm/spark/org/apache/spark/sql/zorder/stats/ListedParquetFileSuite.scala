package org.apache.spark.sql.zorder.stats

import java.nio.file.{Files, Path, Paths}

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.zorder.table.file.DataFile

/** A file of a known length, whose end is read at once, says what the file says. */
class ListedParquetFileSuite extends AnyFunSuite with StatsFixture {

  private val id = Seq(StatColumn(Seq("id"), LongType))

  /** One file that is longer than what is read at once, with pages whose indexes are longer too. */
  private def written(dir: Path): DataFile = {
    spark.range(0, 200000, 1, 1).selectExpr("id", "hash(id) h", "uuid() u")
      .write.option("parquet.page.row.count.limit", 100).parquet(dir.resolve("t").toString)
    parquetFiles(dir).head
  }

  private def read(file: DataFile): (FileFooter, FilePages) =
    Footers.readWithPages(session, Seq(file), id).head

  private def at(file: DataFile): Path = Paths.get(file.path.stripPrefix("file:"))

  test("bytes anywhere in the file, by all ways of reading") {
    inTempDir { dir =>
      val file = written(dir)
      val bytes = Files.readAllBytes(at(file))
      assert(bytes.length > (256 << 10))
      val in = new ListedParquetFile(session.sessionState.newHadoopConf(), file).newStream()
      val random = new Random(7)
      try {
        (0 until 2000).foreach { i =>
          // near the end, around where it is read at once, and anywhere
          val from = i % 3 match {
            case 0 => bytes.length - 1 - random.nextInt(1000)
            case 1 => bytes.length - (64 << 10) + random.nextInt(2000) - 1000
            case _ => random.nextInt(bytes.length)
          }
          val n = math.min(bytes.length - from, 1 + random.nextInt(5000))
          in.seek(from.toLong)
          val got = new Array[Byte](n)
          if (i % 2 == 0) in.readFully(got)
          else {
            got(0) = in.read().toByte
            in.readFully(got, 1, n - 1)
          }
          assert(got.sameElements(bytes.slice(from, from + n)))
          assert(in.getPos === from + n)
        }
      } finally in.close()
    }
  }

  test("footers and pages as Parquet's own input reads them") {
    inTempDir { dir =>
      val file = written(dir)
      val (footer, pages) = read(file)
      assert(footer.rows === 200000 && pages.pages(0).map(_._1).sum === 200000)
      assert(pages.pages(0).size === 2000)
      // a wrong length makes Parquet's own input read the file
      val (plain, same) = read(file.copy(length = 1000))
      assert(plain.copy(file = file) === footer && same.copy(file = file) === pages)
    }
  }

  test("a file that has grown or shrunk since it was listed is read as it is") {
    inTempDir { dir =>
      val file = written(dir)
      Seq(1L, 4000L, file.length - 1, file.length + 1, file.length * 2, 0L).foreach { length =>
        assert(read(file.copy(length = length))._1.rows === 200000, length)
      }
    }
  }

  test("a file that is gone, and one that is damaged, are told as before") {
    inTempDir { dir =>
      val file = written(dir)
      val bytes = Files.readAllBytes(at(file))
      // Hadoop's checksum of it would find that first
      Files.delete(at(file).resolveSibling(s".${at(file).getFileName}.crc"))
      Files.write(at(file), bytes.dropRight(4) ++ "PAR2".getBytes("US-ASCII"))
      val damaged = intercept[Exception](Footers.read(session, Seq(file)))
      assert(damaged.getMessage.contains("is not a Parquet file"), damaged)
      Files.delete(at(file))
      intercept[java.io.FileNotFoundException](Footers.read(session, Seq(file)))
    }
  }
}
