"""Tables of unlike trouble: what the text of each audit tells a reader to do."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
from pyarrow import parquet
from spark_zorder.audit import plain, rules
from spark_zorder.view import terminal

pytestmark = pytest.mark.same_on_all_lines

FILES, ROWS = 16, 300


class Maker:
    """Rows of files; customers are below 20,000 and products below 5,000."""

    def __init__(self):
        self.random = random.Random(18)

    def anywhere(self, _=0):
        return self.between(0, 20_000, 0, 5_000)

    def tile(self, number):
        """One of four by four."""
        low, left = number % 4 * 5_000, number // 4 * 1_250
        return self.between(low, low + 5_000, left, left + 1_250)

    def between(self, low, high, left, right):
        return {
            "customer": [self.random.randrange(low, high) for _ in range(ROWS)],
            "product": [self.random.randrange(left, right) for _ in range(ROWS)],
        }


def unclustered(make):
    return [make.anywhere() for _ in range(FILES)]


def one_value(make):
    return [{**make.anywhere(), "product": [7] * ROWS} for _ in range(FILES)]


def tiles(make):
    return [make.tile(n) for n in range(FILES)]


def late(make):
    return tiles(make) + [make.anywhere() for _ in range(6)]


@pytest.mark.parametrize(
    ("files", "statistics", "verdict", "statement"),
    [
        (unclustered, True, "RECLUSTER", "BY (customer, product) WITH (fileCount = 16)"),
        (one_value, True, "USE SORT", "BY (customer) USING CURVE lexical WITH (fileCount = 16)"),
        (unclustered, False, "NO STATISTICS", "BY (customer, product) WITH (fileCount = 16)"),
        (tiles, True, "OK", None),
        (late, True, "RECLUSTER", "BY (customer, product) WITH (worstFiles = 0.8, fileCount = 6)"),
    ],
)
def test_the_one_right_statement(tmp_path, files, statistics, verdict, statement):
    for number, rows in enumerate(files(Maker())):
        path = tmp_path / f"part-{number:03}.parquet"
        parquet.write_table(pa.table(rows), path, write_statistics=statistics)
    rows = plain.audit(plain.listed(f"{tmp_path}/"), "customer,product").result(pictures=False).rows
    text = terminal.text(rows, table=str(tmp_path))
    assert text.startswith(f"{verdict}: "), text
    statements = [line.strip() for line in text.splitlines() if "ZORDER " in line]
    assert statements == ([] if statement is None else [f"ZORDER TABLE '{tmp_path}/' {statement}"]), text
    if files is late:
        assert rows[0]["avoidable_files"] == 6
        assert "The statement takes just these" in " ".join(text.split())
    # a sort's least share and its line in the table are one figure
    assert ("6.3 %" in text) == (verdict == "USE SORT") and "6.2 %" not in text


def audited(folder, parts, columns="customer,product"):
    """The rows about files, given by their folders."""
    for number, (name, rows) in enumerate(parts):
        (folder / name).mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table(rows), folder / name / f"part-{number:03}.parquet")
    return plain.audit(plain.listed(f"{folder}/"), columns).rows()


def test_two_files_are_not_well_though_no_order_of_them_is_better(tmp_path):
    make = Maker()
    row = audited(tmp_path, [("", make.anywhere()) for _ in range(2)])[0]
    assert row["verdict"] == "TOO SMALL" and row["statement"] is None and row["avoidable_files"] == 0
    assert ": 2 files are too few. It is small (" in row["reason"]
    assert "WITH (fileCount = 16) could bring it to about 25.0 %." in row["reason"]


def test_few_large_files_get_the_statement_that_makes_more(tmp_path, monkeypatch):
    monkeypatch.setattr(rules, "_SMALLEST_TARGET", 400)
    make = Maker()
    row = audited(tmp_path, [("", make.anywhere()) for _ in range(2)])[0]
    assert row["verdict"] == "TOO FEW FILES" and "With 16 files it can be about 25.0 %." in row["reason"]
    assert row["statement"] == f"ZORDER TABLE '{tmp_path}/' BY (customer, product) WITH (fileCount = 16)"


def test_many_partitions_of_one_file_do_not_take_well_clustered_ones_along(tmp_path, monkeypatch):
    monkeypatch.setattr(rules, "_SMALLEST_TARGET", 400)
    make = Maker()
    names = ("customer", "product")
    large = {name: [value for _ in range(40) for value in make.anywhere()[name]] for name in names}
    few = [(f"day={n}", large) for n in range(4)]
    well = [(f"day={n}", make.tile(tile)) for n in (8, 9) for tile in range(16)]
    row = audited(tmp_path, few + well)[0]
    assert row["verdict"] == "TOO FEW FILES", row
    assert " WHERE day = 0 OR day = 1 OR day = 2 OR day = 3 BY " in row["statement"], row["statement"]


def test_the_figure_is_that_of_the_files_that_the_statement_makes(tmp_path, monkeypatch):
    monkeypatch.setattr(rules, "_SMALLEST_TARGET", 400)
    make = Maker()
    row = audited(tmp_path / "few", [("", make.anywhere()) for _ in range(4)])[0]
    assert row["verdict"] == "RECLUSTER" and "can bring it to 25.0 %" in row["reason"]
    assert "fileCount" not in row["statement"]
    row = audited(tmp_path / "many", [("", make.anywhere()) for _ in range(100)])[0]
    assert "can bring it to 25.0 %" in row["reason"] and "fileCount" not in row["statement"]
    # in a hundred files of ten by ten cells that are read twice, sixteen files would be no better
    monkeypatch.setattr(rules.FilesOfRun, "of", lambda self, files: 4)
    cells = [
        make.between(x * 2000, x * 2000 + 9000, y * 500, y * 500 + 2200) for x in range(6) for y in range(6)
    ]
    row = audited(tmp_path / "cells", [("", rows) for rows in cells])[0]
    assert row["verdict"] == "RECLUSTER" and "can bring it to 16.7 %" in row["reason"]
    assert row["statement"].endswith("WITH (fileCount = 36)")


def test_the_number_of_files_is_that_of_each_partition(tmp_path):
    make = Maker()
    sizes = {"p=1": 8, "p=2": 4, "p=3": 4}
    rows = audited(tmp_path, [(p, make.anywhere()) for p, n in sizes.items() for _ in range(n)])
    assert rows[0]["statement"].endswith("WITH (fileCount = 6)")
    # six files by two columns
    assert "can bring it to 40.8 %" in rows[0]["reason"]
    assert rows[0]["reason"].endswith("fileCount is that of each partition.")
    assert [r["statement"].rsplit("WITH ")[-1] for r in rows[1:2]] == ["(fileCount = 8)"]


def test_files_in_order_have_no_avoidable_ones_and_no_bound_above_what_is_read(tmp_path):
    make = Maker()
    row = audited(tmp_path, [("", rows) for rows in tiles(make)])[0]
    assert row["verdict"] == "OK" and (row["avoidable_files"], row["avoidable_bytes"]) == (0, 0)
    follow = [
        {"customer": list(range(1000 * n, 1000 * n + 99)), "product": list(range(100 * n, 100 * n + 99))}
        for n in range(8)
    ]
    along = audited(tmp_path / "along", [("", rows) for rows in follow])[0]
    assert "less than any layout could if the columns did not go together." in along["reason"]
    for level in [*row["levels"], *along["levels"]]:
        assert level["look_up_bound"] is None or level["look_up_bound"] <= level["look_up_share"]
        assert level["range_bound"] is None or level["range_bound"] <= level["range_share"]
