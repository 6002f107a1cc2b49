package org.apache.spark.sql.zorder.table.resolve

/** What a statement does with its table. It decides which rights are needed and whether to recover first. */
sealed private[table] trait Access

private[table] object Access {

  /** History, stored layouts, advice, forecasts and copies: read rights are enough, and nothing is changed. */
  case object Read extends Access

  /** Runs in place, vacuum, rollback and removal. */
  case object Change extends Access
}
