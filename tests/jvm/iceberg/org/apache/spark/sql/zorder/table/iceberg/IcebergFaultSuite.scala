package org.apache.spark.sql.zorder.table.iceberg

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.Faults
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Runs on Iceberg tables whose tasks, writes or commits fail. */
@SameOnAllLines
class IcebergFaultSuite extends AnyFunSuite with IcebergFixture {

  override protected def builder: SparkSession.Builder = Faults.builder()

  private def filled(name: String): String = {
    val t = create(name, "id BIGINT, a INT, b INT")
    fill(t, 2000, 6, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
    t
  }

  private def vacuumed(t: String): Unit = {
    vacuumAll(t)
    assert(filesOnDisk(t) == filesOf(t).map(_.split('/').last))
  }

  test("a task that fails twice is tried again: the rows are exact, no file is there twice", LongTest) {
    val t = filled("retried")
    val before = content(t)
    assert(Faults.during(Faults.FullDisk(1000, "/retried/data/", times = 2)) {
      assert(status(cluster(t, "a, b")) == "DONE")
    })
    assert(content(t) == before && filesOf(t).size == 4)
    vacuumed(t)
    assert(content(t) == before)
  }

  for ((within, room) <- Seq("data" -> 9000L, "metadata" -> 0L, "metadata" -> 9000L))
    test(
      s"no room for $within after $room bytes: a sentence, the rows as they were, and the next run works",
      LongTest.unless(room == 9000L): _*) {
      val name = s"full_${within}_$room"
      val t = filled(name)
      val before = content(t)
      val struck = Faults.during(Faults.FullDisk(room, s"/$name/$within/")) {
        val said = intercept[ZOrderException](cluster(t, "a, b")).getMessage
        assert(said.contains("No space left on device") && !said.trim.contains('\n'), said)
      }
      sql(s"REFRESH TABLE $t")
      assert(struck && content(t) == before && filesOf(t).size == 6)
      assert(status(cluster(t, "a, b")) == "DONE")
      vacuumed(t)
      assert(content(t) == before)
    }

  test("a commit that fails names the files that no vacuum finds, since they do not lie below the table") {
    val files = temp.resolve("full_files").toUri
    val elsewhere = s"TBLPROPERTIES ('write.data.path' = '$files')"
    val t = create("full_elsewhere", "id BIGINT, a INT, b INT", elsewhere)
    fill(t, 2000, 6, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
    assert(Faults.during(Faults.FullDisk(0L, "/full_elsewhere/metadata/")) {
      val e = intercept[ZOrderException](cluster(t, "a, b"))
      assert(e.condition == "ZORDER_COMMIT_FAILED.ICEBERG_ELSEWHERE", e.getMessage)
      assert(e.getMessage.contains("looks: 4, such as file:") && e.getMessage.contains("/full_files/"))
    })
  }

  test("no room for the run's record: the commit is Iceberg's, and stands") {
    val t = filled("record")
    val before = content(t)
    assert(Faults.during(Faults.FullDisk(0, "_zorder"))(assert(status(cluster(t, "a, b")) == "DONE")))
    assert(content(t) == before && filesOf(t).size == 4)
  }

  test("a removal that cannot change the properties of the table keeps its history") {
    val t = filled("kept")
    assert(status(cluster(t, "a, b")) == "DONE")
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('zorder.by' = 'a, b')")
    def runs = sql(s"SELECT * FROM zorder_history('$t')").count()
    val struck = Faults.during(Faults.FullDisk(0, "/kept/metadata/")) {
      intercept[Exception](sql(s"ZORDER REMOVE $t").collect())
      ()
    }
    assert(struck && runs == 1 && load(t).properties.containsKey("zorder.by"))
    assert(status(one(s"ZORDER REMOVE $t")) == "REMOVED" && runs == 0)
    assert(!load(t).properties.containsKey("zorder.by"))
  }

  test("a statement whose thread is interrupted behind its commit keeps its record") {
    val t = filled("interrupted")
    val before = filesOf(t)
    CrashPoint.meanwhile = (at: String) => if (at == "iceberg-committed") Thread.currentThread.interrupt()
    try cluster(t, "a, b")
    finally {
      CrashPoint.meanwhile = (_: String) => ()
      Thread.interrupted()
    }
    assert(filesOf(t).size == 4)
    assert(status(one(s"ZORDER ROLLBACK $t")) == "ROLLED_BACK" && filesOf(t) == before)
  }

  test("each rename of a commit fails once: rows are exact, and what is said is true", LongTest) {
    var n = 0
    var struck = true
    while (struck) {
      n += 1
      val t = filled(s"renamed_$n")
      val before = content(t)
      var failed = false
      struck = Faults.during(Faults.Rename(n, throws = n % 2 == 0)) {
        try assert(status(cluster(t, "a, b")) == "DONE")
        catch { case _: ZOrderException => failed = true }
      }
      sql(s"REFRESH TABLE $t")
      assert(content(t) == before && filesOf(t).size == (if (failed) 6 else 4), s"call $n")
      vacuumed(t)
      assert(content(t) == before)
    }
    assert(n > 1)
  }
}
