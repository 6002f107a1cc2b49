"""Rows as sentences and tables for people: the same for a terminal, a notebook and a report."""
