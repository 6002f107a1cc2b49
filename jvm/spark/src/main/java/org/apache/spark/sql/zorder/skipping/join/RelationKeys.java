package org.apache.spark.sql.zorder.skipping.join;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.joins.HashedRelation;
import scala.collection.Iterator;

/** The keys of a broadcast relation. In Java, since Scala hides the class outside Spark's own packages. */
final class RelationKeys {
  private RelationKeys() {}

  /** Rows of keys, or null for what is no relation; the next row may be the same object. */
  static Iterator<InternalRow> of(Object relation) {
    return relation instanceof HashedRelation ? ((HashedRelation) relation).keys() : null;
  }
}
