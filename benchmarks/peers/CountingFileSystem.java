package sparkzorder.bench;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
  private static final Set<String> opened = ConcurrentHashMap.newKeySet();

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
    if (isData(name)) {
      opened.add(name);
    }
    return new FSDataInputStream(new Counted(super.open(path, bufferSize)));
  }

  private static final class Counted extends FSInputStream {
    private final FSDataInputStream in;
    private long expected = -1;

    Counted(FSDataInputStream in) {
      this.in = in;
    }

    private void at(long position) throws IOException {
      if (position != expected) {
        request();
      }
    }

    private int passed(long position, int read) {
      expected = position + Math.max(read, 0);
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
