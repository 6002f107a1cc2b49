"""The report of an audit: one file, its numbers, its pictures and what is said about them."""

from __future__ import annotations

import datetime
import decimal
import json
import re
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib", reason="the extra spark-zorder[report] is not installed")
pytest.importorskip("jinja2", reason="the extra spark-zorder[report] is not installed")

import audit_rows
import numpy
from spark_zorder import report
from spark_zorder._errors import SetupError
from spark_zorder.report import boxes, charts, sections, svg
from spark_zorder.report import page as page_of
from spark_zorder.report.boxes import Box, Plane
from spark_zorder.report.values import Scale, kind_of, reader
from spark_zorder.view import readings
from support import TOP

pytestmark = pytest.mark.same_on_all_lines


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The report of a table that was clustered, as text."""
    return audit_rows.written(tmp_path_factory.mktemp("report") / "r.html").read_text()


def test_the_file_asks_no_host_and_holds_no_script(page):
    assert "default-src 'none'" in page and "<script" not in page
    outside = re.findall(r"""(?:src|href|action)=["']?([^"'> ]+)""", page)
    assert [link for link in outside if not link.startswith(("#", "data:"))] == []
    assert re.findall(r"https?://(?!www\.w3\.org/)", page) == []


def test_ids_are_unique_and_links_lead_somewhere(page):
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids)) > 100
    links = re.findall(r'href="#([^"]+)"', page) + re.findall(r"url\(#([^)]+)\)", page)
    assert set(links) <= set(ids)
    labels = {i for text in re.findall(r'aria-labelledby="([^"]+)"', page) for i in text.split()}
    assert labels <= set(ids)


def test_each_picture_has_a_title_a_description_and_the_colours_of_the_page(page):
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(pictures) == 10
    for picture in pictures:
        root = ElementTree.fromstring(picture)
        assert root.get("role") == "img" and root.get("viewBox")
        assert root.find("title").text and root.find("desc").text
        assert not re.search("|".join(svg.THEME), picture)
        used = set(re.findall(r"var\(--(\w+)\)", picture))
        assert used and used <= set(svg.THEME.values())


def test_the_numbers_of_the_pictures_stand_in_tables(page):
    for text in (
        "A look-up of customer = ",
        "reads 24 of 24 files",
        "reads 8 of 64 files",
        "12.3 %",
        "100.0 %",
    ):
        assert text in page
    assert page.index("OK") < page.index("Where the files lie") < page.index("What a look-up reads")


def test_names_of_a_table_are_no_markup(tmp_path):
    row = audit_rows.audit(
        audit_rows.in_cells(audit_rows.sales(2000), 2), "OK", "<img src=x onerror=1> & $a$"
    )
    for level in row["levels"]:
        level["name"] = level["name"] and f"<i>{level['name']}</i> $x^2$"
    text = report.write(tmp_path / "r.html", [row], table="<b>t</b>").read_text()
    assert "<img" not in text and "<b>t" not in text and "<i>" not in text
    assert "&lt;i&gt;customer&lt;/i&gt; $x^2$" in text


def test_values_may_hold_what_xml_has_no_way_to_write(tmp_path):
    files = audit_rows.in_cells(audit_rows.sales(2000), 3)
    drawn = audit_rows.boxes(files)
    for row in drawn:
        low, high = row["ranges"][0]["low"], row["ranges"][0]["high"]
        row["ranges"][0].update(low=f"{int(low):06}\x00\x1f", high=f"{int(high):06}\x0b\uffff")
    asked = [{**row, "query": f"{row['query']}\x07\ufffe"} for row in audit_rows.asked()]
    rows = [audit_rows.audit(files, "OK", "Fine.")]
    text = report.write(tmp_path / "r.html", rows, boxes=drawn, queries=asked).read_text()
    pictures = [ElementTree.fromstring(found) for found in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]
    said = "\n".join(part for root in pictures for part in root.itertext())
    # the ticks of a picture, and the label of a query
    assert re.search(r"^\d{6}\?{2}$", said, re.MULTILINE) and f"customer = {3 * chr(63)}" in said


def test_without_the_extra_one_sentence_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "find_spec", lambda name: None)
    with pytest.raises(SetupError, match=r"pip install 'spark-zorder\[report\]'"):
        report.write(tmp_path / "r.html", [])
    assert not report.available() and not (tmp_path / "r.html").exists()


def test_a_legend_names_every_column():
    lines = {"a": [0.5, 0.4], "_id": [0.3, None], "_nolegend_": [None, None]}
    root = ElementTree.fromstring(charts.trend("t", "title", "said", lines, ["1", "2"]))
    said = ["".join(element.itertext()) for element in root.iter("text")]
    assert [text for text in said if text in lines] == list(lines)


def test_values_are_placed_by_the_rows_below_them():
    scale = Scale.of([(0, 10, 100), (10, 20, 100), (7, 7, 200)])
    assert [scale.below(v) for v in (0, 5, 7, 10, 20)] == [0.0, 0.125, 0.175, 0.75, 1.0]
    # a block of one value takes the width of its rows
    assert scale.up_to(7) - scale.below(7) == 0.5
    assert [scale.below(-1), scale.up_to(21)] == [0.0, 1.0]
    assert scale.share(scale.number_at(0.9)) == pytest.approx(0.9)


@pytest.mark.parametrize(
    "values",
    [
        [-(2**62), 0, 3, 10**18],
        [decimal.Decimal("-1.5"), decimal.Decimal("0.25"), decimal.Decimal("3")],
        [datetime.date(1, 1, 1), datetime.date(1970, 1, 1), datetime.date(9999, 12, 31)],
        [datetime.datetime(1969, 12, 31, 23), datetime.datetime(2026, 1, 1, 0, 0, 1)],
        ["customer-000017", "customer-0001", "customer-1", "customer-é"],
        [b"\x00", b"\x00\x01", b"\xff"],
        [False, True],
        ["same", "same"],
    ],
)
def test_numbers_have_the_order_of_the_values(values):
    kind = kind_of(values)
    numbers = [kind.number(v) for v in values]
    assert numbers == sorted(numbers) and len(set(numbers)) == len(set(values))
    assert all(len(kind.text(v)) <= 26 for v in values)


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (["-5", "9", "10"], -5),
        (["10", "9"], "10"),
        (["1.50", "12.25"], decimal.Decimal("1.5")),
        (["2026-01-01", "2026-02-01"], datetime.date(2026, 1, 1)),
        (["2026-01-01 10:00:00", "2026-01-02 10:00:00.5"], datetime.datetime(2026, 1, 1, 10)),
        (["2026-01-01 00:00:00", "+10000-01-01 07:59:59"], datetime.datetime(2026, 1, 1)),
        (["-0044-03-15 00:00:00", "2026-01-01 00:00:00"], datetime.datetime.min),
        (["00067", "00900"], "00067"),
        (["1_000", "2_000"], "1_000"),
        (["-0.0", "1.0E-5", "1.0E10"], decimal.Decimal(0)),
        (["false", "true"], False),
        (["", "a"], ""),
        (["+10000-01-01", "+10001-01-01"], "+10000-01-01"),
        (["-Infinity", "0.5", "NaN"], float("-inf")),
        (["0.5", "NaN", "NaN"], decimal.Decimal("0.5")),
    ],
)
def test_texts_of_bounds_are_read_as_values_in_their_order(texts, value):
    read = reader(texts)
    assert read(texts[0]) == value and type(read(texts[0])) is type(value)


def test_the_last_moment_is_a_value_of_its_number():
    last = datetime.datetime.max
    kind = kind_of([datetime.datetime.min, last])
    assert [kind.value(kind.number(v)) for v in (last, datetime.datetime.min)] == [
        last,
        datetime.datetime.min,
    ]


@pytest.mark.parametrize("text", ["10:00:00.5", "10:00:00.50", "10:00:00.5000009"])
def test_fractions_of_seconds_have_any_number_of_digits(text):
    """Python 3.9 and 3.10 read three or six."""
    read = reader([f"2026-01-01 {text}"])
    assert read(f"2026-01-01 {text}") == datetime.datetime(2026, 1, 1, 10, 0, 0, 500_000)


@pytest.mark.parametrize(
    ("now", "before", "value"),
    [
        (["10", "99"], ["4X"], "10"),
        (["10", "99"], ["10", "9"], "10"),
        (["10", "99"], ["9", "10.5"], decimal.Decimal(10)),
        (["2026-01-01", "2026-02-01"], ["2025-13-01"], "2026-01-01"),
        (["2026-01-01 10:00:00"], ["2025-01-01 10:00:00.25"], datetime.datetime(2026, 1, 1, 10)),
        (["10", "99"], [], 10),
    ],
)
def test_bounds_of_two_times_are_read_alike(now, before, value):
    read = reader(now, before)
    assert read(now[0]) == value and type(read(now[0])) is type(value)


def test_a_report_of_texts_that_were_no_numbers_before(tmp_path):
    files = audit_rows.in_cells(audit_rows.sales(2000), 2)
    rows, before = [audit_rows.audit(files, "OK", "Fine.")], audit_rows.boxes(files)
    before[0]["ranges"][0]["low"] = "4X"
    made = report.write(tmp_path / "r.html", rows, boxes=audit_rows.boxes(files), boxes_before=before)
    assert re.search(r"customer = &#39;\d+&#39; reads \d+ of 4 files", made.read_text())


def test_of_a_table_with_partitions_the_worst_is_drawn(tmp_path):
    files = audit_rows.in_cells(audit_rows.sales(2000), 3)
    rows = [audit_rows.audit(files, "OK", "", partition=name) for name in (None, "d=2", "d=1")]
    drawn = audit_rows.boxes(files[:4], partition="d=1") + audit_rows.boxes(files[4:], partition="d=2")
    text = report.write(tmp_path / "r.html", rows, boxes=drawn).read_text()
    assert "of 5 files" in text and "the partition d=2" in text


def test_the_look_up_is_one_that_reads_as_much_as_the_mean():
    rows = audit_rows.sales(8000)
    cells = [Box((a, b), (c, d), 1) for a, b, c, d in map(ends, audit_rows.in_cells(rows, 4))]
    all_over = [Box((a, b), (c, d), 1) for a, b, c, d in map(ends, audit_rows.in_no_order(rows, 10))]
    plane = Plane.of("customer", "product", cells, all_over)
    assert (len(plane.read(cells)), len(plane.read(all_over))) == (4, 10)
    assert re.fullmatch(r"customer = [\d,]+", plane.lookup)
    texts = [Box((f"k{b.x[0]:05}", f"k{b.x[1]:05}"), b.y, 1) for b in cells]
    named = Plane.of("customer", "product", texts)
    assert re.fullmatch(r"customer = 'k\d{5}'", named.lookup) and 3 <= len(named.read(texts)) <= 5
    # long texts without what all of them begin with, and not more of them than fit
    long = [Box((f"customer-{low:09}", f"customer-{high:09}"), b.y, 1) for b in cells for low, high in [b.x]]
    ticks = Plane.of("customer", "product", long).x.ticks(4, along=True)
    assert [text[0] for _, text in ticks] == ["…"] * 4 and len({text for _, text in ticks}) == 4
    wide = [Box((f"{low:09} of all", f"{high:09} of all"), b.y, 1) for b in cells for low, high in [b.x]]
    assert (
        len(Plane.of("customer", "product", [Box(("a" * 14, "z"), (0, 1), 1), *wide]).x.ticks(4, True)) == 2
    )


@pytest.mark.parametrize(
    "value",
    [9_199_999_999_999_999_999, 10**37, decimal.Decimal("1.79E308"), decimal.Decimal("-1.79E308"), 1e300],
)
def test_long_numbers_leave_the_picture_its_room(value):
    kind = kind_of([0, value])
    scale = Scale.of([(0, value, 10)])
    assert max(len(text) for _, text in scale.ticks(5, along=False)) <= 16
    assert kind.text(value)[:2] in [text[:2] for _, text in scale.ticks(5, along=False)]
    assert isinstance(value, int) or len(kind.text(value)) <= 16


def test_times_are_not_cut():
    times = [datetime.datetime(2026, 1, day, 10, 30) for day in (1, 2)]
    assert [text for _, text in Scale.of([(*times, 1)]).ticks(2, True)] == [
        f"{t:%Y-%m-%d %H:%M}" for t in times
    ]


def ends(rows):
    first, second = zip(*rows)
    return min(first), max(first), min(second), max(second)


@pytest.mark.parametrize("count", [1, 2, boxes.MOST, boxes.MOST + 1, 100_000])
def test_at_most_so_many_boxes_are_drawn_taken_evenly(count):
    every = [Box((i, i), (0, 1), 1) for i in range(count)]
    shown = boxes.drawn(every)
    assert len(shown) == min(count, boxes.MOST) == len(set(map(id, shown)))
    gaps = [b.x[0] - a.x[0] for a, b in zip(shown, shown[1:])]
    assert not gaps or max(gaps) - min(gaps) <= 1


@pytest.mark.long
def test_it_is_said_how_many_boxes_are_drawn(tmp_path):
    rows = audit_rows.sales(5000)
    many = audit_rows.boxes([rows[i : i + 2] for i in range(0, 5000, 2)])
    few = [audit_rows.audit(audit_rows.in_cells(rows, 2), "OK", "Fine.")]
    path = report.write(tmp_path / "r.html", few, boxes=many)
    assert "2,000 of them are drawn" in path.read_text()
    assert path.stat().st_size < 1_500_000


def test_blocks_without_bounds_are_counted_and_left_out(tmp_path):
    files = audit_rows.in_cells(audit_rows.sales(2000), 2)
    rows = audit_rows.boxes(files)
    rows[0]["ranges"][1].update(low=None, high=None, low_rank=None, high_rank=None)
    path = report.write(tmp_path / "r.html", [audit_rows.audit(files, "OK", "Fine.")], boxes=rows)
    assert "1 file without bounds of both columns cannot be drawn" in path.read_text()


def test_the_picture_of_readme_is_that_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(TOP / "benchmarks/demo"))
    import readme_picture

    made = readme_picture.picture(json.loads(readme_picture.RESULT.read_text()))
    drawn = readme_picture.PICTURE.read_text()
    texts = [ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text") for svg in (made, drawn)]
    new, old = ([(t.text or "").strip() for t in found] for found in texts)
    assert new == old and any("of 64 files are read" in text for text in new)
    assert "docs/images/store_sales.svg" in (TOP / "README.md").read_text()
    assert len(drawn) < 60_000 and "http" not in drawn.replace("http://www.w3.org/2000/svg", "")


MOMENT = datetime.datetime(2026, 11, 29, 10, 30, 12)


def blocks_of(columns):
    """Rows of clustering_boxes by ``a`` and ``b``: of each the least and greatest value, or None."""
    known = [sorted({v for ends in column if ends for v in ends}) for column in columns]

    def range_of(name, ends, order):
        low, high = ends or (None, None)
        texts = [None if v is None else str(v) for v in (low, high)]
        ranks = [None if v is None else order.index(v) for v in (low, high)]
        return dict(zip(("name", "low", "high", "low_rank", "high_rank"), (name, *texts, *ranks)))

    return [
        {
            "path": f"part-{i}.parquet",
            "row_count": 10,
            "bytes": 400,
            "ranges": [range_of(n, e, o) for n, e, o in zip("ab", both, known)],
        }
        for i, both in enumerate(zip(*columns))
    ]


def lines_of(columns, before=(), **options):
    """What the table below the picture says: the look-up, and the files read of all."""
    made = boxes.section(blocks_of(columns), blocks_of(before) if before else [], "", **options)
    assert len(made) == 1
    table = made[0].tables[0]
    return table.caption, [(line[2], line[1]) for line in table.rows], made[0].pictures


@pytest.mark.parametrize(
    ("values", "first", "form"),
    [
        ([f"customer-0000-{i:04}" for i in range(160)], "N/A", "'{}'"),
        ([f"https://example.org/orders/{i:04}" for i in range(160)], "http://x", "'{}'"),
        ([1781234567890123456 + i for i in range(160)], None, "{:,}"),
        ([MOMENT + datetime.timedelta(seconds=i) for i in range(160)], datetime.datetime(1, 1, 1), "{}"),
        ([MOMENT + datetime.timedelta(microseconds=i) for i in range(160)], datetime.datetime(1, 1, 1), "{}"),
        ([decimal.Decimal(f"{10**34}.{i:03}") for i in range(160)], decimal.Decimal("-1.000"), "{:,f}"),
    ],
)
def test_a_look_up_reads_what_may_hold_it_and_no_rounded_number(values, first, form):
    """Sixteen files of ten values each, in order, and perhaps one value far from all others."""
    files = [(values[i], values[i + 9]) for i in range(0, 160, 10)]
    if first is not None:
        files[0] = (first, files[0][1])
    places = [(i % 4, i % 4 + 1) for i in range(16)]
    said, lines, _ = lines_of([files, places])
    assert lines == [("1", "16")]
    # the value is one that lies in a file
    assert said.partition(" = ")[2] in [form.format(v) for v in values]


def test_blocks_without_bounds_are_read_unless_they_hold_only_nulls():
    files = [(10 * i, 10 * i + 9) for i in range(16)]
    half = [ends if i % 2 else None for i, ends in enumerate(files)]
    # of eight nothing is known, and each look-up has to read them
    _, lines, pictures = lines_of([half, files])
    assert lines == [("9", "16")]
    assert (
        "reads 9 of 16 files. 8 files without bounds of both columns cannot be drawn." in pictures[0].caption
    )
    # the bounds of the other column decide nothing
    said, lines, pictures = lines_of([files, half])
    assert lines == [("1", "16")] and said != lines_of([half, files])[0]
    assert "8 files without bounds" in pictures[0].caption
    # every file has statistics, so the rest holds nothing but NULL
    assert lines_of([half, files], complete=(True, True))[1] == [("1", "16")]
    assert lines_of([files, files], before=[half, files])[1] == [("9", "16"), ("1", "16")]
    assert "drawn" not in lines_of([files, files])[2][0].caption
    many = [(i, i) for i in range(boxes.MOST + 1)]
    caption = lines_of([many, [*many[:-2], None, *many[-1:]]])[2][0].caption
    assert "1 file without bounds" in caption and "drawn, taken evenly" not in caption
    caption = lines_of([many + many, [None, *many[1:], *many]])[2][0].caption
    assert "1 file without bounds" in caption and "2,000 of the others are drawn" in caption


def test_statistics_are_complete_if_the_audit_of_the_partition_says_so():
    def row(partition, missing):
        return {"partition": partition, "files_without_statistics": missing}

    rows = [row(None, 1), row("d=1", 0), row("d=2", 1)]
    audit = readings.read(rows)
    assert [page_of.is_complete(audit, name) for name in ("", "d=1", "d=2", "d=3")] == [
        False,
        True,
        False,
        False,
    ]
    assert page_of.is_complete(readings.read([row(None, 0)]), "")
    assert not page_of.is_complete(readings.read([row(None, None)]), "") and not page_of.is_complete(None, "")


def test_a_scale_passes_over_all_blocks_a_limited_number_of_times(monkeypatch):
    """Also if there are many: what is drawn is then taken from the counts at some bounds."""
    passes, clip = [], numpy.clip
    monkeypatch.setattr(numpy, "clip", lambda a, *ends: passes.append(numpy.size(a)) or clip(a, *ends))
    count = 50_000
    scale = Scale.of([(10 * i, 10 * i + 9, 1) for i in range(count)])
    places = [place for place, _ in scale.ticks(4, along=True)]
    assert places == pytest.approx([0, 1 / 3, 2 / 3, 1], abs=0.01)
    # between two of the points the share is still about right
    assert [scale.below(v) for v in (0, 123_456, 499_999)] == pytest.approx([0, 0.246912, 1], abs=0.001)
    assert sum(size >= count for size in passes) <= 2_000


@pytest.mark.parametrize(
    ("ends", "texts"),
    [
        (["1000.10", "1000.37", "1000.61", "1000.89"], ["1,000.1", "1,000.4", "1,000.6", "1,000.9"]),
        (["1.00012", "1.00013", "1.00014", "1.00015"], ["1.00012", "1.00013", "1.00014", "1.00015"]),
        (["1000.10", "2000.50"], ["1,000", "2,000"]),
        (["2026-11-29 10:30:12", "2026-11-29 10:30:45"], ["…10:30:12", "…10:30:45"]),
        (["2026-11-29 10:30:12", "2026-11-30 10:30:12"], ["2026-11-29 10:30", "2026-11-30 10:30"]),
        (["1781234567890123456", "1781234567890123999"], ["…456", "…999"]),
        (["false", "true"], ["false", "true"]),
        (["00067", "00900"], ["00067", "00900"]),
        (
            ["N/A", "customer-0000-0001-a", "customer-0000-0001-b"],
            ["N/A", "customer…-0001-a", "customer…-0001-b"],
        ),
    ],
)
def test_ticks_are_written_so_that_they_differ(ends, texts):
    found = list(map(reader(ends), ends))
    scale = Scale.of([(low, high, 1) for low, high in zip(found, found[1:])])
    assert [text for _, text in scale.ticks(len(ends), along=False)] == texts


@pytest.mark.parametrize(
    ("ends", "look_up"),
    [
        (("1000.10", "1000.89"), r"1,000\.\d\d?"),
        (("2026-11-29 10:30:12", "2026-11-29 10:30:45"), r"2026-11-29 10:30:\d\d"),
        (("false", "true"), "false|true"),
        (("00067", "00900"), "'00067'|'00900'"),
    ],
)
def test_the_look_up_is_a_value_between_the_bounds(ends, look_up):
    values = tuple(map(reader(ends), ends))
    plane = Plane.of("a", "b", [Box(values, (0, 1), 1)])
    assert re.fullmatch(f"a = ({look_up})", plane.lookup) and values[0] <= plane.at <= values[1]


def test_lines_of_a_trend_look_different():
    assert len({str(charts.looks(i)) for i in range(36)}) == 36


def test_long_names_of_columns_differ_and_are_told_whole():
    names = [f"order.delivery.address.{name}" for name in ("postcode", "street", "city")]
    row = audit_rows.audit(audit_rows.in_cells(audit_rows.sales(2000), 2), "OK", "")
    figures = next(level for level in row["levels"] if level["name"] and level["level"] == "file")
    row["levels"] = [{**figures, "name": name} for name in names]
    picture = sections.shares(readings.read([row]), None)[0].pictures[0]
    root = ElementTree.fromstring(picture.svg)
    labels = {"".join(e.itertext()) for e in root.iter("text") if "".join(e.itertext()).endswith("files")}
    assert len(labels) == 3 and max(map(len, labels)) <= 28
    assert all(f"{name} · files" in root.find("desc").text for name in names)


def test_names_cannot_change_the_direction_of_a_line(tmp_path):
    name = "t\u202eq\u2066"
    files = audit_rows.in_cells(audit_rows.sales(2000), 2)
    row, drawn = audit_rows.audit(files, "OK", name, name), audit_rows.boxes(files)
    for found in (*row["levels"], *(found for block in drawn for found in block["ranges"])):
        found["name"] = found["name"] and f"{found['name']}{name}"
    text = report.write(
        tmp_path / "r.html", [row], boxes=drawn, queries=audit_rows.asked(), table=name
    ).read_text()
    assert not set("\u202e\u2066") & set(text) and r"customert\u202eq\u2066" in text
    assert "<svg" in text and "<table>" in text
