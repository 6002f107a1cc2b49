"""A standalone cluster on this machine: one master, two workers, and the ways to bring spark-zorder to it.

    run.py --jar target/jars/spark-zorder-spark4.3_2.13-VERSION.jar --wheel python/dist/spark_zorder-...whl

Jar and wheel, the jar alone, settings in spark-defaults.conf alone, the wheel alone (a library of the cluster
that a running session attaches), and a table in a Hive metastore that is reached by thrift.
Everything listens on the loopback address. Only the processes started here are ended.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
import thrift_metastore

HERE = Path(__file__).resolve().parent

HOST = "127.0.0.1"
EXTENSION = "org.apache.spark.sql.zorder.ZOrderExtensions"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jar", required=True, type=Path)
    parser.add_argument("--wheel", required=True, type=Path)
    parser.add_argument("--only", metavar="NAME", help="one trial; default: all")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-cluster-"))
    codes: dict[str, int] = {}
    try:
        with cluster(folder) as master, thrift_metastore.running(folder) as metastore:
            every = trials(arguments.jar.resolve(), arguments.wheel.resolve(), folder, metastore)
            for trial in every:
                if arguments.only in (None, trial.name):
                    codes[trial.name] = submit(master, trial, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name, code in codes.items():
        print(f"cluster-test, {name}: " + ("passed" if code == 0 else f"failed, exit code {code}"))
    return 0 if codes and not any(codes.values()) else 1


def spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


def environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("SPARK_HOME", "PYTHONPATH")}
    return {
        **kept,
        "SPARK_HOME": str(spark_home()),
        "SPARK_LOCAL_IP": HOST,
        "PYSPARK_PYTHON": sys.executable,
    }


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Master and two workers; ended, by their own process objects, in every case."""
    port = thrift_metastore.free_port()
    master = f"spark://{HOST}:{port}"
    started: list[subprocess.Popen[bytes]] = []
    try:
        ui = ["--webui-port", str(thrift_metastore.free_port())]
        started.append(daemon(folder, "master", "master.Master", "--host", HOST, "--port", str(port), *ui))
        wait_for(port, started[0])
        for name in ("worker1", "worker2"):
            place = ["-d", str(folder / name), "--webui-port", str(thrift_metastore.free_port())]
            size = ["--host", HOST, "-c", "1", "-m", "1g"]
            started.append(daemon(folder, name, "worker.Worker", *size, *place, master))
        yield master
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


def daemon(folder: Path, name: str, main_class: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = [str(spark_home() / "bin/spark-class"), f"org.apache.spark.deploy.{main_class}", *arguments]
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment())


def wait_for(port: int, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            sys.exit("The master ended before it listened.")
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
            return
        time.sleep(0.3)
    sys.exit(f"The master did not listen within {seconds:.0f} s.")


@dataclass(frozen=True)
class Trial:
    """One way to bring spark-zorder to a cluster, and the job that must run there."""

    name: str
    job: str
    words: list[str] = field(default_factory=list)
    conf: dict[str, str] = field(default_factory=dict)
    # settings that stand in spark-defaults.conf, and not on the command line
    defaults: dict[str, str] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)


def trials(jar: Path, wheel: Path, folder: Path, metastore: str) -> list[Trial]:
    """As docs/guide/platforms.md tells people to do it."""
    # spark-submit takes .zip, .egg and .py to the executors; a wheel is a zip under another name
    package = folder / (wheel.stem + ".zip")
    shutil.copy(wheel, package)
    extension = {"spark.sql.extensions": EXTENSION}
    hive = {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": metastore,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    return [
        Trial("package", "job.py", ["--jars", str(jar), "--py-files", str(package)], extension),
        Trial("jars-alone", "statements.py", ["--jars", str(jar)]),
        Trial("defaults-alone", "statements.py", defaults={"spark.jars": str(jar), **extension}),
        Trial("wheel-alone", "job.py", arguments=["attach"]),
        Trial("metastore", "statements.py", ["--jars", str(jar)], hive, arguments=["sales.visits"]),
    ]


def submit(master: str, trial: Trial, folder: Path) -> int:
    """Runs the job of a trial; everything of it is in a folder of its own."""
    own = folder / trial.name
    (own / "conf").mkdir(parents=True)
    plain = {
        "spark.master": master,
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.driver.memory": "1g",
        "spark.executor.memory": "700m",
        "spark.executor.cores": "1",
        "spark.cores.max": "2",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        # both executors first, so that both get tasks
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
    }
    lines = [f"{key} {value}" for key, value in {**plain, **trial.defaults}.items()]
    (own / "conf/spark-defaults.conf").write_text("\n".join(lines) + "\n")
    options = [word for key, value in trial.conf.items() for word in ("--conf", f"{key}={value}")]
    command = [str(spark_home() / "bin/spark-submit"), *options, *trial.words, str(HERE / trial.job)]
    command += [str(own / "table"), *trial.arguments]
    print(f"=== {trial.name}: {' '.join(command).replace(f'{folder}/', '')}", flush=True)
    conf = {**environment(), "SPARK_CONF_DIR": str(own / "conf")}
    try:
        done = subprocess.run(command, env=conf, cwd=own, stdin=subprocess.DEVNULL, timeout=400)
    except subprocess.TimeoutExpired:
        print("spark-submit did not end within 400 s.")
        return 1
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
