package org.apache.spark.sql.zorder.expr.layout

import java.nio.charset.StandardCharsets.UTF_8
import java.util.SplittableRandom

import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckFailure
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.expr.normalized.{NormalizedBytesType, NormalizedLongType}
import org.apache.spark.sql.zorder.clustering.fit.{
  BytesSample,
  Fit,
  FitColumn,
  LongSample,
  Sample,
  SampleColumn
}
import org.apache.spark.util.Utils

class LayoutExpressionSuite extends SparkFunSuite with ExpressionEvalHelper {
  private val random = new SplittableRandom(9)
  private val Rows = 400

  private val generators: Seq[(DataType, () => Any)] = Seq(
    BooleanType -> (() => random.nextInt(2) == 0),
    ByteType -> (() => random.nextInt(256).toByte),
    ShortType -> (() => random.nextInt(1 << 16).toShort),
    IntegerType -> (() => random.nextInt()),
    LongType -> (() => random.nextLong()),
    FloatType -> (() => Seq(Float.NaN, -0.0f, 0.0f, random.nextInt().toFloat)(random.nextInt(4))),
    DoubleType -> (() =>
      Seq(Double.NegativeInfinity, -0.0, random.nextDouble(), Double.NaN)(random.nextInt(4))),
    DecimalType(9, 2) -> (() => Decimal(random.nextInt(100000000).toLong, 9, 2)),
    DecimalType(38, 10) -> (() =>
      Decimal(BigDecimal(random.nextLong()) * random.nextLong() / BigDecimal(10).pow(10), 38, 10)),
    DateType -> (() => random.nextInt(20000)),
    TimestampType -> (() => random.nextLong(1L << 50)),
    TimestampNTZType -> (() => random.nextLong(1L << 50)),
    StringType -> (() => utf8("s" + random.nextInt(1000))),
    BinaryType -> (() => Array.fill(random.nextInt(5))(random.nextInt().toByte)))

  private def utf8(s: String) = org.apache.spark.unsafe.types.UTF8String.fromBytes(s.getBytes(UTF_8))

  private def column(dataType: DataType, values: Seq[Any]): SampleColumn = {
    val isNull = values.map(_ == null).toArray
    Normalization.of(dataType).get match {
      case t: NormalizedLongType =>
        LongSample(values.map(v => if (v == null) 0L else t.toLong(v)).toArray, isNull)
      case t: NormalizedBytesType =>
        BytesSample(values.map(v => if (v == null) Array.emptyByteArray else t.toBytes(v)).toArray, isNull)
    }
  }

  private def values(generator: () => Any): Seq[Any] =
    Seq.fill(Rows)(if (random.nextInt(5) == 0) null else generator())

  private def fit(types: Seq[DataType], rows: Seq[Seq[Any]], files: Int): LayoutRef =
    Fit.ref(Fit.choose(
      Sample(types.indices.map(c => column(types(c), rows.map(_(c))))),
      types.zipWithIndex.map { case (t, c) => FitColumn(s"c$c", t.sql) },
      files,
      "zorder",
      Nil,
      1.0).layout)

  private def references(types: Seq[DataType]): Seq[Expression] =
    types.zipWithIndex.map { case (t, c) => BoundReference(c, t, nullable = true) }

  /** (file, key) from the layout itself. */
  private def expected(ref: LayoutRef, types: Seq[DataType], row: Seq[Any], hash: Int): (Int, Long) = {
    val ranks = types.indices.map { c =>
      if (row(c) == null) 0
      else ref.layout.columns(c).scale.rank(Normalization.of(types(c)).get.normalize(row(c)))
    }.toArray
    val cell = ref.compiled.cell(ranks)
    (
      ref.compiled.file(cell, hash),
      ref.compiled.key(cell, ref.compiled.fileOf(cell), ranks, new Array[Int](ranks.length)))
  }

  test("a task is sent the layout alone, and compiles it again") {
    val types = Seq(LongType, LongType)
    val rows = Seq.fill(4000)(Seq[Any](random.nextLong(), random.nextLong(1L << 20)))
    val files = 64
    val ref = fit(types, rows, files)
    rows.take(10).foreach(expected(ref, types, _, 0))
    val sent = Utils.serialize(ref)
    val arrived = Utils.deserialize[LayoutRef](sent)
    rows.foreach(row => assert(expected(arrived, types, row, 0) === expected(ref, types, row, 0)))
    // a start, two ranks and a number of rows of each bin, and the nodes of the tree
    val bins = ref.layout.columns.map(_.scale.bins).sum
    assert(sent.length < 20 * bins + 200 * files + 4096)
  }

  for ((dataType, generator) <- generators)
    test(s"zorder_file and zorder_key of ${dataType.sql}, with NULLs") {
      val types = Seq(dataType, LongType)
      val rows = values(generator).zip(values(() => random.nextLong(100))).map { case (a, b) => Seq(a, b) }
      val ref = fit(types, rows, 16)
      rows.take(12).foreach { row =>
        val input = InternalRow.fromSeq(row)
        val (file, key) = expected(ref, types, row, 0)
        checkEvaluation(ZOrderFile(ref, references(types), Nil), file, input)
        checkEvaluation(ZOrderKey(ref, references(types)), key, input)
      }
    }

  test("rows of a spread cell go by the hash of the further columns, to all of its files") {
    val types = Seq(IntegerType, IntegerType)
    val rows = Seq.fill(100)(Seq(1, 2))
    val ref = fit(types, rows, 5)
    val further = Seq(BoundReference(2, LongType, nullable = true))
    val seen = (0 until 60).map { i =>
      val input = InternalRow(1, 2, if (i == 0) null else i.toLong)
      val hash = Murmur3Hash(further, 42).eval(input).asInstanceOf[Int]
      val (file, _) = expected(ref, types, Seq(1, 2), hash)
      checkEvaluation(ZOrderFile(ref, references(types), further), file, input)
      file
    }
    assert(seen.toSet == (0 until 5).toSet)
    checkEvaluation(ZOrderFile(ref, references(types), Nil), 0, InternalRow(1, 2, 3L))
  }

  test("several layouts: the route chooses, files are counted through") {
    val types = Seq(IntegerType, StringType)
    val refs = (1 to 3).map(k =>
      fit(types, Seq.fill(Rows)(Seq(random.nextInt(k * 1000), utf8("x" + random.nextInt(50)))), 4 * k))
    val layouts = PartitionLayouts(refs)
    assert(layouts.files == refs.map(_.layout.files).sum)
    val route = Some(BoundReference(2, IntegerType, nullable = false))
    for (r <- 0 until 3; _ <- 0 until 8) {
      val row =
        Seq(if (random.nextInt(4) == 0) null else random.nextInt(3000), utf8("x" + random.nextInt(60)))
      val input = InternalRow.fromSeq(row :+ r)
      val (file, key) = expected(refs(r), types, row, 0)
      checkEvaluation(ZOrderFile(layouts, route, references(types), None), layouts.firstFile(r) + file, input)
      checkEvaluation(ZOrderKey(layouts, route, references(types)), key, input)
    }
  }

  test("sixty columns: the generated code is split") {
    val types = Seq.fill(60)(IntegerType)
    val rows = Seq.fill(200)(Seq.fill(60)(random.nextInt(100)))
    val ref = fit(types, rows, 8)
    rows.take(3).foreach { row =>
      val (file, key) = expected(ref, types, row, 0)
      checkEvaluation(ZOrderFile(ref, references(types), Nil), file, InternalRow.fromSeq(row))
      checkEvaluation(ZOrderKey(ref, references(types)), key, InternalRow.fromSeq(row))
    }
  }

  private def failure(e: Expression): String = e.checkInputDataTypes() match {
    case TypeCheckFailure(message) => message
    case other => fail(s"$other")
  }

  test("another type or number of columns: one sentence") {
    val types = Seq(IntegerType, StringType)
    val ref = fit(types, Seq.fill(50)(Seq(random.nextInt(), utf8("a"))), 4)
    val wrong =
      Seq(BoundReference(0, LongType, nullable = true), BoundReference(1, StringType, nullable = true))
    Seq(ZOrderFile(ref, wrong, Nil), ZOrderKey(ref, wrong)).foreach { e =>
      val message = failure(e)
      assert(message.contains("BIGINT") && message.contains("INT") && message.contains(
        ref.id) && message.contains("cast"))
    }
    assert(failure(ZOrderKey(ref, wrong.take(1))).contains("has 2 columns (c0, c1), and 1 were given"))
    assert(ZOrderKey(ref, references(types)).checkInputDataTypes().isSuccess)
  }

  test("plans show the layout's id and no boundary") {
    val types = Seq(StringType)
    val ref = fit(types, Seq.fill(300)(Seq(utf8("secret" + random.nextInt(3)))), 3)
    val c = AttributeReference("c0", StringType)()
    Seq(ZOrderFile(ref, Seq(c), Nil), ZOrderKey(ref, Seq(c))).foreach { e =>
      Seq(
        e.toString,
        e.sql,
        e.simpleString(1000),
        e.treeString,
        e.canonicalized.toString,
        Alias(e, "x")().toString)
        .foreach { text =>
          assert(text.contains(ref.id) && !text.contains("secret") && text.length < 200, text)
        }
      assert(e.semanticEquals(e.withNewChildren(e.children)))
    }
  }

  test("new children come back in their places") {
    val types = Seq(IntegerType, IntegerType)
    val ref = fit(types, Seq.fill(50)(Seq(random.nextInt(), random.nextInt())), 4)
    val route = BoundReference(2, IntegerType, nullable = false)
    val e =
      ZOrderFile(
        PartitionLayouts(Vector(ref, ref)),
        Some(route),
        references(types),
        ZOrderFile.spreadBy(Seq(route)))
    assert(e.withNewChildren(e.children) == e)
    val k = ZOrderKey(PartitionLayouts(Vector(ref, ref)), Some(route), references(types))
    assert(k.withNewChildren(k.children) == k)
  }

  test("to_partition: Spark's hash partitioning sends every number where it should go") {
    for (n <- 1 to 200) {
      val images = new PreImages(n)
      val hashed =
        HashPartitioning(Seq(BoundReference(0, IntegerType, nullable = false)), n).partitionIdExpression
      (0 until n).foreach(p => assert(hashed.eval(InternalRow(images.table(p))) == p, s"$p of $n"))
    }
    val images = new PreImages(37)
    val e = ToPartition(BoundReference(0, IntegerType, nullable = true), images)
    (0 until 37).foreach(p => checkEvaluation(e, images.table(p), InternalRow(p)))
    checkEvaluation(e, null, InternalRow(null))
    checkEvaluation(
      HashPartitioning(Seq(ToPartition(BoundReference(0, IntegerType, nullable = false), images)), 37)
        .partitionIdExpression,
      11,
      InternalRow(11))
  }

  test("to_partition: ten thousand partitions in little time") {
    val from = System.nanoTime
    val images = new PreImages(10000)
    assert(images.table.distinct.length == 10000)
    // as many cells by the tasks that merge them: the table is made once, not once a cell
    val cells = 0 until 40000
    assert(new PreImages(20000, Some(cells.map(_ / 2))).table.toSeq ==
      new PreImages(20000).table.toSeq.flatMap(image => Seq(image, image)))
    assert((System.nanoTime - from) / 1e9 < 5)
  }
}
