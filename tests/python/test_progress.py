"""What a shell shows while it works: the steps on a terminal, the result alone on standard output."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading

import pytest

pytestmark = pytest.mark.same_on_all_lines


def read_all(terminal, parts):
    """Until nobody writes to it any more; Linux says that by an error."""
    try:
        while part := os.read(terminal, 4096):
            parts.append(part)
    except OSError:
        pass


@pytest.mark.long
def test_the_steps_appear_on_a_terminal_though_java_has_no_console(table, tmp_path):
    """The setting stays as it is by default, so that it is the JVM that finds the terminal."""
    terminal, other_end = pty.openpty()
    settings = ["spark.zorder.progress.show=auto", "spark.zorder.fileCount=4", "spark.ui.enabled=false"]
    command = [sys.executable, "-m", "spark_zorder", "optimize", table, "--by", "a,b", "--dry-run", "--json"]
    command += ["--master", "local[1]", "--option", "force=true"]
    command += [word for setting in settings for word in ("--conf", setting)]
    parts = []
    pipe = subprocess.PIPE
    # in a folder of its own: Spark makes its warehouse where it is started
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=other_end, cwd=tmp_path, text=True
    ) as shell:
        os.close(other_end)
        reader = threading.Thread(target=read_all, args=(terminal, parts))
        reader.start()
        out = shell.communicate(timeout=400)[0]
    reader.join()
    os.close(terminal)
    seen = b"".join(parts).decode()
    assert shell.returncode == 0, seen
    rows = out.strip().splitlines()
    assert len(rows) == 1 and json.loads(rows[0])["status"] == "DRY_RUN", out
    # the setting of the number of files has arrived, too
    assert "files" in json.loads(rows[0])["columns"][0]
    for step in ("footers", "sample"):
        assert f"  {step} " in seen, seen
