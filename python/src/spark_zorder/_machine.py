"""What a session and the audit need of this machine: pyspark, Java, pyarrow; else the command to type."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from ._errors import SetupError, sentence

# of the extra audit, in pyproject.toml
_OLDEST_PYARROW = 18
AUDIT_EXTRA = "pip install 'spark-zorder[audit]'"


def has_pyspark() -> bool:
    """Whether pyspark is installed."""
    return importlib.util.find_spec("pyspark") is not None


def pyarrow_trouble() -> str | None:
    """Why pyarrow cannot read footers, with the command to type. None if it can."""
    try:
        import pyarrow
    except ModuleNotFoundError as error:
        if error.name == "pyarrow":
            return f"pyarrow is not there: type {AUDIT_EXTRA}"
        return _unfit(error)
    except Exception as error:
        # such as a numpy that it does not take, which pip does not notice
        return _unfit(error)
    if int(pyarrow.__version__.split(".")[0]) < _OLDEST_PYARROW:
        return f"pyarrow {pyarrow.__version__} is older than {_OLDEST_PYARROW}: type {AUDIT_EXTRA}"
    return None


def _unfit(error: Exception) -> str:
    return f"pyarrow does not fit ({sentence(error).splitlines()[0]}): type {AUDIT_EXTRA}"


class Java(NamedTuple):
    """The command that pyspark starts, and the first number of its version; None if it does not start."""

    command: str
    version: int | None


def java() -> Java:
    """The Java of this machine. JAVA_HOME comes before PATH, as for pyspark itself."""
    home = os.environ.get("JAVA_HOME")
    command = str(Path(home) / "bin" / "java") if home else "java"
    try:
        done = subprocess.run([command, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return Java(command, None)
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr)
    return Java(command, int(found[1]) if found else None)


# the versions of Java that Spark is released for, by its first number
_RELEASED_FOR = {"3": (8, 11, 17), "4": (17, 21)}


def java_trouble(ended: bool = False) -> str | None:
    """What is wrong with Java, with the command to type.

    A Java that is newer than those that Spark is released for is wrong only if the JVM has ``ended``.
    """
    found, home = java(), bool(os.environ.get("JAVA_HOME"))
    spark, fitting = "Spark", _RELEASED_FOR["4"]
    if has_pyspark():
        import pyspark

        spark = f"Spark {pyspark.__version__}"
        fitting = _RELEASED_FOR.get(pyspark.__version__.split(".")[0], fitting)
    needed = f"{spark} needs Java {' or '.join(map(str, fitting))}"
    if found.version is None:
        what = f"there is no {found.command}, where JAVA_HOME points to" if home else "there is none on PATH"
    elif found.version < fitting[0] or (ended and found.version > fitting[-1]):
        what = f"{found.command} is Java {found.version}"
    else:
        return None
    if home and found.version is None and shutil.which("java"):
        return f"{needed}, and {what}: type unset JAVA_HOME, then the same again: another java is on PATH."
    then = ", let JAVA_HOME point to it" if home or found.version is not None else ""
    return f"{needed}, and {what}: type {_install_java()}{then}, then the same again."


def _install_java() -> str:
    """The command of the package manager that is here. Java 17 fits every Spark from 3.5 on."""
    commands = {
        "apt-get": "apt-get install openjdk-17-jre-headless",
        "dnf": "dnf install java-17-openjdk-headless",
        "apk": "apk add openjdk17-jre-headless",
        "brew": "brew install openjdk@17 && export JAVA_HOME=$(brew --prefix openjdk@17)",
        "winget": "winget install EclipseAdoptium.Temurin.17.JDK",
        "conda": "conda install -c conda-forge openjdk=17",
    }
    order = ["conda", *commands] if "CONDA_PREFIX" in os.environ else list(commands)
    return next((commands[tool] for tool in order if shutil.which(tool)), commands["conda"])


def without_session(error: Exception) -> Exception:
    """The error of a session that did not start: one that names Java if that is the reason."""
    if isinstance(error, SetupError) or not has_pyspark():
        return error
    # Hadoop asks for a security manager, which Java has not had since version 24
    ended = any(word in str(error) for word in ("JAVA_GATEWAY_EXITED", "getSubject"))
    trouble = java_trouble(ended) if ended else None
    return error if trouble is None else SetupError(trouble)
