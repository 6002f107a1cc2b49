"""Turns rows into sentences and tables. A terminal, a notebook and a report show the same."""
