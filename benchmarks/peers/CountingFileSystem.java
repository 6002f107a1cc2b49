package sparkzorder.bench;

import java.io.IOException;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/**
 * The local file system, which counts what an object store would count and, if it is told so, is as slow.
 *
 * A request is an open, or a read that does not go on where the last one of its stream ended. Each takes as much more
 * as {@link #slowBy} says. Data files are those of Parquet that no table format keeps for itself.
 */
public final class CountingFileSystem extends RawLocalFileSystem {
  private static volatile long millis = 0;

  private static final AtomicLong requests = new AtomicLong();
  private static final AtomicLong bytes = new AtomicLong();
  // data files opened, each with the ranges of bytes that were read of it
  private static final Map<String, Queue<long[]>> opened = new ConcurrentHashMap<>();

  /** From now on each request takes so many milliseconds more. */
  public static void slowBy(long more) {
    millis = more;
  }

  /** From now on everything is counted anew. */
  public static void reset() {
    requests.set(0);
    bytes.set(0);
    opened.clear();
  }

  /** Data files opened, requests, bytes read, since {@link #reset}. */
  public static long[] counts() {
    return new long[] {opened.size(), requests.get(), bytes.get()};
  }

  /** Row groups of data files of which bytes were read, since {@link #reset}. */
  public static long rowGroups() throws IOException {
    long found = 0;
    for (Map.Entry<String, Queue<long[]>> file : opened.entrySet()) {
      found += RowGroups.met(file.getKey(), file.getValue());
    }
    return found;
  }

  @Override
  public String getScheme() {
    return "file";
  }

  private static void request() throws IOException {
    requests.incrementAndGet();
    if (millis > 0) {
      try {
        Thread.sleep(millis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException(e);
      }
    }
  }

  private static boolean isData(String path) {
    return path.endsWith(".parquet") && !path.contains("/_") && !path.contains("/.hoodie")
        && !path.contains("/metadata/");
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    request();
    String name = path.toUri().getPath();
    Queue<long[]> ranges = isData(name) ? opened.computeIfAbsent(name, n -> new ConcurrentLinkedQueue<>())
        : new ConcurrentLinkedQueue<>();
    return new FSDataInputStream(new Counted(super.open(path, bufferSize), ranges));
  }

  private static final class Counted extends FSInputStream {
    private final FSDataInputStream in;
    private final Queue<long[]> ranges;
    private long[] range = {-1, -1};

    Counted(FSDataInputStream in, Queue<long[]> ranges) {
      this.in = in;
      this.ranges = ranges;
    }

    private void at(long position) throws IOException {
      if (position != range[1]) {
        request();
        range = new long[] {position, position};
        ranges.add(range);
      }
    }

    private int passed(long position, int read) {
      range[1] = position + Math.max(read, 0);
      bytes.addAndGet(Math.max(read, 0));
      return read;
    }

    @Override
    public int read() throws IOException {
      long position = in.getPos();
      at(position);
      int value = in.read();
      passed(position, value < 0 ? 0 : 1);
      return value;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      long position = in.getPos();
      at(position);
      return passed(position, in.read(buffer, offset, length));
    }

    @Override
    public int read(long position, byte[] buffer, int offset, int length) throws IOException {
      at(position);
      return passed(position, in.read(position, buffer, offset, length));
    }

    @Override
    public void seek(long position) throws IOException {
      in.seek(position);
    }

    @Override
    public long getPos() throws IOException {
      return in.getPos();
    }

    @Override
    public boolean seekToNewSource(long target) throws IOException {
      return in.seekToNewSource(target);
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
