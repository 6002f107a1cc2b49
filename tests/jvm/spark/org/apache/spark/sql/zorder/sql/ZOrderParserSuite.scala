package org.apache.spark.sql.zorder.sql

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{AnalysisException, Row, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, OneRowRelation}
import org.apache.spark.sql.zorder.{ZOrderExtensions, ZOrderSession}
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.{LineParser, Shims}
import org.apache.spark.sql.zorder.sql.function.{ScalarFunctions, TableFunctions}
import org.apache.spark.sql.zorder.sql.statement.{
  ClusterCommand,
  RemoveCommand,
  RollbackCommand,
  TableRefParser,
  VacuumCommand
}
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.resolve.Provider

/** The parser in a session: whose statement it is, what the plan looks like, and what stays Spark's. */
class ZOrderParserSuite extends AnyFunSuite with ZOrderSession {
  private def state = Shims.classic(spark).sessionState

  private def plan(sql: String): LogicalPlan = state.sqlParser.parsePlan(sql)

  /** Takes every OPTIMIZE, as Delta's parser does. */
  private class Greedy(val delegate: ParserInterface) extends LineParser {
    override protected def ours(sql: String): Option[LogicalPlan] =
      if (sql.startsWith("OPTIMIZE")) Some(OneRowRelation()) else None
  }

  test("both spellings become our command") {
    Seq("OPTIMIZE db.t ZORDER BY (a)", "ZORDER TABLE db.t BY (a)").foreach { sql =>
      assert(plan(sql).asInstanceOf[ClusterCommand].request.target == TableRef.Name(Seq("db", "t")), sql)
    }
    assert(plan("ZORDER VACUUM t").isInstanceOf[VacuumCommand])
    assert(plan("ZORDER ROLLBACK t").isInstanceOf[RollbackCommand])
    assert(plan("ZORDER REMOVE t").isInstanceOf[RemoveCommand])
  }

  test("EXPLAIN shows the command in readable words and does not run it") {
    Seq("", "EXTENDED", "FORMATTED", "COST").foreach { mode =>
      val text =
        spark.sql(s"EXPLAIN $mode OPTIMIZE no.t FULL WHERE a > 1 ZORDER BY (a, b) USING CURVE hilbert " +
          "WITH (minGain = 0.2, fileCount = 4) INTO '/p' DRY RUN").head().getString(0)
      assert(text.contains("ZOrderTable"), mode)
      if (mode != "FORMATTED") assert(
        text.contains("ZOrderTable no.t where a > 1 by (a, b) using hilbert " +
          "with (fileCount=4, minGain=0.2) into '/p' full dry run"),
        mode)
    }
    assert(spark.sql("EXPLAIN ZORDER VACUUM '/p' RETAIN 1 HOURS DRY RUN").head().getString(0)
      .contains("ZOrderVacuum '/p' retain 1.0 hours dry run"))
  }

  test("a Delta table's plain OPTIMIZE is Delta's unless it is taken over; everything else is ours") {
    withTempDir { dir =>
      Files.createDirectories(dir.resolve("d/_delta_log"))
      Files.createDirectories(dir.resolve("p"))
      val below = new StatementPlanner(spark, new Greedy(state.sqlParser))
      def ours(sql: String): Boolean = below.plan(sql).get.isInstanceOf[ClusterCommand]
      val delta = s"'$dir/d'"
      assert(!ours(s"OPTIMIZE $delta WHERE a = 1 ZORDER BY (a)"))
      assert(!ours(s"OPTIMIZE delta.`$dir/d`"))
      assert(ours(s"OPTIMIZE $delta ZORDER BY (a) USING CURVE hilbert"))
      assert(ours(s"OPTIMIZE $delta DRY RUN"))
      assert(ours(s"ZORDER TABLE $delta BY (a)"))
      assert(ours(s"OPTIMIZE '$dir/p' ZORDER BY (a)"))
      assert(ours("OPTIMIZE no_such_table ZORDER BY (a)"))
      withConf(SessionKeys.TakeOverDelta.key -> "true") {
        assert(ours(s"OPTIMIZE $delta ZORDER BY (a)"))
      }
      // nobody below us knows OPTIMIZE: ours, and the table's own check refuses it
      assert(plan(s"OPTIMIZE $delta ZORDER BY (a)").isInstanceOf[ClusterCommand])
    }
  }

  test("a name is looked up for its provider") {
    withTable("plain") {
      spark.sql("CREATE TABLE plain (a INT) USING parquet")
      Seq("plain", "default.plain", "spark_catalog.default.plain").foreach { name =>
        assert(!Provider.isDelta(spark, TableRef.Name(name.split('.').toSeq)), name)
      }
      assert(!Provider.isDelta(spark, TableRef.Name(Seq("nowhere", "db", "t"))))
    }
  }

  test("applied twice, the extension wraps the parser once and keeps the functions") {
    val extensions = new SparkSessionExtensions
    new ZOrderExtensions().apply(extensions)
    new ZOrderExtensions().apply(extensions)
    val spark0 = state.sqlParser.asInstanceOf[ZOrderParser].delegate
    assert(!spark0.isInstanceOf[ZOrderParser])
    val built = extensions.buildParser(spark, spark0).asInstanceOf[ZOrderParser]
    assert(built.delegate eq spark0)
    ScalarFunctions.all.foreach(f => assert(spark.catalog.functionExists(f.name), f.name))
    val described = ScalarFunctions.all.map(_.info) ++ TableFunctions.all.map(_.info)
    described.foreach { info =>
      assert(info.getSince == "0.1.0", info.getName)
      assert(Class.forName(info.getClassName).getName == info.getClassName)
    }
  }

  test("a part can be switched off, and the others stay") {
    val key = SessionKeys.InjectParser.key
    System.setProperty(key, "false")
    try {
      val extensions = new SparkSessionExtensions
      new ZOrderExtensions().apply(extensions)
      val below = state.sqlParser.asInstanceOf[ZOrderParser].delegate
      assert(extensions.buildParser(spark, below) eq below)
    } finally System.clearProperty(key)
  }

  test("a table given as text that is no table is refused in one sentence") {
    Seq(
      "db.`t" -> "the quote ` is never closed",
      "'t" -> "the quote ' is never closed",
      "t u" -> "found 'u'").foreach {
      case (text, why) =>
        val refused = intercept[ZOrderException](TableRefParser.ofText(spark, text))
        assert(
          refused.getMessage.contains(why) && refused.getMessage.contains("expected a table name or a path"))
    }
  }

  test("other extensions find their parser below ours through a declared field") {
    val fields = classOf[ZOrderParser].getDeclaredFields.filter(f =>
      classOf[ParserInterface].isAssignableFrom(f.getType))
    assert(fields.length == 1)
  }

  test("ordinary statements keep their parameters; ours refuse markers in one sentence") {
    assert(spark.sql("SELECT :a + :b", Map[String, Any]("a" -> 1, "b" -> 2)).collect().toSeq == Seq(Row(3)))
    assert(spark.sql("SELECT ?", Array[Any]("x")).collect().toSeq == Seq(Row("x")))
    val refused = intercept[ZOrderException](
      spark.sql("OPTIMIZE t WHERE a = :x ZORDER BY (b)", Map[String, Any]("x" -> 1)))
    assert(refused.getMessage.contains("take no parameter markers, and this statement has :x"))
  }

  test("names, expressions, types and schemas go to the parser below") {
    val parser = state.sqlParser
    assert(parser.parseMultipartIdentifier("a.`b.c`") == Seq("a", "b.c"))
    assert(parser.parseTableIdentifier("a.b").database == Some("a"))
    assert(parser.parseFunctionIdentifier("f").funcName == "f")
    assert(parser.parseDataType("array<int>").simpleString == "array<int>")
    assert(parser.parseTableSchema("a INT").fieldNames.toSeq == Seq("a"))
    assert(parser.parseExpression("zorder + 1").sql.contains("zorder"))
    assert(parser.parseQuery("SELECT 1").isInstanceOf[LogicalPlan])
  }

  test("variables work inside our statements") {
    withConf("spark.zordertest.t" -> "db.x") {
      assert(plan("ZORDER TABLE ${spark.zordertest.t} BY (a)").asInstanceOf[ClusterCommand].request.target ==
        TableRef.Name(Seq("db", "x")))
    }
  }

  test("the history function takes a name or a path and says so otherwise") {
    Seq(
      "SELECT * FROM zorder_history()",
      "SELECT * FROM zorder_history(1)",
      "SELECT * FROM zorder_history('a', 'b')",
      "SELECT * FROM zorder_history(NULL)").foreach { sql =>
      assert(
        intercept[AnalysisException](spark.sql(sql)).getMessage.contains("zorder_history takes one string"),
        sql)
    }
    assert(intercept[AnalysisException](spark.sql("SELECT * FROM zorder_history('a b')")).getMessage
      .contains("found 'b' after the table name"))
  }

  test("the bridge parses what the parser parses") {
    val refused = intercept[ZOrderException](PythonBridge.run(spark, "OPTIMIZE t WITH (fileCont = 3)"))
    assert(refused.getMessage.contains("did you mean fileCount?"))
    assert(intercept[ZOrderException](PythonBridge.run(
      spark,
      "DROP TABLE t")).getMessage.contains("statements only"))
    assert(PythonBridge.run(spark, "EXPLAIN ZORDER REMOVE t").head().getString(0).contains("ZOrderRemove t"))
  }
}
