"""A Hive metastore of its own process, from the jars that pyspark brings, its data in embedded Derby."""

from __future__ import annotations

import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pyspark

START_SECONDS = 120.0
MAIN = "org.apache.hadoop.hive.metastore.HiveMetaStore"


@contextmanager
def running(folder):
    """The address of a metastore that is stopped at the end."""
    home = Path(folder) / "thrift"
    (home / "conf").mkdir(parents=True)
    (home / "conf/hive-site.xml").write_text(site(home))
    jars = Path(pyspark.__file__).parent / "jars"
    opens = [f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in ("lang", "net")]
    port = free_port()
    command = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", *opens, f"-Djava.io.tmpdir={home}"]
    command += [f"-Dderby.system.home={home}", "-cp", f"{home / 'conf'}:{jars}/*", MAIN, "-p", str(port)]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=home)
    try:
        wait_for(port, server, home / "log")
        yield f"thrift://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


def site(home):
    """Hive makes its own tables; asynchronous logging needs a library that Spark does not bring."""
    values = {
        "hive.async.log.enabled": "false",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": home.parent / "warehouse",
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={home}/metastore;create=true",
    }
    rows = [f"<property><name>{k}</name><value>{v}</value></property>" for k, v in values.items()]
    return f"<configuration>{''.join(rows)}</configuration>"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for(port, server, log):
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > end or server.poll() is not None:
                raise RuntimeError(f"the metastore did not start: {log.read_text()[-2000:]}") from None
            time.sleep(0.2)
