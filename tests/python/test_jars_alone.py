"""`--jars` without spark.sql.extensions: enough on Spark 4, not in PySpark 3.5 (docs/guide/platforms.md)."""

from __future__ import annotations

import pytest
from support import facts_of, version

pytestmark = pytest.mark.long


def test_jars_alone_are_enough_on_spark_4(tmp_path):
    facts = facts_of("jars_alone_session.py", tmp_path)
    assert facts["known"] is (version(facts["version"]) >= (4, 0))
    assert facts["attached"]
    assert facts.get("status", "TOO_SMALL") == "TOO_SMALL"
