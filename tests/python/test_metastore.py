"""A real metastore: tables are clustered by name, and every session sees the new place at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """A process of its own: the metastore is chosen when a JVM's first session is made."""
    folder = tmp_path_factory.mktemp("metastore")
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    command = [sys.executable, str(HERE / "metastore_session.py"), str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, timeout=400, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("FACTS ")]
    assert done.returncode == 0 and lines, done.stdout[-2000:] + done.stderr[-4000:]
    return json.loads(lines[0][len("FACTS ") :])


@pytest.mark.parametrize("table", ["managed", "parts", "outside"])
def test_runs_appends_and_rollback_keep_every_row(facts, table):
    found = facts[table]
    assert found["status"] == "DONE" and found["same"] and found["appended"], found
    assert found["again"] == "DONE" and found["rows"] == 60010 and found["runs"] == 2, found
    assert found["kept"] == 60010, found


def test_after_vacuum_remove_and_drop_the_name_is_free(facts):
    assert facts["created_again"] == 60000
