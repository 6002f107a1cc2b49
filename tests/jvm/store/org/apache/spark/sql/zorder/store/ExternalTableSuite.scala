package org.apache.spark.sql.zorder.store

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, InMemoryFileIndex, LogicalRelation}
import sparkzorder.{LongTest, Steps}

/** The life of external tables on an object store, whose catalog's warehouse is on another file system. */
class ExternalTableSuite extends AnyFunSuite with StoreFixture with Steps {

  for (partitioned <- Seq(false, true)) {
    val kind = if (partitioned) "partitioned" else "without partitions"

    test(
      s"a table $kind: every statement keeps the rows and copies nothing",
      LongTest.unless(partitioned): _*) {
      withTable(partitioned) { (name, at) =>
        step("a run") {
          val made = requests {
            done(cluster(name))
            assert(ids(name) === (0L until 4000))
          }
          assert(made.filter(_.action == "CopyObject") === Nil, "a rename is a copy")
        }
        step("a run of appended rows") {
          append(name, 4000, 5000)
          assert(requests(done(cluster(name))).filter(_.action == "CopyObject") === Nil)
          assert(ids(name) === (0L until 5000))
        }
        step("a rollback, which keeps what was appended since") {
          append(name, 5000, 5100)
          assert(one(s"ZORDER ROLLBACK $name").getAs[String]("status") === "ROLLED_BACK")
          assert(ids(name) === (0L until 5100))
        }
        step("the history")(assert(sql(s"SELECT * FROM zorder_history('$name')").count() === 3))
        step("a vacuum") {
          sql(s"ZORDER VACUUM $name RETAIN 0 HOURS").collect()
          assert(ids(name) === (0L until 5100))
        }
        step("a removal, for which has to be said where the files go, and which leaves no trace") {
          val said = refused(s"ZORDER REMOVE $name")
          assert(said.contains("MOVE HOME") && said.contains("STAY") && said.contains("requests"), said)
          one(s"ZORDER REMOVE $name STAY")
          assert(ids(name) === (0L until 5100))
          val ours =
            beside(at).filter(o => o.contains("_zorder") || o.contains(".zorder-") || o.contains("__magic"))
          assert(ours === Nil)
        }
      }
    }

    test(
      s"a table $kind: its files move when the user has agreed, and come home when the user says so",
      LongTest.unless(partitioned): _*) {
      withTable(partitioned) { (name, at) =>
        val plain = s"ZORDER TABLE $name BY (a, b) WITH (fileCount = 4, force = true)"
        val before = beside(at)
        step("unless the user agrees the run is refused, with the ways out") {
          val said = refused(plain)
          assert(
            said.contains(s"read or write $at") && said.contains("location = 'move'") && said.contains(
              "INTO"),
            said)
        }
        step("a dry run tells of it, and changes nothing") {
          val dry = one(s"$plain DRY RUN")
          assert(dry.getAs[String]("status") === "DRY_RUN")
          assert(dry.getAs[String]("reason").contains("location = 'move'"), dry.getAs[String]("reason"))
          assert(beside(at) === before)
        }
        step("the files move when it is said, once") {
          val reason = done(cluster(name)).getAs[String]("reason")
          assert(reason.contains(s"not in $at any more"), reason)
          append(name, 4000, 5000)
          done(one(plain))
          val places =
            sql(s"SELECT location FROM zorder_history('$name')").collect().map(_.getAs[String]("location"))
          assert(places.length === 2 && places.forall(_.contains("/z")), places.toSeq)
        }
        step("they come home, also after a removal that died") {
          assert(crashAt("home-copied")(one(s"ZORDER REMOVE $name MOVE HOME")))
          assert(ids(name) === (0L until 5000))
          one(s"ZORDER REMOVE $name MOVE HOME")
          assert(ids(name) === (0L until 5000))
          assert(spark.read.parquet(at).count() === 5000)
          assert(beside(at).filter(_.endsWith(".parquet")).forall(_.startsWith(s"$name/")), beside(at))
        }
        step("what was said went with the properties")(
          assert(refused(plain).contains("location = 'move'")))
      }
    }

    test(s"a table $kind: a file that comes late into its old place is carried over", LongTest) {
      withTable(partitioned) { (name, at) =>
        done(cluster(name))
        val late = numbers(4000, 4100, files = 1)
        late.write.mode("append").partitionBy((if (partitioned) Seq("p") else Nil): _*).parquet(at)
        val carried =
          sql(s"ZORDER VACUUM $name RETAIN 0 HOURS").collect().map(_.getAs[Long]("files_carried_over")).sum
        assert(carried === (if (partitioned) 2 else 1))
        assert(ids(name) === (0L until 4100))
      }
    }
  }

  test("the committer that the session asks for is used: Spark's own copies each file", LongTest) {
    withTable(partitioned = false) { (name, _) =>
      val key = "spark.sql.sources.commitProtocolClass"
      spark.conf.set(key, spark.conf.get(key))
      spark.conf.set("fs.s3a.committer.magic.enabled", "false")
      try {
        val made = requests(done(cluster(name)))
        assert(made.count(_.action == "CopyObject") === 8)
      } finally Seq(key, "fs.s3a.committer.magic.enabled").foreach(spark.conf.unset)
      assert(ids(name) === (0L until 4000))
    }
  }

  test(
    "partitions of a managed table are listed when a query is planned, once a run has begun: old files go") {
    sql(s"CREATE DATABASE onstore LOCATION '${place("onstore")}'")
    try {
      numbers(0, 4000).write.format("parquet").partitionBy("p").saveAsTable("onstore.m")
      def isListed: Boolean = {
        sql("REFRESH TABLE onstore.m")
        spark.table("onstore.m").queryExecution.optimizedPlan
          .collect { case l: LogicalRelation => l.relation }
          .collect { case relation: HadoopFsRelation => relation.location }
          .forall(_.isInstanceOf[InMemoryFileIndex])
      }
      assert(!isListed)
      assert(crashAt("parquet-written")(cluster("onstore.m")), "the point was not reached")
      assert(isListed && ids("onstore.m") === (0L until 4000))
      done(cluster("onstore.m"))
      assert(isListed && ids("onstore.m") === (0L until 4000))
    } finally sql("DROP DATABASE onstore CASCADE")
  }
}
