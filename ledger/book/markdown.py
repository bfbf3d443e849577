"""The normal form of a Markdown text: equal for two texts that a reader of the page cannot tell apart."""

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
    r"""Return the tokens of Markdown without their spelling: no escapes, padding, list signs, line breaks.

    >>> normal_form("* 2\\*M  is\n  `even`") == normal_form("- 2&#42;M is `even`")
    True
    """
    lines = text.split("\n")
    tokens, references = blocks(text)
    form: list[object] = []
    columns = 0
    for token in tokens:
        match token.type:
            case "inline":
                form.append(_inline_tokens(token.content, references))
            case "fence" | "code_block":
                form.append(["code", token.info.strip(), token.content])
            case "html_block":
                form.append(["html", token.content.strip()])
            case "thead_open":
                columns = len(_cells(lines[token.map[0] + 1])) if token.map else 0
            case "tr_open":
                form.append(_cells(lines[token.map[0]])[columns:] if token.map else [])
            case _:
                form.append([token.type, token.tag, token.attrs])
    return [*form, sorted(map(repr, references.items()))]


def inline_normal_form(text: str) -> list[object]:
    """Return the normal form of a piece of a paragraph, such as a value in prose."""
    return _inline_tokens(text, {})


def _inline_tokens(text: str, references: Mapping[str, object]) -> list[object]:
    if not _INLINE_SIGN.search(text):
        return [_SPACES.sub(" ", text)]
    form: list[object] = []
    words = ""
    for token in inline(text, references):
        match token.type:
            case "text" | "text_special":
                words += token.content
            case "softbreak":
                words += "\n"
            case _:
                form += [_SPACES.sub(" ", words), token.type, token.attrs, token.content]
                words = ""
    return [*form, _SPACES.sub(" ", words)]


def _cells(row: str) -> list[str]:
    """Return the cells of a table's row; those beyond the headings are not rendered, but were written."""
    cells = _CELL_END.split(row.strip(" \t>").removeprefix("|").removesuffix("|"))
    return [cell.strip() for cell in cells]
