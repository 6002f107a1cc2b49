"""The audit of a table in an S3 store on loopback: the same answer, and how many requests it takes."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
from pyarrow import fs, parquet
from spark_zorder import __main__ as cli
from spark_zorder._errors import AuditError
from spark_zorder.audit.files import listing
from support import TOP

pytestmark = pytest.mark.same_on_all_lines

PINNED = (TOP / "tools/requirements/s3-server.txt").read_text().strip()
SERVER = TOP / f"target/tools/versitygw-{PINNED.rpartition('@')[2]}"
KEYS = {"AWS_ACCESS_KEY_ID": "zorder", "AWS_SECRET_ACCESS_KEY": "zorder-secret"}
FILES = 40


@pytest.fixture
def store(tmp_path, monkeypatch):
    """The folder of a bucket, its endpoint, and the log of requests; without the server there is no test."""
    if not SERVER.is_file():
        pytest.skip("no S3 server: tools/s3_server.sh builds it")
    for name, value in {**KEYS, "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(name, value)
    for folder in ("data/tab", "meta"):
        (tmp_path / folder).mkdir(parents=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{free.getsockname()[1]}"
    log = tmp_path / "access.log"
    command = [SERVER, "--port", at, "--quiet", "--access-log", log, "posix"]
    command += ["--sidecar", tmp_path / "meta", tmp_path / "data"]
    environment = {**os.environ, "ROOT_ACCESS_KEY": "zorder", "ROOT_SECRET_KEY": "zorder-secret"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    ) as server:
        wait_for(at)
        yield tmp_path / "data/tab", at, log
        server.terminate()


def wait_for(at):
    host, port = at.split(":")
    for _ in range(200):
        try:
            socket.create_connection((host, int(port)), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the S3 server does not answer")


def write(folder: Path):
    for n in range(FILES):
        path = folder / f"day={n % 2}" / f"part-{n:03d}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table({"a": list(range(10 * n, 10 * n + 10))}), path)


class Keys:
    """A store that lists these keys as files, whatever their names."""

    def __init__(self, *keys):
        self.keys = keys

    def get_file_info(self, selector):
        return [fs.FileInfo(f"{selector.base_dir}{key}", fs.FileType.File, size=9) for key in self.keys]


def test_keys_that_stand_for_directories_are_no_files():
    odd = ("/", "/day=1/", "//part-1.parquet", "/day=1//part-2.parquet", "/_zorder/index//x")
    store = listing.Place("s3://b/t", "b/t", Keys(*odd, "/day=1/part-0.parquet"))
    found = listing.list_files(store)
    assert [file.rel for file in found.files] == ["day=1/part-0.parquet"] and not found.indexed


@pytest.mark.parametrize("path", ["a b/c", "a%20b/c", "a#b", "a%23b", "ä/[c]", "k=1,2;d@e:f/+~c"])
@pytest.mark.parametrize("more", ["", "&endpoint_override=host:9000"])
def test_a_path_in_a_store_is_the_one_that_a_statement_names(path, more):
    uri = listing.pyarrow_uri(f"s3a://KEY:a%2Fb@b/{path}?region=eu-west-1{more}")
    assert fs.FileSystem.from_uri(uri)[1] == f"b/{path}"


def test_a_path_of_fsspec_stays_as_it_is():
    assert listing.pyarrow_uri("hf://datasets/a b%20") == "hf://datasets/a b%20"
    assert listing.pyarrow_uri("fsspec+ftp://h/a b") == "fsspec+ftp://h/a b"


def test_a_directory_with_a_blank_is_found_and_shown_as_it_was_typed(monkeypatch):
    class Stores:
        @staticmethod
        def from_uri(uri):
            store, root = known.from_uri(uri)
            store.create_dir(root)
            return store, root

    known = fs.FileSystem
    monkeypatch.setattr(fs, "FileSystem", Stores)
    found = listing.place("mock://h/a b%20#c/")
    assert (found.text, found.root) == ("mock://h/a b%20#c/", "a b%20#c")
    with pytest.raises(AuditError, match=re.escape("nosuch://b/a b cannot be opened: ")) as error:
        listing.place("nosuch://b/a b")
    assert "a%20b" not in str(error.value)


def test_two_requests_a_file(store, capsys):
    bucket, at, log = store
    write(bucket / "t a%20#")
    uri = f"s3a://tab/t a%20#?scheme=http&endpoint_override={at}"
    assert cli.main(["audit", uri, "--by", "a", "--json"]) == 0
    out = capsys.readouterr().out
    assert cli.main(["audit", str(bucket / "t a%20#"), "--by", "a", "--json"]) == 0
    assert capsys.readouterr().out == out
    made = Counter(re.findall(r" s3_(\w+) ", log.read_text()))
    # one more for the file that has the schema, and a HEAD before each: pyarrow reads bytes only after it has
    # asked for the length; the first two requests, and one HEAD, find out that the path is a directory
    assert made == {"GetObject": FILES + 1, "ListObjectsV2": 2, "HeadObject": FILES + 2}
