package org.apache.spark.sql.zorder.stats.bloom

import java.io.ByteArrayOutputStream

import scala.util.Random

import org.apache.parquet.column.values.bloomfilter.BlockSplitBloomFilter
import org.apache.parquet.io.api.Binary
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.sql.types.{DecimalType, IntegerType, LongType, StringType}
import sparkzorder.curve.{NormalizedBytes, NormalizedLong, OrderedBits}
import sparkzorder.mark.SameOnAllLines

/** The filters beside Parquet's own, and how often they are wrong. */
@SameOnAllLines
class SplitBlockBloomSuite extends AnyFunSuite {
  private val random = new Random(17)

  private def hash(probe: BloomProbe): Long = probe match {
    case BloomProbe.Hash(h) => h
    case other => fail(s"$other is no hash")
  }

  test("hashes and bits are those of Parquet's own filters") {
    val theirs = new BlockSplitBloomFilter(4096, 4096)
    val ours = new SplitBlockBloom(new Array[Int](1024))
    def add(their: Long, our: BloomProbe): Unit = {
      assert(hash(our) === their)
      theirs.insertHash(their)
      ours.insert(hash(our))
    }
    (0 until 300).foreach { i =>
      val n = random.nextLong()
      val text = random.nextString(random.nextInt(80)).getBytes("UTF-8")
      add(theirs.hash(n.toInt), BloomKey.Int32.probe(NormalizedLong(n.toInt.toLong), IntegerType))
      add(theirs.hash(n), BloomKey.Int64.probe(NormalizedLong(n), LongType))
      add(
        theirs.hash(Binary.fromConstantByteArray(text)),
        BloomKey.Bytes.probe(NormalizedBytes(text), StringType))
      val unscaled =
        new java.math.BigInteger(100, random.self).subtract(java.math.BigInteger.ONE.shiftLeft(99))
      val sign = if (unscaled.signum < 0) Array[Byte](-1, -1, -1) else Array[Byte](0, 0, 0)
      val plain = (sign ++ Array.fill(13)(sign(0)) ++ unscaled.toByteArray).takeRight(16)
      add(
        theirs.hash(Binary.fromConstantByteArray(plain)),
        BloomKey.Fixed(16).probe(NormalizedBytes(OrderedBits.ofBigInteger(unscaled)), DecimalType(38, 2)))
      assert(ours.mayContain(
        theirs.hash(n)) && theirs.findHash(theirs.hash(i)) === ours.mayContain(theirs.hash(i)))
    }
    val out = new ByteArrayOutputStream()
    theirs.writeTo(out)
    assert(SplitBlockBloom.of(out.toByteArray).words.toSeq === ours.words.toSeq)
  }

  test("values that a file's type cannot hold are in none; days of the old calendar are not asked") {
    assert(BloomKey.Int32.probe(NormalizedLong(1L << 40), LongType) === BloomProbe.Absent)
    assert(BloomKey.Millis.probe(NormalizedLong(1234567L), LongType) === BloomProbe.Absent)
    assert(BloomKey.Fixed(2).probe(NormalizedLong(40000), DecimalType(9, 2)) === BloomProbe.Absent)
    val day = java.time.LocalDate.parse("1500-01-01").toEpochDay
    assert(BloomKey.Int32.probe(
      NormalizedLong(day),
      org.apache.spark.sql.types.DateType) === BloomProbe.Unknown)
  }

  test("a folded filter has the keys of the larger one, whatever the divisor") {
    val hashes = Array.fill(5000)(random.nextLong())
    val large = new SplitBlockBloom(new Array[Int](720 * 8))
    hashes.foreach(large.insert)
    Seq(720, 360, 240, 144, 90, 45, 9, 1).foreach { blocks =>
      val folded = large.folded(blocks)
      val made = new SplitBlockBloom(new Array[Int](blocks * 8))
      hashes.foreach(made.insert)
      assert(folded.words.toSeq === made.words.toSeq)
    }
    val wide = new SplitBlockBloom(new Array[Int](32768 * 8))
    hashes.foreach(wide.insert)
    val small = wide.smallest(0.002)
    assert(hashes.forall(small.mayContain))
    assert(small.blocks <= 512 && small.rate <= 0.002)
  }

  test("15 to 17 bits a key; one key of a thousand that is not there looks as if it were, at most two") {
    Seq(100, 10000, 1000000).foreach { keys =>
      val hashes = new BloomOfHashes(keys.toLong)
      (0 until keys).foreach { i =>
        hashes.add(hash(BloomKey.Int64.probe(NormalizedLong(i.toLong), LongType)))
        if (i % 3 == 0) hashes.add(hash(BloomKey.Int64.probe(NormalizedLong(i.toLong / 2), LongType)))
      }
      val bloom = hashes.result().get
      val bits = bloom.words.length * 32.0 / keys
      assert(bits >= 15 && bits <= (if (keys < 1000) 18 else 17), s"$bits bits a key for $keys")
      def asked(i: Int): Boolean =
        bloom.mayContain(hash(BloomKey.Int64.probe(NormalizedLong(i.toLong), LongType)))
      assert((0 until keys by math.max(1, keys / 10000)).forall(asked))
      val wrong = (0 until 200000).count(i => asked(-1 - i)) / 200000.0
      info(f"$keys keys: $bits%.1f bits a key, ${wrong * 100}%.2f %% wrong, by its bits ${bloom.rate * 100}%.2f %%")
      assert(wrong <= 0.003 && math.abs(wrong - bloom.rate) < 0.001)
    }
  }

  test("more than a million distinct values, and the same many times over: sizes fit, none is lost") {
    def made(values: Long, distinct: Int): Option[SplitBlockBloom] = {
      val hashes = new BloomOfHashes(values)
      (0L until values).foreach(i => hashes.add(XXH64.hashLong(i % distinct, 0L)))
      hashes.result()
    }
    val unique = made(1500000, 1500000).get
    assert((0 until 1500000 by 7).forall(i => unique.mayContain(XXH64.hashLong(i.toLong, 0L))))
    assert(unique.blocks * 256.0 / 1500000 < 17 && unique.rate < 0.002)
    val repeated = made(3000000, 1100000).get
    assert((0 until 1100000 by 7).forall(i => repeated.mayContain(XXH64.hashLong(i.toLong, 0L))))
    assert(repeated.blocks * 256.0 / 1100000 < 30 && repeated.rate < 0.002)
    assert(made(500000, 3000).get.blocks === SplitBlockBloom.blocksFor(3000))
    // told to expect fewer than there are
    val full = new BloomOfHashes(1000)
    (0 until 2000000).foreach(i => full.add(XXH64.hashLong(i.toLong, 0L)))
    assert(full.result() === None)
  }
}
