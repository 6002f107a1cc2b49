"""The audit of a directory of plain Parquet files from their footers, without Spark.

It needs the extra ``spark-zorder[audit]``. With a session, use ``ZOrderTable.audit`` or the SQL function
``clustering_information``. These know all formats, and pages too.
"""
