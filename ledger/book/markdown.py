"""What a Markdown text says, in whatever way it is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ledger.book.markers import blocks, inline

if TYPE_CHECKING:
    from collections.abc import Mapping

_INLINE_SIGN = re.compile(r"[\\&*_`<\[\n]")
_SPACES = re.compile(r"[ \t\n]+")
_CELL_END = re.compile(r"(?<!\\)\|")


def normal_form(text: str) -> list[object]:
    r"""Return what Markdown says in whatever way: escapes, padding, list signs and line breaks are gone.

    >>> normal_form("* 2\\*M  is\n  `even`") == normal_form("- 2&#42;M is `even`")
    True
    """
    lines = text.split("\n")
    tokens, references = blocks(text)
    said: list[object] = []
    columns = 0
    for token in tokens:
        match token.type:
            case "inline":
                said.append(_inline_meaning(token.content, references))
            case "fence" | "code_block":
                said.append(["code", token.info.strip(), token.content])
            case "html_block":
                said.append(["html", token.content.strip()])
            case "thead_open":
                columns = len(_cells(lines[token.map[0] + 1])) if token.map else 0
            case "tr_open":
                said.append(_cells(lines[token.map[0]])[columns:] if token.map else [])
            case _:
                said.append([token.type, token.tag, token.attrs])
    return [*said, sorted(map(repr, references.items()))]


def inline_normal_form(text: str) -> list[object]:
    """Return what a piece of a paragraph says."""
    return _inline_meaning(text, {})


def _inline_meaning(text: str, references: Mapping[str, object]) -> list[object]:
    if not _INLINE_SIGN.search(text):
        return [_SPACES.sub(" ", text)]
    said: list[object] = []
    words = ""
    for token in inline(text, references):
        match token.type:
            case "text" | "text_special":
                words += token.content
            case "softbreak":
                words += "\n"
            case _:
                said += [_SPACES.sub(" ", words), token.type, token.attrs, token.content]
                words = ""
    return [*said, _SPACES.sub(" ", words)]


def _cells(row: str) -> list[str]:
    """Return the cells of a table's row; those beyond the headings are not shown, yet somebody wrote them."""
    cells = _CELL_END.split(row.strip(" \t>").removeprefix("|").removesuffix("|"))
    return [cell.strip() for cell in cells]
