package org.apache.spark.sql.zorder.shims

/** What the parser interface of this Spark line has beyond the one that all lines share. */
trait LineParser extends DelegatingParser4
