"""A standalone cluster on this machine: one master, two workers, spark-submit with our jar and wheel.

    run.py --jar target/jars/spark-zorder-spark4.3_2.13-VERSION.jar --wheel python/dist/spark_zorder-...whl

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
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOST = "127.0.0.1"
EXTENSION = "org.apache.spark.sql.zorder.ZOrderExtensions"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jar", required=True, type=Path)
    parser.add_argument("--wheel", required=True, type=Path)
    parser.add_argument("--job", default=HERE / "job.py", type=Path)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-cluster-"))
    try:
        with cluster(folder) as master:
            code = submit(master, arguments.jar.resolve(), arguments.wheel.resolve(), arguments.job, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("cluster-test: " + ("passed" if code == 0 else f"failed, exit code {code}"))
    return 0 if code == 0 else 1


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


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return int(listener.getsockname()[1])


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Master and two workers; ended, by their own process objects, in every case."""
    port = free_port()
    master = f"spark://{HOST}:{port}"
    started: list[subprocess.Popen[bytes]] = []
    try:
        ui = ["--webui-port", str(free_port())]
        started.append(daemon(folder, "master", "master.Master", "--host", HOST, "--port", str(port), *ui))
        wait_for(port, started[0])
        for name in ("worker1", "worker2"):
            place = ["-d", str(folder / name), "--webui-port", str(free_port())]
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


def submit(master: str, jar: Path, wheel: Path, job: Path, folder: Path) -> int:
    """As the guide tells people to do it: --jars with our jar, --py-files with the wheel."""
    # spark-submit takes .zip, .egg and .py to the executors; a wheel is a zip under another name
    package = folder / (wheel.stem + ".zip")
    shutil.copy(wheel, package)
    conf = {
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
        "spark.sql.extensions": EXTENSION,
    }
    options = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    command = [
        str(spark_home() / "bin/spark-submit"),
        "--master",
        master,
        *options,
        "--jars",
        str(jar),
        "--py-files",
        str(package),
        str(job),
        str(folder / "table"),
    ]
    try:
        return subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, timeout=400).returncode
    except subprocess.TimeoutExpired:
        print("spark-submit did not end within 400 s.")
        return 1


if __name__ == "__main__":
    sys.exit(main())
