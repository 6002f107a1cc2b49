"""A catalog that several applications share, and a second application that appends to one of its tables."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import tables

HERE = Path(__file__).resolve().parent
DERBY = "10.14.2.0"
START_SECONDS = 120.0


def jars() -> list[Path]:
    """Derby's server and its client, of the version that Spark has, from Maven Central; each fetched once."""
    data = tables.session.peers.data
    found = []
    for name in ("derby", "derbynet", "derbyclient"):
        jar = data.GENERATOR.parent / f"{name}-{DERBY}.jar"
        if not jar.is_file():
            data.fetch(f"org.apache.derby:{name}:{DERBY}", f"Fetching {name}")
        found.append(jar)
    return found


def settings(folder: Path, port: int) -> dict[str, str]:
    """Of a session whose catalog is Hive's, in Derby's server on this machine."""
    url = f"jdbc:derby://127.0.0.1:{port}/{folder / 'metastore'};create=true"
    classes = [tables.session.JAR, *tables.session.peers.jars(), *jars()[1:]]
    return {
        "spark__sql__catalogImplementation": "hive",
        "spark__hadoop__javax__jdo__option__ConnectionURL": url,
        "spark__hadoop__javax__jdo__option__ConnectionDriverName": "org.apache.derby.jdbc.ClientDriver",
        "spark__hadoop__datanucleus__schema__autoCreateAll": "true",
        "spark__hadoop__hive__metastore__schema__verification": "false",
        "spark__driver__extraClassPath": ":".join(str(jar) for jar in classes),
    }


class Catalog:
    """Derby's network server, on the loopback interface alone."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        classes = ":".join(str(jar) for jar in jars())
        command = ["java", f"-Dderby.system.home={folder}", "-cp", classes]
        control = ["org.apache.derby.drda.NetworkServerControl", "start", "-noSecurityManager"]
        with (folder / "derby-server.log").open("w") as log:
            self.process = subprocess.Popen(
                [*command, *control, "-h", "127.0.0.1", "-p", str(self.port)], stdout=log, stderr=log
            )
        end = time.monotonic() + START_SECONDS
        while not self.answers():
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit(f"Derby did not start: {(folder / 'derby-server.log').read_text()[-2000:]}")
            time.sleep(0.1)

    def answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


class Application:
    """appender.py, which knows the table as it was when it started."""

    def __init__(self, folder: Path, port: int) -> None:
        with (folder / "appender.log").open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(HERE / "appender.py"), str(folder), str(port)],
                cwd=HERE,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.said("ready", folder / "appender.log")
        self.log = folder / "appender.log"

    def said(self, word: str, log: Path) -> None:
        assert self.process.stdout is not None
        if self.process.stdout.readline() != word + "\n":
            raise SystemExit(f"The second application said no {word}: {log.read_text()[-2000:]}")

    def append(self, first: int) -> None:
        """Returns when the rows are committed."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{first}\n")
        self.process.stdin.flush()
        self.said("appended", self.log)

    def close(self) -> None:
        self.process.communicate()
