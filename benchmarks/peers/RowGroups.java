package sparkzorder.bench;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.util.HadoopInputFile;

/**
 * Which row groups of a Parquet file ranges of bytes meet. Footers are read once, past the file system that counts: a
 * data file never changes under its name while layouts are compared.
 */
final class RowGroups {
  private static final Map<String, List<long[]>> known = new ConcurrentHashMap<>();

  private RowGroups() {}

  /** How many row groups of the file have a byte in one of the ranges. */
  static long met(String file, Queue<long[]> ranges) throws IOException {
    List<long[]> groups = known.get(file);
    if (groups == null) {
      groups = read(file);
      known.put(file, groups);
    }
    return groups.stream().filter(g -> ranges.stream().anyMatch(r -> r[0] < g[1] && g[0] < r[1])).count();
  }

  private static List<long[]> read(String file) throws IOException {
    Configuration plain = new Configuration(false);
    plain.setClass("fs.file.impl", RawLocalFileSystem.class, org.apache.hadoop.fs.FileSystem.class);
    plain.setBoolean("fs.file.impl.disable.cache", true);
    try (ParquetFileReader reader = ParquetFileReader.open(HadoopInputFile.fromPath(new Path(file), plain))) {
      return reader.getFooter().getBlocks().stream().map(RowGroups::bytes).collect(Collectors.toList());
    }
  }

  private static long[] bytes(BlockMetaData group) {
    long end = group.getStartingPos();
    for (ColumnChunkMetaData column : group.getColumns()) {
      end = Math.max(end, column.getStartingPos() + column.getTotalSize());
    }
    return new long[] {group.getStartingPos(), end};
  }
}
