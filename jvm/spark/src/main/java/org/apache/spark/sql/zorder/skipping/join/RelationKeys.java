package org.apache.spark.sql.zorder.skipping.join;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.joins.HashedRelation;
import scala.collection.Iterator;

/** What a broadcast relation holds. In Java, since Scala hides the class outside Spark's own packages. */
final class RelationKeys {
  private RelationKeys() {}

  /** Rows of keys, or null for what is no relation; the next row may be the same object. */
  static Iterator<InternalRow> of(Object relation) {
    return relation instanceof HashedRelation ? ((HashedRelation) relation).keys() : null;
  }

  /** Whether each key has one row. */
  static boolean areUnique(Object relation) {
    return ((HashedRelation) relation).keyIsUnique();
  }

  /** The relation with buffers of its own: to look up a row fills one. */
  static Object copy(Object relation) {
    return ((HashedRelation) relation).asReadOnlyCopy();
  }

  /** The rows of a key, of a copy, or null; the next row may be the same object. */
  static Iterator<InternalRow> rows(Object copy, InternalRow key) {
    return ((HashedRelation) copy).get(key);
  }
}
