"""Every medium that a view is written in, one row each: a new medium is a row here and a template."""

from __future__ import annotations

import csv
import html
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.book.markdown import normal_form
from ledger.declarations.csv import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ledger.evaluate.views import TabulatedView

# Rendered right by every book builder tried; a backslash is not.
_MARKDOWN = {ord(each): f"&#{ord(each)};" for each in "|*_`~$[]{}<>&\\#"} | {ord("\n"): "<br>"}
_CELL_END = re.compile(r"(?<!\\)\|")
_HTML_CELL = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>")


@dataclass(frozen=True, slots=True)
class TableText:
    """The cells of a view spelled for one medium: headings, the rule below them (empty if none), rows."""

    headings: tuple[str, ...]
    rules: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def markdown(text: str) -> str:
    """Return text as Markdown shows it in every builder, for a table's cell or a value in prose."""
    return text.translate(_MARKDOWN).replace("--", "&#45;&#45;")


def _html_lines(text: str) -> Sequence[str]:
    """Return the lines of HTML; a blank one would end it in one half of the book builders."""
    return [line.rstrip() for line in text.split("\n") if line]


def _all_lines(text: str) -> Sequence[str]:
    return text.split("\n")


def _markdown_cells(line: str) -> tuple[str, ...]:
    bare = line.strip()
    if bare.startswith("|") and bare.endswith("|") and set(bare) - set("|-: "):
        return tuple(html.unescape(cell.strip()) for cell in _CELL_END.split(bare)[1:-1])
    return ()


def _html_cells(line: str) -> tuple[str, ...]:
    return tuple(html.unescape(cell) for cell in _HTML_CELL.findall(line))


def _csv_cells(line: str) -> tuple[str, ...]:
    return () if line.strip()[:3] in {"", "```"} else tuple(next(csv.reader([line.strip()]), ()))


def _no_cells(_line: str) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Medium:
    """A medium: `name` ends its files, `word` asks for it in a chapter's marker and begins its code fence.

    `spelled` writes a text as a cell, `cells` reads the cells of one line of it back, none if it holds none.
    `block_lines` are the lines of a block in a chapter, `normal_form` is what two blocks are compared by.
    An exact medium has ids and every digit, the others the printed text.  `escapes` means that its templates
    escape HTML, `is_fenced` that a chapter holds it as a code block, `has_record_headings` that a record
    has a row of headings, too.  Cells are padded to one width of at least `narrowest` letters, 0 for not at
    all, with numbers at the right if `numbers_right`.
    """

    name: str
    word: str
    spelled: Callable[[str], str]
    cells: Callable[[str], tuple[str, ...]]
    block_lines: Callable[[str], Sequence[str]] = _all_lines
    normal_form: Callable[[str], object] = normal_form
    escapes: bool = False
    is_fenced: bool = False
    is_exact: bool = False
    is_record_upright: bool = False
    has_record_headings: bool = True
    numbers_right: bool = False
    narrowest: int = 0

    def table(self, view: TabulatedView, words: Mapping[str, str]) -> TableText:
        """Return the cells of a view as the medium needs them: escaped, padded, or with every digit."""
        headings: tuple[str, ...] = tuple(heading.label for heading in view.headings)
        rows: Sequence[tuple[str, ...]] = view.rows
        right = [self.numbers_right and heading.numeric for heading in view.headings]
        if self.is_exact:
            headings, rows, right = view.full_names, view.full, [False] * len(view.full_names)
        elif self.is_record_upright and view.kind == "record":
            rows = tuple(zip(headings, view.rows[0], strict=True))
            headings, right = (words["label"], words["value"]), [False, False]
        spelled = [[self.spelled(text) for text in column] for column in zip(headings, *rows, strict=True)]
        least = self.narrowest
        widths = [max(least, *map(_width, column)) if least else 0 for column in spelled]
        padded = [
            [_pad(text, width, right=is_right) for text in column]
            for column, width, is_right in zip(spelled, widths, right, strict=True)
        ]
        headings, *rows = zip(*padded, strict=True)
        return TableText(headings, tuple("-" * width for width in widths if least), tuple(rows))


def _width(text: str) -> int:
    """Return how many columns text takes in a fixed-width font: Chinese takes two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 1 + (unicodedata.east_asian_width(each) in "WF")
        for each in text
    )


def _pad(text: str, width: int, *, right: bool) -> str:
    """Return text padded to `width` columns, at its right or its left."""
    room = " " * (width - _width(text))
    return room + text if right else text + room


_ROWS = (
    # In Markdown a record is a table of two columns, for a table of one row is too wide to read.
    Medium("md", "md", markdown, _markdown_cells, is_record_upright=True, narrowest=3),
    Medium(
        "html", "html", str, _html_cells, _html_lines, _html_lines, escapes=True, has_record_headings=False
    ),
    Medium("csv", "csv", quoted, _csv_cells, is_fenced=True, is_exact=True),
    Medium("txt", "text", str, _no_cells, is_fenced=True, numbers_right=True, narrowest=1),
)
#: The media by the ending of their files, and by their word in a chapter's marker; the first is the usual.
MEDIA: Mapping[str, Medium] = {each.name: each for each in _ROWS}
WORDS: Mapping[str, Medium] = {each.word: each for each in _ROWS}
