package org.apache.spark.sql.zorder.build;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * Looks up each method and field of Spark that the classes of this jar refer to, as the JVM would at their first
 * use. A vendor may have changed Spark's internals: then a query would end in a NoSuchMethodError, and this says
 * so before. Nothing is initialized or called. Plain Java on java.* alone.
 */
public final class LinkCheck {
  private static final String SPARK = "org/apache/spark/";
  /** Ours, and those of Delta, which need not be there. */
  private static final String[] OTHERS = {"org/apache/spark/sql/zorder/", "org/apache/spark/sql/delta/"};

  private final ClassLoader loader;
  private final Set<String> references = new TreeSet<>();
  private final Map<Class<?>, Set<String>> declared = new HashMap<>();

  LinkCheck(ClassLoader loader) {
    this.loader = loader;
  }

  /** All references of this jar. */
  public static LinkCheck ofThisJar() throws IOException {
    LinkCheck found = new LinkCheck(LinkCheck.class.getClassLoader());
    InputStream jar = LinkCheck.class.getProtectionDomain().getCodeSource().getLocation().openStream();
    try (ZipInputStream entries = new ZipInputStream(jar)) {
      for (ZipEntry e = entries.getNextEntry(); e != null; e = entries.getNextEntry()) {
        if (e.getName().endsWith(".class")) {
          found.add(entries);
        }
      }
    }
    return found;
  }

  /** How many methods and fields are referred to. */
  public int count() {
    return references.size();
  }

  /** Those that are not there, each as class, name and descriptor. */
  public String[] missing() {
    List<String> lost = new ArrayList<>();
    for (String reference : references) {
      String[] parts = reference.split(" ");
      if (!isThere(parts[0].replace('/', '.'), parts[1])) {
        lost.add(parts[0].replace('/', '.') + "." + parts[1]);
      }
    }
    return lost.toArray(new String[0]);
  }

  /** Adds the references of a class file: they are in its constant pool. The stream stays open. */
  void add(InputStream classFile) throws IOException {
    DataInputStream in = new DataInputStream(classFile);
    in.readInt();
    in.readInt();
    int size = in.readUnsignedShort();
    String[] texts = new String[size];
    int[][] pairs = new int[size][];
    List<int[]> members = new ArrayList<>();
    for (int i = 1; i < size; i++) {
      int tag = in.readUnsignedByte();
      switch (tag) {
        case 1: // text
          texts[i] = in.readUTF();
          break;
        case 3: // int
        case 4: // float
          in.readInt();
          break;
        case 5: // long
        case 6: // double; both take two places
          in.readLong();
          i++;
          break;
        case 9: // field
        case 10: // method
        case 11: // method of an interface
        case 12: // name and descriptor
        case 17: // dynamic constant
        case 18: // invokedynamic
          pairs[i] = new int[] {in.readUnsignedShort(), in.readUnsignedShort()};
          if (tag <= 11) {
            members.add(pairs[i]);
          }
          break;
        case 15: // method handle
          in.readUnsignedByte();
          in.readUnsignedShort();
          break;
        default: // class, string, method type, module, package
          pairs[i] = new int[] {in.readUnsignedShort(), 0};
      }
    }
    for (int[] member : members) {
      String owner = texts[pairs[member[0]][0]];
      int[] named = pairs[member[1]];
      if (isSparks(owner)) {
        references.add(owner + " " + texts[named[0]] + texts[named[1]]);
      }
    }
  }

  private static boolean isSparks(String owner) {
    for (String other : OTHERS) {
      if (owner.startsWith(other)) {
        return false;
      }
    }
    return owner.startsWith(SPARK);
  }

  private boolean isThere(String owner, String member) {
    try {
      return declares(Class.forName(owner, false, loader), member);
    } catch (ClassNotFoundException lost) {
      return false;
    } catch (LinkageError incomplete) {
      // a library that Spark itself can do without is no trouble of ours
      return !String.valueOf(incomplete.getMessage()).contains(SPARK);
    }
  }

  /** Whether the class or one above it has the member. */
  private boolean declares(Class<?> owner, String member) {
    if (declared.computeIfAbsent(owner, LinkCheck::membersOf).contains(member)) {
      return true;
    }
    for (Class<?> above : owner.getInterfaces()) {
      if (declares(above, member)) {
        return true;
      }
    }
    Class<?> above = owner.isInterface() ? Object.class : owner.getSuperclass();
    return above != null && declares(above, member);
  }

  private static Set<String> membersOf(Class<?> owner) {
    Set<String> found = new HashSet<>();
    for (Method m : owner.getDeclaredMethods()) {
      found.add(m.getName() + descriptor(m.getReturnType(), m.getParameterTypes()));
    }
    for (Constructor<?> c : owner.getDeclaredConstructors()) {
      found.add("<init>" + descriptor(void.class, c.getParameterTypes()));
    }
    for (Field f : owner.getDeclaredFields()) {
      found.add(f.getName() + descriptor(f.getType()).substring(2));
    }
    return found;
  }

  private static String descriptor(Class<?> result, Class<?>... parameters) {
    return MethodType.methodType(result, parameters).toMethodDescriptorString();
  }
}
