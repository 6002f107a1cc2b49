package sparkzorder.bench;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.util.LambdaUtils;
import org.apache.hadoop.util.VersionInfo;

/**
 * The local file system, which counts what Hadoop's S3A would ask a store for if this were one, and, if it is told so,
 * is as slow. CounterSuite of the store tests compares it with the log of an S3 server.
 *
 * Only what reads is counted. A status is a HEAD, and a LIST too if there is no such file; whether something is a file
 * is a HEAD, and whether it is a directory a LIST. An open is a HEAD, unless it comes with a status. A GET runs to the
 * end of the file until a reader goes back in it; from then on as far as the reader asks, and at least 64 KiB. A reader
 * that goes on within such an answer, or skips less than that, asks for nothing. Data files are those of Parquet that no
 * table format keeps for itself.
 */
public final class CountingFileSystem extends RawLocalFileSystem {
  private static volatile long millis = 0;

  private static final AtomicLong heads = new AtomicLong();
  private static final AtomicLong lists = new AtomicLong();
  private static final AtomicLong gets = new AtomicLong();
  private static final AtomicLong bytes = new AtomicLong();
  // data files opened, each with the ranges of bytes that were read of it
  private static final Map<String, Queue<long[]>> opened = new ConcurrentHashMap<>();
  // whether this file system asks itself for something
  private static final ThreadLocal<Boolean> inside = ThreadLocal.withInitial(() -> false);
  // this version believes only a status that its own file system has made
  private static final boolean ownStatusOnly = VersionInfo.getVersion().startsWith("3.3.4");

  /** From now on each request takes so many milliseconds more. */
  public static void slowBy(long more) {
    millis = more;
  }

  /** From now on everything is counted anew. */
  public static void reset() {
    heads.set(0);
    lists.set(0);
    gets.set(0);
    bytes.set(0);
    opened.clear();
  }

  /** Data files opened, requests, bytes read, since {@link #reset}. */
  public static long[] counts() {
    return new long[] {opened.size(), heads.get() + lists.get() + gets.get(), bytes.get()};
  }

  /** The requests by their kinds: HEAD, LIST, GET. */
  public static long[] kinds() {
    return new long[] {heads.get(), lists.get(), gets.get()};
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

  private static void request(AtomicLong kind) throws IOException {
    kind.incrementAndGet();
    if (millis > 0) {
      try {
        Thread.sleep(millis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException(e);
      }
    }
  }

  private interface Answer<A> {
    A get() throws IOException;
  }

  private static <A> A uncounted(Answer<A> answer) throws IOException {
    boolean before = inside.get();
    inside.set(true);
    try {
      return answer.get();
    } finally {
      inside.set(before);
    }
  }

  private static boolean isData(String path) {
    return path.endsWith(".parquet") && !path.contains("/_") && !path.contains("/.hoodie")
        && !path.contains("/metadata/");
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    if (inside.get()) {
      return super.getFileStatus(path);
    }
    request(heads);
    try {
      FileStatus found = uncounted(() -> super.getFileStatus(path));
      if (found.isDirectory()) {
        request(lists);
      }
      return found;
    } catch (FileNotFoundException e) {
      request(lists);
      throw e;
    }
  }

  @Override
  public boolean exists(Path path) throws IOException {
    try {
      getFileStatus(path);
      return true;
    } catch (FileNotFoundException e) {
      return false;
    }
  }

  @Override
  @SuppressWarnings("deprecation")
  public boolean isDirectory(Path path) throws IOException {
    return is(path, lists, FileStatus::isDirectory);
  }

  @Override
  @SuppressWarnings("deprecation")
  public boolean isFile(Path path) throws IOException {
    return is(path, heads, FileStatus::isFile);
  }

  private boolean is(Path path, AtomicLong kind, Predicate<FileStatus> what) throws IOException {
    if (!inside.get()) {
      request(kind);
    }
    try {
      return what.test(uncounted(() -> super.getFileStatus(path)));
    } catch (FileNotFoundException e) {
      return false;
    }
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    if (inside.get()) {
      return super.listStatus(path);
    }
    request(lists);
    try {
      FileStatus[] found = uncounted(() -> super.listStatus(path));
      if (found.length == 0 || found[0].getPath().equals(path)) {
        getFileStatus(path);
      }
      return found;
    } catch (FileNotFoundException e) {
      request(heads);
      request(lists);
      throw e;
    }
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return inside.get() ? super.open(path, bufferSize) : opened(path, bufferSize, null);
  }

  @Override
  protected CompletableFuture<FSDataInputStream> openFileWithOptions(Path path, OpenFileParameters how) {
    return LambdaUtils.eval(new CompletableFuture<>(), () -> opened(path, how.getBufferSize(), how.getStatus()));
  }

  private FSDataInputStream opened(Path path, int bufferSize, FileStatus known) throws IOException {
    if (known == null || ownStatusOnly && known.getClass() == FileStatus.class) {
      request(heads);
    }
    long length = uncounted(() -> super.getFileStatus(path)).getLen();
    String name = path.toUri().getPath();
    Queue<long[]> ranges = isData(name) ? opened.computeIfAbsent(name, n -> new ConcurrentLinkedQueue<>())
        : new ConcurrentLinkedQueue<>();
    return new FSDataInputStream(new Counted(uncounted(() -> super.open(path, bufferSize)), length, ranges));
  }

  private static final class Counted extends FSInputStream {
    private static final long READAHEAD = 64 << 10;

    private final FSDataInputStream in;
    private final long length;
    private final Queue<long[]> ranges;
    private long[] range = {-1, -1};
    // the answer that is being read, if there is one: where it goes on, and where it ends
    private long next = -1;
    private long end = -1;
    private boolean random = false;

    Counted(FSDataInputStream in, long length, Queue<long[]> ranges) {
      this.in = in;
      this.length = length;
      this.ranges = ranges;
    }

    private void at(long position, long wanted) throws IOException {
      if (position >= length) {
        return;
      }
      long ahead = position - next;
      boolean within = next >= 0 && ahead >= 0 && (ahead == 0 ? next < end : ahead < Math.min(end - next, READAHEAD));
      if (!within) {
        random |= next >= 0 && ahead < 0;
        request(gets);
        end = random ? Math.min(length, position + Math.max(READAHEAD, wanted)) : length;
      }
      next = position;
      if (position != range[1]) {
        range = new long[] {position, position};
        ranges.add(range);
      }
    }

    private int passed(long position, int read) {
      next = position + Math.max(read, 0);
      range[1] = next;
      bytes.addAndGet(Math.max(read, 0));
      return read;
    }

    @Override
    public int read() throws IOException {
      long position = in.getPos();
      at(position, 1);
      int value = in.read();
      passed(position, value < 0 ? 0 : 1);
      return value;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      long position = in.getPos();
      at(position, length);
      return passed(position, in.read(buffer, offset, length));
    }

    @Override
    public int read(long position, byte[] buffer, int offset, int length) throws IOException {
      at(position, length);
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
