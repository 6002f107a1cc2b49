"""Parquet files of a directory: their names, their footers, and what the bounds in these mean."""
