package org.apache.spark.sql.zorder.clustering.inspect

import java.io.{EOFException, FileNotFoundException, IOException}

import org.apache.hadoop.security.AccessControlException
import org.apache.parquet.io.ParquetDecodingException
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkException
import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}

/** What stops a run has a condition, and a name of the file where anybody gave it. */
class UnreadableFilesSuite extends AnyFunSuite {
  private val file = "file:///t/part-0.parquet"

  private def explained(e: Throwable): Throwable =
    intercept[Exception](UnreadableFiles.explained[Unit]("t")(throw e))

  private def said(e: Throwable): ZOrderException = explained(e).asInstanceOf[ZOrderException]

  private def ofTask(cause: Throwable): SparkException =
    new SparkException("Job aborted due to stage failure", cause)

  private def reading(cause: Throwable): SparkException =
    ofTask(new SparkException(s"Encountered error while reading file $file. Details:", cause))

  test("a file that cannot be read is named") {
    val notParquet = said(ofTask(new RuntimeException(s"$file is not a Parquet file. Expected magic number")))
    assert(notParquet.condition == "ZORDER_FILE_UNREADABLE.NOT_PARQUET")
    assert(notParquet.getMessageParameters.get("file") == file)
    Seq(
      reading(new NullPointerException) -> "NullPointerException",
      reading(new EOFException) -> "EOFException",
      reading(new IndexOutOfBoundsException("no 0")) -> "IndexOutOfBoundsException: no 0",
      ofTask(new ParquetDecodingException(
        s"Can not read value at 0 in block -1 in file $file",
        new IOException("corrupt"))) -> "corrupt"
    ).foreach { case (e, cause) =>
      val damaged = said(e)
      assert(damaged.condition == "ZORDER_FILE_UNREADABLE.NOT_READ", e)
      assert(damaged.getMessageParameters.get("file") == file, e)
      assert(damaged.getMessageParameters.get("cause") == cause, e)
    }
  }

  test("the storage and the rights of a user are told apart from files, and what is gone is a conflict") {
    Seq(
      ofTask(new IOException("No space left on device")) -> "ZORDER_NO_SPACE.RUN",
      reading(new AccessControlException("Permission denied: user=x")) -> "ZORDER_NO_PERMISSION.RUN",
      new FileNotFoundException("/t/part-0.parquet (Permission denied)") -> "ZORDER_NO_PERMISSION.RUN",
      reading(new FileNotFoundException(s"File $file does not exist")) -> "ZORDER_CONFLICT.FILE_GONE",
      new FileNotFoundException("/t/part-0.parquet (Too many open files)") -> "ZORDER_STORAGE_FAILED.RUN",
      reading(new FileNotFoundException(s"$file (Too many open files)")) -> "ZORDER_STORAGE_FAILED.RUN",
      ofTask(new FileNotFoundException("/tmp/blockmgr-1/0e/temp_shuffle_9 (No such file or directory)")) ->
        "ZORDER_TASK_FAILED",
      new IOException("Connection reset") -> "ZORDER_STORAGE_FAILED.RUN",
      ofTask(new IndexOutOfBoundsException("no 0")) -> "ZORDER_TASK_FAILED"
    ).foreach { case (e, condition) =>
      val found = said(e)
      assert(found.condition == condition && found.getSuppressed.toSeq == Seq(e), e)
      assert(found.isInstanceOf[ZOrderConflictException] == (condition == "ZORDER_CONFLICT.FILE_GONE"))
    }
  }

  test("what a task refuses comes as it is, and so does what nobody can explain") {
    val refused = new ZOrderException("ZORDER_INVALID_COLUMNS.NONE_NAMED")
    val bug = new IllegalStateException("bug")
    assert(explained(ofTask(refused)) eq refused)
    assert(explained(bug) eq bug)
  }
}
