"""Rows of audits as the SQL functions give them, counted from generated rows: for tests of reports."""

from __future__ import annotations

import datetime
import json
import random

COLUMNS = ("customer", "product")


def sales(count=40_000):
    """Two skewed columns that have nothing to do with each other, in no order."""
    draw = random.Random(7)
    return [(int(20_000 * draw.random() ** 3), int(5_000 * draw.random() ** 2)) for _ in range(count)]


def in_no_order(rows, files):
    """The rows of each file, dealt round."""
    return [rows[i::files] for i in range(files)]


def in_cells(rows, side):
    """The rows of side x side files, cut at ranks of both columns."""
    made = []
    for part in _cut(sorted(rows), side):
        made += _cut(sorted(part, key=lambda row: row[1]), side)
    return made


def _cut(rows, parts):
    ends = [len(rows) * i // parts for i in range(parts + 1)]
    return [rows[a:b] for a, b in zip(ends, ends[1:])]


def boxes(files, level="file", partition=""):
    """Rows of clustering_boxes; row groups as if each were the first of a file, ranks with gaps."""
    ends = [[_ends(rows, c) for rows in files] for c in range(2)]
    return [
        {
            "partition": partition,
            "path": f"part-{i:05}.parquet",
            "row_group": None if level == "file" else 0,
            "row_count": len(rows),
            "bytes": 40 * len(rows) if level == "file" else None,
            "ranges": [
                {
                    "name": name,
                    "low": str(ends[c][i][0]),
                    "high": str(ends[c][i][1]),
                    "low_rank": ends[c][i][0],
                    "high_rank": ends[c][i][1],
                    "may_hold_null": False,
                }
                for c, name in enumerate(COLUMNS)
            ],
        }
        for i, rows in enumerate(files)
    ]


def audit(files, verdict, reason, statement=None, partition=None):
    """One row of clustering_information; files are counted, the other levels are made up from them."""
    ends = [[_ends(rows, c) for rows in files] for c in range(2)]
    points = [(rows[0][0], rows[0][1]) for rows in files]
    inside = [[[low <= p[c] <= high for low, high in ends[c]] for c in range(2)] for p in points]
    joint = [sum(a and b for a, b in zip(*both)) for both in inside]
    levels = []
    for level, part, blocks in (("file", 1.0, 1), ("row group", 1.0, 1), ("page", 0.73, 12)):
        total, bound = len(files) * blocks, (len(files) * blocks) ** -0.5
        singles = []
        for c, name in enumerate(COLUMNS):
            depth = [sum(low <= p[c] <= high for low, high in ends[c]) for p in points]
            share = part * sum(depth) / len(depth) / len(files)
            singles.append(_figures(level, name, total, depth, share, bound))
        mean = sum(s["look_up_share"] for s in singles) / 2
        levels += [_figures(level, None, total, joint, mean, bound), *singles]
    first = levels[0]
    return {
        "partition": partition,
        "cluster_by_keys": f"({', '.join(COLUMNS)})",
        "notes": [],
        "total_file_count": len(files),
        "total_bytes": 40 * sum(map(len, files)),
        "average_depth": first["average_depth"],
        "p95_depth": first["p95_depth"],
        "max_depth": first["max_depth"],
        "file_depth_histogram": first["depth_histogram"],
        "files_without_statistics": 0,
        "verdict": verdict,
        "reason": reason,
        "statement": statement,
        "levels": levels,
    }


def _ends(rows, column):
    values = [row[column] for row in rows]
    return min(values), max(values)


def _figures(level, name, blocks, depth, share, bound):
    return {
        "level": level,
        "name": name,
        "total_count": blocks,
        "average_depth": sum(depth) / len(depth),
        "p95_depth": sorted(depth)[int(len(depth) * 0.95)],
        "max_depth": max(depth),
        "depth_histogram": histogram(depth),
        "error": 0.0,
        "look_up_share": share,
        "range_share": min(1.0, share + 0.01),
        "look_up_bound": bound,
        "range_bound": max(bound, 0.01),
        "efficiency": bound / share,
    }


def histogram(depths):
    """By the greatest depth of each bucket, as Snowflake names them."""
    made = {}
    for depth in sorted(depths):
        top = depth if depth <= 16 else 1 << (depth - 1).bit_length()
        made[f"{top:05}"] = made.get(f"{top:05}", 0) + 1
    return made


def asked():
    """Rows of clustering_queries."""
    queries = (("customer = ?", 0.5, 0.125), ("price > ?", 0.3, 1.0), ("product BETWEEN ? AND ?", 0.2, 0.19))
    return [
        {"query": q, "weight": 40 * w, "share": s, "bound": 0.125, "alert": s > 0.3, "reason": None}
        for q, w, s in queries
    ]


def run(number, shares):
    """A row of the history of runs."""
    started = datetime.datetime(2026, 11, number, 3)
    columns = [{"name": name, "files": {"measured": share}} for name, share in zip(COLUMNS, shares)]
    return {
        "run": number,
        "run_id": f"{number:08x}",
        "operation": "OPTIMIZE",
        "started": started,
        "finished": started + datetime.timedelta(seconds=95),
        "columns": list(COLUMNS),
        "curve": "auto",
        "files_added": 64,
        "files_removed": 24,
        "statement": "ZORDER TABLE db.sales",
        "report": json.dumps({"columns": columns}),
        "branch": None,
    }


def written(path):
    """A report with all that a report can hold."""
    from spark_zorder import report

    rows = sales()
    old, new = in_no_order(rows, 24), in_cells(rows, 8)
    was = audit(old, "RECLUSTER", "Each look-up opens every file.", "ZORDER TABLE db.sales BY (customer)")
    return report.write(
        path,
        [audit(new, "OK", "A look-up opens 8 of 64 files, as few as any layout could.")],
        before=[was],
        boxes=boxes(new) + boxes(in_cells(rows, 16), "row group"),
        boxes_before=boxes(old) + boxes(in_no_order(rows, 48), "row group"),
        queries=asked(),
        table="db.sales",
        history=[run(1, (0.13, 0.12)), run(2, (0.16, 0.19)), run(3, (0.125, 0.125))],
    )
