package org.apache.spark.sql.zorder.build;

import java.util.Arrays;

/**
 * Compares what the jar was built for with what runs. A jar of the wrong Scala line loads and registers
 * without complaint and fails at the first use with a NoSuchMethodError that names neither; this check
 * comes first. Plain Java on java.* alone.
 */
public final class StartCheck {
  private StartCheck() {}

  /** One sentence that names both sides and the right jar, or null when the jar fits what runs. */
  public static String problem() {
    return problem(runningSpark(), runningScala());
  }

  /** The same for given versions (full or major.minor); null for a version means that it is unknown. */
  static String problem(String runningSpark, String runningScala) {
    String spark = line(runningSpark);
    String scala = line(runningScala);
    if (fits(BuildInfo.spark(), spark) && fits(BuildInfo.scala(), scala)) {
      return null;
    }
    String wanted = "spark-zorder-spark" + spark + "_" + scala;
    boolean built = Arrays.asList(BuildInfo.artifacts()).contains(wanted);
    return "The jar " + BuildInfo.artifact() + "-" + BuildInfo.version() + " is built for Spark "
        + BuildInfo.spark() + " and Scala " + BuildInfo.scala() + ", but this is Spark " + runningSpark
        + " with Scala " + runningScala + ": "
        + (built
            ? "use " + wanted + "-" + BuildInfo.version() + ".jar instead."
            : "there is no jar for that pair; this release has "
                + String.join(", ", BuildInfo.artifacts()) + ".");
  }

  /** Full version of the Spark on the class path, or null if there is none. */
  public static String runningSpark() {
    try {
      Class<?> module = Class.forName("org.apache.spark.package$", true, loader());
      Object instance = module.getField("MODULE$").get(null);
      return (String) module.getMethod("SPARK_VERSION").invoke(instance);
    } catch (ReflectiveOperationException | LinkageError unknown) {
      return null;
    }
  }

  /** Full version of the Scala library on the class path, or null if there is none. */
  public static String runningScala() {
    try {
      Class<?> facts = Class.forName("scala.util.Properties", true, loader());
      return (String) facts.getMethod("versionNumberString").invoke(null);
    } catch (ReflectiveOperationException | LinkageError unknown) {
      return null;
    }
  }

  private static ClassLoader loader() {
    return StartCheck.class.getClassLoader();
  }

  private static boolean fits(String built, String running) {
    return running == null || built.equals("unknown") || built.equals(running);
  }

  /** The first two numbers of a version: "3.5.9-amzn-0" is "3.5". */
  private static String line(String version) {
    if (version == null) {
      return null;
    }
    String[] parts = version.split("[.\\-]");
    return parts.length < 2 ? version : parts[0] + "." + parts[1];
  }
}
