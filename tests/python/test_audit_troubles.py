"""Tables of unlike trouble: what the text of each audit tells a reader to do."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
from pyarrow import parquet
from spark_zorder.audit import plain
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
