"""What the documentation site has beside the pages of docs/: a hook of mkdocs, named in mkdocs.yml.

Pages of the repository that docs/ links to (results of benchmarks, the changelog, the notebook) become pages
of the site, and the decisions and results get their places in the navigation. Links that lead to a source
file become its name.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import notebook_page
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

TOP = Path(__file__).resolve().parent.parent
DOCS = TOP / "docs"
RESULTS = "benchmarks/results"
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
# what the theme would ask a host for, so that its search works from a disk
ITEM = re.compile(r"( *)([-*]|\d+\.)( +)\S")
SHIM = re.compile(r'<script src="https://unpkg\.com/iframe-worker/shim"></script>')
# of a page of the site: tables, names in them, and conditions as in headings
TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
NAME = re.compile(r"(?<=<code>)[^<\s]{12,}(?=</code>)")
CONDITION = re.compile(r"(?<=>)\s*[A-Z]+(?:_[A-Z]+)+\s*(?=<)")
# text between back quotes, in a line or in a block, is no link
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)


def extra() -> dict[str, Path]:
    """Pages beside docs/: their place in the site, and their file."""
    found = {f"{RESULTS}/{page.name}": page for page in sorted((TOP / RESULTS).glob("*.md"))}
    notebook = TOP / "examples/slow_to_fast.ipynb"
    return {**found, "CHANGELOG.md": TOP / "CHANGELOG.md", "guide/notebook.md": notebook}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Puts the decisions, the results and the changelog into the navigation."""
    nav: list[dict[str, Any]] = config["nav"]
    by_name = {name: pages for section in nav for name, pages in section.items()}
    by_name["Decisions"] += [f"adr/{page.name}" for page in sorted((DOCS / "adr").glob("[0-9]*.md"))]
    newest_first = sorted((name for name in extra() if name.startswith(RESULTS)), reverse=True)
    by_name["Benchmarks"] += [{_dated(name): name} for name in newest_first]
    by_name["Contributing"].append({"Changelog": "CHANGELOG.md"})
    return config


def _dated(name: str) -> str:
    """Results of one name come again: the date tells them apart."""
    file = TOP / name
    title = file.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
    return f"{file.name[:10]} {title}"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are not below docs/."""
    for name, file in extra().items():
        if file.suffix == ".ipynb":
            content = notebook_page.page(file.read_text(encoding="utf-8"))
            files.append(File.generated(config, name, content=content))
        else:
            files.append(File.generated(config, name, abs_src_path=str(file)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns links between files of the repository into links between pages of the site, and indents lists."""
    source = page.file.src_uri
    place = extra().get(source, DOCS / source).parent
    parts = CODE.split(indented(markdown))
    return "".join(part if i % 2 else LINK.sub(_to_site(source, place), part) for i, part in enumerate(parts))


def indented(markdown: str) -> str:
    """What belongs to an item of a list, indented by four spaces a level, as the site's Markdown wants it.

    GitHub wants it to begin where the text of the item begins, and the pages are written so.
    """
    made: list[str] = []
    begins: list[int] = []
    fenced = False
    for line in markdown.splitlines():
        indent = len(line) - len(line.lstrip())
        item = None if fenced else ITEM.match(line)
        if line.strip() and not fenced:
            while begins and indent < begins[-1]:
                begins.pop()
        level = len(begins)
        moved = 4 * level - (begins[-1] if begins else 0)
        made.append(" " * (indent + moved) + line.lstrip() if line.strip() else "")
        if line.lstrip().startswith("```"):
            fenced = not fenced
        # four spaces more than the text of an item are code
        if item and indent < (begins[-1] if begins else 0) + 4:
            begins.append(item.end() - 1)
    return "\n".join(made) + "\n"


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Takes a script of our own in place of one from a host, and says where long names may end a line."""
    script = _relative("assets/search-from-disk.js", page.file.dest_uri)
    return broken(SHIM.sub(f'<script src="{script}"></script>', output))


def broken(html: str) -> str:
    """Names in tables, and conditions of errors, may end a line behind a dot, a slash or an underscore."""
    in_tables = TABLE.sub(lambda table: NAME.sub(_marked, table.group(0)), html)
    return CONDITION.sub(_marked, in_tables)


def _marked(name: re.Match[str]) -> str:
    # a version stays in one piece
    return re.sub(r"(?<=[A-Za-z])([_./])(?=[A-Za-z])", r"\1<wbr>", name.group(0))


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """The same in the page of what is not found."""
    return SHIM.sub("", output_content)


def _to_site(source: str, place: Path) -> Any:
    def replace(link: re.Match[str]) -> str:
        text, target, anchor = link.group(1), link.group(2), link.group(3) or ""
        if re.match(r"[a-z]+:|/", target):
            return link.group(0)
        name = site_name((place / target).resolve())
        if name is None:
            return text
        return f"[{text}]({_relative(name, source)}{anchor})"

    return replace


def _relative(name: str, page: str) -> str:
    return os.path.relpath(name, Path(page).parent)


def site_name(file: Path) -> str | None:
    """Where the site has this file of the repository, or None if it has not."""
    if file.is_relative_to(DOCS):
        return file.relative_to(DOCS).as_posix()
    return next((name for name, page in extra().items() if page == file), None)
