package org.apache.spark.sql.zorder.clustering

import java.nio.file.Path

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.parquet.column.values.bloomfilter.BloomFilter
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.spark.sql.zorder.clustering.inspect.WrittenBloomFilters
import org.scalatest.funsuite.AnyFunSuite
import sparkzorder.mark.SameOnAllLines

/** `WITH (bloom = ...)`: filters that Parquet's own reader finds, and that know their values. */
@SameOnAllLines
class BloomFilterSuite extends AnyFunSuite with RunFixture {
  private val rows = 40000L

  /** Per file and row group, the filters by dotted column name. */
  private def filters(root: Path): Seq[Map[String, BloomFilter]] =
    dataFiles(root).keys.toSeq.sorted.flatMap { name =>
      val input = HadoopInputFile.fromPath(new HadoopPath(root.resolve(name).toUri), new Configuration())
      val reader = ParquetFileReader.open(input)
      try reader.getRowGroups.asScala.toList.map { group =>
          val found = reader.getBloomFilterDataReader(group)
          group.getColumns.asScala.flatMap(c =>
            Option(found.readBloomFilter(c)).map(c.getPath.toDotString -> _)).toMap
        }
      finally reader.close()
    }

  test("the named columns have filters, of values that are there and of hardly any other") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(rows).selectExpr(
        "id",
        "a",
        "b",
        "named_struct('Key', concat('k', uuid())) AS n").write.parquet(path.toString)
      done(zorder(path, "BY (a, b) WITH (fileCount = 8, force = true, bloom = 'ID, n.key')"))
      val found = filters(path)
      assert(found.length === 8 && found.forall(_.keySet == Set("id", "n.Key")))
      val ids = found.map(_("id"))
      def holders(id: Long): Int = ids.count(f => f.findHash(f.hash(id)))
      val inside = (0L until rows by 40).map(holders)
      assert(inside.forall(_ >= 1) && inside.sum <= 1.2 * inside.size)
      // 8 filters, 1000 values, one answer in a hundred is wrong: 80 expected, nine standard deviations
      assert((rows until 2 * rows by 40).map(holders).sum <= 160)
      assert(dataFiles(path).size === 8)
    }
  }

  test("filters are as large as the largest partition's files need") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(rows).selectExpr("*", "if(id < 100, id % 20, 20) p").repartition(2)
        .write.partitionBy("p").parquet(path.toString)
      done(zorder(path, "FULL BY (a, b) WITH (fileCount = 2, bloom = 'id')"))
      val large = filters(path.resolve("p=20")).map(_("id"))
      assert(large.length === 2)
      // 2 filters, 1000 values, one answer in a hundred is wrong: 20 expected
      assert((rows until 2 * rows by 40).map(id => large.count(f => f.findHash(f.hash(id)))).sum <= 60)
    }
  }

  test("filters are made for the largest file, which has more rows than the mean one") {
    assert(WrittenBloomFilters.mostRows(rows = 1001, files = 8) === 219)
    assert(WrittenBloomFilters.mostRows(rows = 10, files = 1) === 10)
    assert(WrittenBloomFilters.mostRows(rows = 0, files = 1) === 0)
  }

  test("filters of many columns share the memory of a task") {
    def bytes(columns: Int): String =
      WrittenBloomFilters.writeOptions(Seq.tabulate(columns)(i => Seq(s"c$i")), 20000000L)(
        "parquet.bloom.filter.max.bytes")
    assert(Seq(1, 4, 5, 1000).map(bytes) === Seq(32, 32, 16, 1).map(m => (m << 20).toString))
  }

  test("columns of which the input files have filters keep them, beside those of the option") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val data = numbers(8000).selectExpr("id", "a", "b", "concat('k', uuid()) AS s").repartition(2)
      data.write.option("parquet.bloom.filter.enabled#id", "true").parquet(path.toString)
      assert(filters(path).map(_.keySet) === Seq(Set("id"), Set("id")))
      done(zorder(path, "BY (a, b) WITH (fileCount = 4, force = true)"))
      assert(filters(path).map(_.keySet) === Seq.fill(4)(Set("id")))
      done(zorder(path, "FULL BY (a, b) WITH (fileCount = 2, bloom = 's')"))
      assert(filters(path).map(_.keySet) === Seq.fill(2)(Set("id", "s")))
    }
  }

  test("without the option there are none") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(2000).write.parquet(path.toString)
      done(zorder(path, "BY (a, b) WITH (fileCount = 4, force = true, bloom = 'none')"))
      assert(filters(path).forall(_.isEmpty))
    }
  }

  test("a column that is not there, or has no filter, is one sentence before any row is read") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(2000).selectExpr(
        "*",
        "id > 5 AS flag",
        "array(id) AS list",
        "id AS `x.y`").write.parquet(path.toString)
      def refusedFor(columns: String, words: String): Unit = {
        val (_, watch) = JobWatch(spark)(
          refused(path, s"ZORDER TABLE '$path' BY (a, b) WITH (force = true, bloom = '$columns')", words))
        assert(watch.reads.isEmpty)
      }
      refusedFor("idd", "has no column idd for a Bloom filter. Did you mean id?")
      refusedFor("id, flag", "Column flag of")
      refusedFor("list", "Column list of")
      refusedFor("a.b", "Column a.b of")
      refusedFor("`x.y`", "Column `x.y` of")
      refusedFor("a b", "'a b' in the option bloom is not the name of a column")
      refused(
        path,
        s"ZORDER TABLE '$path' BY (a) WITH (bloom = 'a,,b')",
        "The option bloom takes names with commas")
    }
  }
}
