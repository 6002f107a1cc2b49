"""Predicates in SQL, and what a query with one would open."""
