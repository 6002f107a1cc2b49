package org.apache.spark.sql.zorder.insight.advise

import java.nio.file.Path

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.zorder.clustering.RunFixture
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Generated tables and logs: who runs a printed statement gets the figure beside it. */
@SameOnAllLines
class PrintedFiguresSuite extends AnyFunSuite with RunFixture {

  /** Ways to fill a column: many values, few, skewed, one that follows the id, text, with NULLs. */
  private val kinds = Seq(
    "cast(pmod(xxhash64(id, SEED), 100000) AS int)",
    "cast(pmod(xxhash64(id, SEED), 40) AS int)",
    "cast(pow(pmod(xxhash64(id, SEED), 1000), 2) / 1000 AS int)",
    "id + pmod(xxhash64(id, SEED), 500)",
    "concat('key ', pmod(xxhash64(id, SEED), 5000))",
    "if(pmod(xxhash64(id, SEED), 5) = 0, null, pmod(xxhash64(id, SEED + 1), 3000))")

  private def table(random: Random): (DataFrame, Seq[String]) = {
    val n = 3 + random.nextInt(2)
    val columns = (0 until n).map(i =>
      s"${kinds(random.nextInt(kinds.length)).replace("SEED", (100 * i + random.nextInt(99)).toString)} AS c$i")
    val df = spark.range(0, 60000, 1, 4).selectExpr(columns: _*)
    (if (random.nextBoolean()) df else df.repartitionByRange(4, col("c0")), (0 until n).map(i => s"c$i"))
  }

  /** Look-ups by one or two of some columns, with weights; their values are drawn from the table. */
  private def log(random: Random, columns: Seq[String]): String = {
    val asked = random.shuffle(columns).take(3)
    val shapes = asked.map(Seq(_)) ++ (if (random.nextBoolean()) Seq(asked.take(2)) else Nil)
    val selects = shapes.map { shape =>
      val box = shape.map(c => s"named_struct('column', '$c', 'kind', 'equal')").mkString(", ")
      s"SELECT array(array($box)) boxes, ${1 + random.nextInt(9)}D weight, '${shape.mkString(", ")}' query"
    }
    spark.sql(selects.mkString(" UNION ALL ")).createOrReplaceTempView("printed_log")
    "printed_log"
  }

  private def advice(path: Path, log: Option[String]): Seq[Row] =
    spark.sql(s"SELECT * FROM clustering_advice('$path'${log.fold("")(l => s", '$l'")})").collect().toSeq

  private def number(row: Row, name: String): Double = row.getAs[Double](name)

  private def figures(seed: Int): Unit = withTempDir { dir =>
    withConf("spark.zorder.fileCount" -> "16", "spark.zorder.pageRowLimit" -> "1000") {
      val random = new Random(seed)
      val path = dir.resolve("t")
      val (data, columns) = table(random)
      data.write.option("parquet.page.row.count.limit", 1000).parquet(path.toString)
      val asked = if (seed % 3 == 0) None else Some(log(random, columns))
      val found = advice(path, asked)
      assert(found.forall(r => r.getSeq[Double](r.fieldIndex("bits")).forall(_ >= 0.005)), found)
      found.filterNot(r => r.isNullAt(r.fieldIndex("statement"))).filterNot(r =>
        r.isNullAt(r.fieldIndex("share_expected"))).take(2).foreach { row =>
        val statement = row.getAs[String]("statement")
        val expected = number(row, "share_expected")
        val forced = if (statement.contains("WITH (")) statement.replace("WITH (", "WITH (force = true, ")
        else s"$statement WITH (force = true)"
        done(one(forced.replace("ZORDER TABLE '" + path + "'", "ZORDER TABLE '" + path + "' FULL")))
        val now =
          number(advice(path, asked).find(r => !r.isNullAt(r.fieldIndex("share_now"))).get, "share_now")
        info(f"seed $seed: $statement expected $expected%.3f, measured $now%.3f")
        assert(math.abs(now - expected) <= 0.02 + 0.15 * expected, s"seed $seed: $row")
      }
    }
  }

  test("advice: the statements of many generated tables", LongTest)((0 until 24).foreach(figures))

  private def audited(seed: Int): Unit = withTempDir { dir =>
    val random = new Random(seed)
    val path = dir.resolve("t")
    val (data, columns) = table(random)
    data.repartition(4 + random.nextInt(13)).write.parquet(path.toString)
    val by = random.shuffle(columns).take(1 + random.nextInt(2)).mkString(", ")
    val before = spark.sql(s"SELECT * FROM clustering_information('$path', '$by')").head()
    Option(before.getAs[String]("statement")).foreach { statement =>
      done(one(statement))
      val after = spark.sql(s"SELECT * FROM clustering_information('$path', '$by')").head()
      info(s"seed $seed: ${before.getAs[String]("reason")} $statement: ${after.getAs[String]("reason")}")
      assert(Set("OK", "TOO SMALL")(after.getAs[String]("verdict")), s"seed $seed: $before $after")
    }
    val rows = spark.sql(s"SELECT * FROM clustering_information('$path', '$by')").collect()
    rows.flatMap(r => list(r, "levels")).foreach { l =>
      if (!l.isNullAt(l.fieldIndex("look_up_bound")))
        assert(number(l, "look_up_share") >= number(l, "look_up_bound"), l)
    }
  }

  test("audit: the statement makes a generated table well, and no figure is below its bound")(
    audited(0))

  test("audit: the statements of many generated tables", LongTest)((1 until 24).foreach(audited))
}
