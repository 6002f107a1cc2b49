package org.apache.spark.sql.zorder.hdfs

import java.nio.file.Files
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.hdfs.{DistributedFileSystem, MiniDFSCluster}
import org.scalatest.Suite

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.zorder.OwnSession
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import org.apache.spark.util.Utils

/** A session beside an HDFS of one node in this JVM. */
private[hdfs] trait HdfsFixture extends OwnSession { this: Suite =>

  protected def spark: SparkSession = ownSession

  override protected def configured(start: SparkSession.Builder): SparkSession.Builder =
    (HdfsFixture.settings ++ Seq("spark.zorder.commit.waitSeconds" -> "2"))
      .foldLeft(start) { case (b, (key, value)) => b.config(key, value) }

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark.sparkContext.setLogLevel("ERROR")
  }

  override def afterAll(): Unit = {
    CrashPoint.meanwhile = (_: String) => ()
    super.afterAll()
  }

  protected def hdfs: DistributedFileSystem = HdfsFixture.cluster.getFileSystem

  /** As the code under test gets it. */
  protected def fs: FileSystem =
    new Path(HdfsFixture.cluster.getURI).getFileSystem(Shims.classic(spark).sessionState.newHadoopConf())

  /** A directory that nobody has used, with its file system. */
  protected def place(name: String): Path = {
    val dir =
      new Path(HdfsFixture.cluster.getURI.toString, s"/data/${UUID.randomUUID.toString.take(8)}/$name")
    hdfs.mkdirs(dir.getParent)
    dir
  }

  /** A table `t` of the ids below 400 in four files, or in two of each of two partitions; `body` gets its directory. */
  protected def withTable[A](kind: String)(body: String => A): A = {
    val writer = numbers(0, 400).write.format("parquet")
    val parted = if (kind.endsWith("partitioned")) writer.partitionBy("p") else writer
    val managed = kind.startsWith("managed")
    if (managed) sql(s"CREATE DATABASE d LOCATION '${place("d")}'")
    val name = if (managed) "d.t" else "t"
    (if (managed) parted else parted.option("path", place("t").toString)).saveAsTable(name)
    sql(s"USE ${if (managed) "d" else "default"}")
    try body(location)
    finally {
      CrashPoint.meanwhile = (_: String) => ()
      sql("DROP TABLE IF EXISTS t")
      sql("USE default")
      if (managed) sql("DROP DATABASE d CASCADE")
    }
  }

  protected def location: String =
    spark.sessionState.catalog.getTableMetadata(TableIdentifier("t")).location.toString

  protected def numbers(from: Long, until: Long): DataFrame =
    spark.range(from, until, 1, 2).selectExpr(
      "id",
      "cast(pmod(xxhash64(id, 1), 1000) as int) a",
      "pmod(xxhash64(id, 2), 1000000) b",
      "id % 2 AS p")

  protected def run(table: String): Row = {
    val row = sql(s"ZORDER TABLE $table FULL BY (a, b) WITH (fileCount = 3, force = true)").collect().head
    assert(row.getAs[String]("status") == "DONE", row)
    row
  }

  protected def sql(text: String): DataFrame = spark.sql(text)

  /** By name. */
  protected def named(): Seq[Long] = {
    sql("REFRESH TABLE t")
    spark.table("t").select("id").collect().map(_.getLong(0)).toSeq.sorted
  }

  protected def lying(path: String): Seq[Long] = {
    spark.catalog.refreshByPath(path)
    spark.read.parquet(path).select("id").collect().map(_.getLong(0)).toSeq.sorted
  }

  protected def refused(body: => Any): String =
    try throw new AssertionError(s"not refused: $body")
    catch { case e: ZOrderException => e.getMessage }

  /** What is in the directory that `path` lies in. */
  protected def beside(path: String): Seq[String] =
    hdfs.listStatus(new Path(path).getParent).map(_.getPath.getName).toSeq.sorted
}

private[hdfs] object HdfsFixture {

  /** Started once for all suites; its ports are those that are free, on the loopback address. */
  lazy val cluster: MiniDFSCluster = {
    val dir = Files.createTempDirectory("zorder-hdfs-").toFile
    sys.addShutdownHook(Utils.deleteRecursively(dir))
    val conf = new Configuration()
    conf.set("hadoop.security.key.provider.path", s"jceks://file$dir/keys.jceks")
    conf.set("dfs.replication", "1")
    // how long a file that is closed waits for the one node: 400 ms if nobody says so
    conf.set("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", "20")
    // Hadoop keeps one instance for all that ask for this cluster
    conf.set("fs.hdfs.impl", classOf[HookedFileSystem].getName)
    val started = new MiniDFSCluster.Builder(conf, dir).numDataNodes(1).build()
    started.waitActive()
    started.getFileSystem.mkdirs(new Path("/data"))
    started.getFileSystem.setPermission(new Path("/data"), new FsPermission("777"))
    started
  }

  /** Of a session that reads and writes there: with hooks, and with a mount of viewfs. */
  def settings: Map[String, String] = Map(
    "spark.hadoop.hadoop.security.key.provider.path" ->
      cluster.getConfiguration(0).get("hadoop.security.key.provider.path"),
    "spark.hadoop.fs.viewfs.mounttable.zorder.link./data" -> s"${cluster.getURI}/data",
    "spark.hadoop.fs.viewfs.mounttable.zorder.link./mounted" -> s"${cluster.getURI}/data/mounted")
}

/** HDFS where a test lets something happen before a directory is made. */
private[hdfs] class HookedFileSystem extends DistributedFileSystem {
  override def mkdirs(dir: Path, permission: FsPermission): Boolean = {
    HookedFileSystem.beforeMkdirs(dir)
    super.mkdirs(dir, permission)
  }
}

private[hdfs] object HookedFileSystem {
  @volatile var beforeMkdirs: Path => Unit = (_: Path) => ()
}
