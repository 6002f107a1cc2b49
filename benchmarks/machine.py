"""The line of a result file that says what it was measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def line(java: str) -> str:
    """Processor, cores, memory, Java and Python; nothing that names the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.machine()}; "
        f"Java {java}, Python {platform.python_version()}; load average at the end {os.getloadavg()[0]:.1f}"
    )


def processor() -> str:
    """The processor's name, where the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for row in info.read_text().splitlines():
            if row.startswith("model name"):
                return row.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"
