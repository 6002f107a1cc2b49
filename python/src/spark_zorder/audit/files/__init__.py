"""Reads the Parquet files of a directory: their names, their footers, and the meaning of bounds."""
