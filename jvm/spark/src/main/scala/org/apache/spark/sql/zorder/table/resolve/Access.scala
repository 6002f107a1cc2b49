package org.apache.spark.sql.zorder.table.resolve

/** What a statement wants of its table: this decides which rights it needs and whether it recovers first. */
sealed private[table] trait Access

private[table] object Access {

  /** History, stored layouts, advice, forecasts and copies: read rights are enough, nothing is changed. */
  case object Read extends Access

  /** Runs in place, vacuum, rollback and removal. */
  case object Change extends Access
}
