"""Errors of statements and functions: condition, SQLSTATE and parameters, as pyspark shows them."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException
from support import condition, write_table


def test_a_program_asks_for_condition_sqlstate_and_parameters(spark, tmp_path):
    table = write_table(spark, tmp_path / "t", rows=100)
    wanted = {
        f"ZORDER TABLE '{table}' BY (a, nosuch)": ("ZORDER_COLUMN_NOT_FOUND.IN_TABLE", "42703", "nosuch"),
        f"SELECT * FROM clustering_information('{table}', 'zzz')": (
            "ZORDER_COLUMN_NOT_FOUND.IN_TABLE",
            "42703",
            "zzz",
        ),
        f"ZORDER TABLE '{table}x' BY (a)": ("ZORDER_TABLE_NOT_FOUND.PATH", "42P01", None),
        "ZORDER TABLE": ("ZORDER_SYNTAX.NOT_UNDERSTOOD", "42601", None),
    }
    for statement, (name, state, column) in wanted.items():
        with pytest.raises(AnalysisException) as raised:
            spark.sql(statement).collect()
        e = raised.value
        assert (condition(e), e.getSqlState()) == (name, state)
        assert e.getMessageParameters().get("column") == column
        assert str(e).startswith(f"[{name}] ")
