"""The shared statements as a Python session meets them: ours parse, the others are refused in words."""

from __future__ import annotations

import pytest
from support import paragraphs


def test_ours_parse(spark):
    cases = paragraphs("ours.sql")
    assert len(cases) >= 10
    for statement in cases:
        plan = spark.sql("EXPLAIN " + statement).collect()[0][0]
        assert "ZOrder" in plan and "Exception" not in plan, statement


def test_refused_with_the_words_of_their_comment(spark):
    cases = paragraphs("refused.sql")
    assert len(cases) >= 5
    for case in cases:
        comment, _, statement = case.partition("\n")
        with pytest.raises(Exception) as caught:
            spark.sql(statement)
        assert comment[len("-- ") :] in str(caught.value), statement
