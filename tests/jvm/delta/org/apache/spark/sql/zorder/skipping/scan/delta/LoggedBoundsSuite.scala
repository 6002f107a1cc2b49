package org.apache.spark.sql.zorder.skipping.scan.delta

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, EqualTo, Expression, Literal, ScalaUDF}
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.types.{BooleanType, DateType, LongType, StringType}
import org.apache.spark.sql.zorder.skipping.NarrowedTables
import sparkzorder.SameOnAllLines

/** Of which files of a Delta table bounds are read. */
class LoggedBoundsSuite extends AnyFunSuite with NarrowedTables {

  test("of a query of few partitions, the bounds of their files alone are read", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      // four files of each of ten parts
      val part = Seq(
        "id div 400 part",
        "concat('a=%b/', id div 400) text",
        "date_add(date'2026-01-01', int(id div 400)) `a day`")
      ids(0, 40).selectExpr("*" +: part: _*).write.format("delta").partitionBy("part", "text", "a day")
        .option("delta.columnMapping.mode", "name").save(path.toString)
      val snapshot = DeltaLog.forTable(spark, path.toString).update()

      def read(filters: Expression*): (Option[Long], Int) = within(39, filters: _*)

      def within(small: Long, filters: Expression*): (Option[Long], Int) = {
        val bounds = LoggedBounds.of(snapshot.filesForScan(filters), small)
        val files = bounds.read(bounds.columns.filter(_.sql == "id"))
        // all ids of a part, and of no other
        assert(files.map(_.rows).sum === 100L * files.length)
        (bounds.files, files.length)
      }

      assert(read() === ((Some(40L), 40)))
      assert(read(EqualTo(AttributeReference("part", LongType)(), Literal(3L))) === ((Some(4L), 4)))
      assert(read(EqualTo(AttributeReference("text", StringType)(), Literal("a=%b/3"))) === ((Some(4L), 4)))
      val day = Literal(java.time.LocalDate.parse("2026-01-04"))
      assert(read(EqualTo(AttributeReference("a day", DateType)(), day)) === ((Some(4L), 4)))
      // its text does not say which function it is
      val isThree = (part: Long) => part == 3L
      val byFunction = ScalaUDF(isThree, BooleanType, Seq(AttributeReference("part", LongType)()))
      assert(read(byFunction) === ((Some(40L), 40)))
      // a filter of rows leaves fewer files of the table, of which all bounds are read
      assert(read(EqualTo(AttributeReference("id", LongType)(), Literal(1L))) === ((Some(40L), 40)))
      assert(within(40, EqualTo(AttributeReference("part", LongType)(), Literal(3L))) === ((Some(40L), 40)))
      // Delta plans these by the first files alone
      assert(on(path, "SELECT * FROM <t> LIMIT 3").count() === 3)
      assert(on(path, "SELECT * FROM <t> WHERE part = 1 LIMIT 3").collect().length === 3)
      quick(check(
        path,
        "SELECT id FROM <t> WHERE part = 1 AND id IN (401, 799)" -> 2,
        "SELECT id FROM <t> WHERE part = 2 AND id IN (801, 1199)" -> 2,
        "SELECT id FROM <t> WHERE part < 5 AND id IN (401, 799)" -> 2,
        "SELECT id FROM <t> WHERE `a day` = DATE'2026-01-02' ORDER BY id DESC LIMIT 5" -> 1))
    }
  }
}
