"""A session that was started without the extension: what attach makes possible there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import spark_zorder

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """A process of its own: one JVM has one configuration."""
    folder = tmp_path_factory.mktemp("attach")
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    command = [sys.executable, str(HERE / "attach_session.py"), str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, timeout=300, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("FACTS ")]
    assert done.returncode == 0 and lines, done.stdout[-2000:] + done.stderr[-4000:]
    return json.loads(lines[0][len("FACTS ") :])


def test_before_attach_the_doctor_says_what_to_do(facts):
    assert facts["ok_before"] is False
    assert any("spark_zorder.attach(spark)" in advice for advice in facts["advice_before"])


def test_functions_are_registered_in_the_version_of_the_package(facts):
    assert facts["functions"] == spark_zorder.__version__
    assert facts["ordered"] == 4


def test_the_parser_stays_sparks_own_and_the_doctor_names_only_that(facts):
    assert facts["understood"] is False
    assert facts["advice_after"] == ["OPTIMIZE and ZORDER in spark.sql"]


def test_optimize_runs_through_the_bridge(facts):
    assert (facts["dry"], facts["status"]) == ("DRY_RUN", "DONE")
    assert facts["same"] is True and facts["history"] == 1


def test_cluster_gives_so_many_partitions(facts):
    assert facts["cluster"] == 4


def test_the_classes_are_found_from_another_thread(facts):
    assert facts["in_thread"] is True
