"""Generated tables for the audit without Spark: written by pyarrow, their values known row by row."""

from __future__ import annotations

import datetime
import decimal
import random
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

EPOCH = datetime.datetime(1970, 1, 1)
SCHEMA = pa.schema(
    [
        ("i", pa.int32()),
        ("l", pa.int64()),
        ("t", pa.int8()),
        ("s", pa.string()),
        ("d", pa.date32()),
        ("ts", pa.timestamp("us", tz="UTC")),
        ("local", pa.timestamp("ms")),
        ("x", pa.float64()),
        ("f", pa.float32()),
        ("dec", pa.decimal128(9, 2)),
        ("wide", pa.decimal128(30, 4)),
        ("b", pa.bool_()),
        ("raw", pa.binary()),
        ("none", pa.int32()),
        ("st", pa.struct([("inner", pa.int64())])),
        ("list", pa.list_(pa.int32())),
    ]
)


@dataclass(frozen=True)
class Group:
    """The rows of one row group: values by column, `part` and `day` are those of the directory."""

    file: str
    rows: list[dict]


def row(rng, centre):
    """One row; values lie near `centre`, a share is NULL, and some numbers are NaN or -0.0."""

    def maybe(value, share=0.1):
        return None if rng.random() < share else value

    number = centre + rng.randint(-20, 20)
    when = EPOCH + datetime.timedelta(days=20000 + number, seconds=rng.randint(0, 86399))
    odd = rng.random()
    x = float("nan") if odd < 0.02 else -0.0 if odd < 0.1 else number / 4
    return {
        "i": maybe(number),
        "l": maybe(number * 10**12),
        "t": maybe(number % 100 - 50),
        "s": maybe(f"k{number:05d}é"),
        "d": maybe(when.date()),
        "ts": maybe(when.replace(tzinfo=datetime.timezone.utc)),
        "local": maybe(when),
        "x": maybe(x),
        "f": maybe(x),
        "dec": maybe(decimal.Decimal(number).scaleb(-2)),
        "wide": maybe(decimal.Decimal(number * 10**18).scaleb(-4)),
        "b": maybe(number % 2 == 0),
        "raw": maybe(bytes([number % 256, 255])),
        "none": None,
        "st": {"inner": maybe(number)},
        "list": [number],
    }


def write(root, seed=1, files=6, partitions=True, absent=("f",)):
    """Writes a table of several row groups a file; returns what each of them holds.

    Columns in `absent` are missing in every third file, but in the first.
    """
    rng = random.Random(seed)
    groups = []
    for n in range(files):
        part = f"part={n % 3}/day=2026-01-{n % 2 + 1:02d}/" if partitions else ""
        path = Path(root) / f"{part}part-{n:05d}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        names = [c for c in SCHEMA.names if not (n % 3 == 2 and c in absent)]
        schema = pa.schema([SCHEMA.field(c) for c in names])
        with parquet.ParquetWriter(path, schema, write_page_index=True) as writer:
            for _ in range(rng.randint(1, 4)):
                centre = rng.randint(-300, 300)
                rows = [row(rng, centre) for _ in range(rng.randint(1, 40))]
                if rng.random() < 0.2:
                    rows = [{**r, "i": None, "s": None, "x": None} for r in rows]
                writer.write_table(pa.Table.from_pylist([{c: r[c] for c in names} for r in rows], schema))
                known = {"part": n % 3, "day": datetime.date(2026, 1, n % 2 + 1)} if partitions else {}
                there = [{**dict.fromkeys(SCHEMA.names), **{c: r[c] for c in names}, **known} for r in rows]
                groups.append(Group(f"{part}part-{n:05d}.parquet", there))
    return groups
