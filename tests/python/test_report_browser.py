"""A report in a real browser: nothing asked for, nothing complained of, nothing wider than the page."""

from __future__ import annotations

import browser
import pytest

pytest.importorskip("matplotlib", reason="the extra spark-zorder[report] is not installed")

import audit_rows

pytestmark = [
    pytest.mark.same_on_all_lines,
    pytest.mark.skipif(browser.found() is None, reason=f"no {' or '.join(browser.NAMES)} on PATH"),
]

# pixels of text and bars that end beyond the page, but for tables that scroll in their boxes
WIDER = """
  [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll table')
    && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map(e => e.outerHTML.slice(0, 90))
"""
# of every text: its size on the screen
TEXTS = """
  [...document.querySelectorAll('svg text')].filter(e => !e.closest('details:not([open])')).map(
    e => parseFloat(getComputedStyle(e).fontSize) * Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b))
"""
# relative luminance of a colour, by the formula of WCAG
CONTRAST = """
  (e => {
    const light = c => {
      const [r, g, b] = c.match(/[\\d.]+/g).map(v => v / 255).map(
        v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05 };
    const of = (e, p) => light(getComputedStyle(e)[p]);
    const ratio = (a, b) => Math.max(a, b) / Math.min(a, b);
    const paper = of(document.body, 'backgroundColor');
    const all = (name, p) => [...document.querySelectorAll(name)].map(e => ratio(of(e, p), paper));
    return [...all('h1, p, td, th, figcaption, summary', 'color'), ...all('svg text', 'fill')]
  })()
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return audit_rows.written(tmp_path_factory.mktemp("report") / "r.html").as_uri()


@pytest.fixture(scope="module")
def chromium():
    with browser.opened() as one:
        yield one


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_a_report_is_readable(chromium, page, width, dark):
    chromium.open(page, width, dark)
    assert chromium.complaints() == []
    assert chromium.requests() == [page]
    assert chromium.value("document.documentElement.scrollWidth") <= width
    assert chromium.value(WIDER) == []
    assert min(chromium.value(TEXTS)) >= 9
    assert min(chromium.value(CONTRAST)) >= 4.5
    background = chromium.value("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(17, 23, 29)" if dark else "rgb(255, 255, 255)")
    assert len(chromium.picture()) > 50_000


def test_pictures_are_read_out_by_their_titles(chromium, page):
    chromium.open(page, 1280, False)
    nodes = chromium.call("Accessibility.getFullAXTree")["nodes"]
    pictures = [n for n in nodes if n.get("role", {}).get("value") in ("image", "img")]
    named = [n["name"]["value"] for n in pictures if n["name"]["value"]]
    # those that are folded away are not read out
    assert len(named) == 6 and any("64 files by customer and product" in name for name in named)


def test_what_is_folded_away_unfolds_without_a_script(chromium, page):
    chromium.open(page, 360, False)
    chromium.value("document.querySelectorAll('details').forEach(e => { e.open = true })")
    assert chromium.value("document.documentElement.scrollWidth") <= 360
    assert chromium.value("[...document.querySelectorAll('svg')].every(e => e.checkVisibility())")
