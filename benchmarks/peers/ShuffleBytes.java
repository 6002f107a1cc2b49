package sparkzorder.bench;

import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** Bytes that queries write to shuffles, after compression: a join by a key that lies in order has fewer. */
public final class ShuffleBytes extends SparkListener {
  private static final AtomicLong written = new AtomicLong();
  private static ShuffleBytes listening = null;

  private ShuffleBytes() {}

  /** Counts from now on. */
  public static synchronized void reset(SparkContext context) throws TimeoutException {
    if (listening == null) {
      listening = new ShuffleBytes();
      context.addSparkListener(listening);
    }
    context.listenerBus().waitUntilEmpty();
    written.set(0);
  }

  /** Since {@link #reset}, of all tasks that have ended. */
  public static long count(SparkContext context) throws TimeoutException {
    context.listenerBus().waitUntilEmpty();
    return written.get();
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    if (end.taskMetrics() != null) {
      written.addAndGet(end.taskMetrics().shuffleWriteMetrics().bytesWritten());
    }
  }
}
