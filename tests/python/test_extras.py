"""The extras of the wheel, beside each pyspark: pip finds versions that fit together, and they do.

What it finds is what the package index has today, so only `make test-all` asks.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import venv

import pytest
from test_wheel import WHEEL


def wanted():
    """Our extras, and what this pyspark wants for Connect: all but pyspark itself, which is large."""
    required = importlib.metadata.requires("pyspark") or []
    beside = [r.partition(";")[0].strip() for r in required if re.search(r"extra == [\"']connect", r)]
    assert len(beside) >= 5
    return [*beside, f"{WHEEL}[audit,report]"]


def pip(python, *words):
    command = [python, "-m", "pip", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)


@pytest.mark.long
def test_pip_finds_versions_that_fit_together():
    more = ["--dry-run", "--ignore-installed", "--quiet", "--only-binary", ":all:", "--report", "-"]
    done = pip(sys.executable, "install", *more, *wanted())
    if "connection" in done.stderr.lower():
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr[-2000:]
    found = [package["metadata"] for package in json.loads(done.stdout)["install"]]
    major = {package["name"].lower(): int(package["version"].split(".")[0]) for package in found}
    # pyarrow 26 is the first that needs numpy 2, and does not declare it
    assert major["pyarrow"] < 26 or major["numpy"] >= 2
    if importlib.metadata.version("pyspark").startswith("3.5"):
        assert major["numpy"] == 1


@pytest.mark.long
def test_they_work_together(tmp_path):
    venv.create(tmp_path / "v", with_pip=True)
    python = str(tmp_path / "v" / "bin" / "python")
    done = pip(python, "install", "--quiet", *wanted())
    assert done.returncode == 0, done.stderr[-2000:]
    assert pip(python, "check").returncode == 0
    program = (
        "import pyarrow as pa, pyarrow.parquet as pq, sys; from spark_zorder.__main__ import main; "
        "pq.write_table(pa.table({'a': list(range(100))}), 't/x.parquet'); "
        "sys.exit(main(['audit', 't/', '--by', 'a', '--report', 'r.html']))"
    )
    (tmp_path / "t").mkdir()
    done = subprocess.run(
        [python, "-c", program], capture_output=True, text=True, cwd=tmp_path, timeout=200, check=False
    )
    assert done.returncode == 0 and done.stdout.startswith("OK"), done.stderr
    assert (tmp_path / "r.html").is_file()
