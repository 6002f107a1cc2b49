"""Pages of the site in a real browser: nothing asked for, nothing complained of, none wider than it."""

from __future__ import annotations

import browser
import pytest
from support import TOP

SITE = TOP / "target/site"
PAGES = (
    "index",
    "guide/getting-started",
    "guide/choosing-columns",
    "guide/notebook",
    "guide/errors",
    "benchmarks",
)
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
# what ends beyond the page, but for what scrolls in its box
WIDER = """
  [...document.querySelectorAll('.md-content *')].filter(e => !e.closest('pre, .md-typeset__scrollwrap')
    && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map(e => e.outerHTML.slice(0, 90))
"""
# pictures that are not there
MISSING = "[...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src)"

pytestmark = [
    pytest.mark.same_on_all_lines,
    pytest.mark.skipif(browser.found() is None, reason=f"no {' or '.join(browser.NAMES)} on PATH"),
    pytest.mark.skipif(not SITE.is_dir(), reason="make docs has not built the site"),
]


@pytest.fixture(scope="module")
def chromium():
    with browser.opened() as one:
        yield one


# in turn, since what a reader sees once must not stay when the system changes
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_readable_by_day_and_by_night(chromium, name, width):
    seen = []
    for dark in (False, True):
        chromium.open((SITE / f"{name}.html").as_uri(), width, dark)
        assert chromium.complaints() == []
        assert [asked for asked in chromium.requests() if not asked.startswith(("file:", "data:"))] == []
        assert chromium.value("document.documentElement.scrollWidth") <= width
        assert chromium.value(WIDER) == []
        assert chromium.value(MISSING) == []
        seen.append(_lightness(chromium.value(BACKGROUND)))
    by_day, by_night = seen
    assert by_day > 200
    assert by_night < 60


def _lightness(colour):
    """Of `rgb(30, 33, 41)`: the greatest of its numbers."""
    return max(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))
