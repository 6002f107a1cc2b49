"""The audit of a directory of plain Parquet files from their footers, without Spark.

It needs the extra ``spark-zorder[audit]``. With a session, use ``ZOrderTable.audit`` or the SQL function
``clustering_information``: they have all formats and pages too.
"""
