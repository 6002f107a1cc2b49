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
from spark_zorder import report
from spark_zorder._errors import SetupError
from spark_zorder.report import boxes, charts, svg
from spark_zorder.report.boxes import Box, Plane
from spark_zorder.report.values import Scale, kind_of, reader
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
    assert re.search(r"^\d{6}\?\?$", said, re.MULTILINE) and "customer = ???" in said


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
    assert "customer = a value" in made.read_text()


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
    assert named.lookup == "customer = a value"
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
