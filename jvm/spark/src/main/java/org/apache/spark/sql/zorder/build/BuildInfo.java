package org.apache.spark.sql.zorder.build;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/**
 * What this jar was built as and for. Plain Java on java.* alone: it loads under any Scala and any Spark,
 * so that it can still speak when nothing else in the jar links.
 */
public final class BuildInfo {
  private static final Properties FACTS = read();

  private BuildInfo() {}

  /** Version of spark-zorder, e.g. {@code 0.1.0}. */
  public static String version() {
    return FACTS.getProperty("version", "unknown");
  }

  /** Spark line that the jar was compiled for, e.g. {@code 3.5}. */
  public static String spark() {
    return FACTS.getProperty("spark", "unknown");
  }

  /** Scala binary version that the jar was compiled for, e.g. {@code 2.12}. */
  public static String scala() {
    return FACTS.getProperty("scala", "unknown");
  }

  /** Name of the jar without its version, e.g. {@code spark-zorder-spark3.5_2.12}. */
  public static String artifact() {
    return FACTS.getProperty("artifact", "spark-zorder");
  }

  /** Names of all jars of this release, in the order of the build's table. */
  public static String[] artifacts() {
    return FACTS.getProperty("artifacts", artifact()).split(",");
  }

  /**
   * Maven coordinates of the jar of a table format, as in {@code --packages}, or null where this jar has no
   * support for the format.
   *
   * @param format in lower case, e.g. {@code delta}
   */
  public static String formatJar(String format) {
    for (String module : FACTS.getProperty("modules", "").split(",")) {
      if (module.startsWith(format + "=")) {
        return module.substring(format.length() + 1);
      }
    }
    return null;
  }

  private static Properties read() {
    Properties facts = new Properties();
    try (InputStream in = BuildInfo.class.getResourceAsStream("/spark-zorder.properties")) {
      if (in != null) {
        facts.load(in);
      }
    } catch (IOException unreadable) {
      // every fact then reads "unknown", and the start check stays silent
      facts.clear();
    }
    return facts;
  }
}
