"""Generated blocks and values of a chapter, compared with what they should hold and replaced."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from ledger.book.chapter import Block, Chapter, Value, canonical
from ledger.book.markdown import inline_normal_form
from ledger.book.media import WORDS
from ledger.errors import Place, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet


_SUM_DIGITS = 16
_LINE_ENDS = ("\n", "\r\n", "\r")
_LINE_END = re.compile(r"\r\n|\r|\n")


@cache
def sum_of(content: str, medium: str) -> str:
    r"""Return 16 hex digits over the normal form of content, so that a formatter's rewriting is no edit.

    HTML is compared by its lines; all else is read as Markdown, where a fence counts by its first word and
    its exact lines.

    >>> sum_of("| a | b |\n| - | - |", "md") == sum_of("| a   | b   |\n| --- | --- |", "md")
    True
    """
    form = WORDS[medium].normal_form(canonical(content))
    spelled = json.dumps(form, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hashlib.sha256(spelled).hexdigest()[:_SUM_DIGITS]


def is_edited(block: Block) -> bool:
    """Whether somebody changed what was written; without a sum nobody knows, and it is free to replace."""
    return bool(block.sum) and block.sum != sum_of(block.content, block.medium)


def is_stale(block: Block, content: str) -> bool:
    """Whether a block holds something else than `content`, or its sum is not that of `content`."""
    wanted = sum_of(content, block.medium)
    return block.sum != wanted or (
        block.content != canonical(content) and sum_of(block.content, block.medium) != wanted
    )


def is_protected(block: Block, content: str) -> bool:
    """Whether replacing a block by `content` would lose a hand edit."""
    return is_edited(block) and sum_of(block.content, block.medium) != sum_of(content, block.medium)


def is_moved(value: Value, text: str) -> bool:
    """Whether a value prints something else than `text`; a formatter may have escaped it in another way."""
    return value.text != text and inline_normal_form(value.text) != inline_normal_form(text)


def replaced(
    chapter: Chapter,
    contents: Mapping[tuple[str, str], str],
    values: Mapping[tuple[str, str], str],
    overwrite: AbstractSet[str],
) -> str:
    """Return the chapter's text with every stale block and value replaced, and nothing else changed.

    `contents` goes by name and medium, `values` by path and display rule; what they do not hold stays.
    A hand edit stays too, unless `overwrite` names its block.
    """
    changes = [*_new_blocks(chapter, contents, overwrite), *_new_values(chapter, values)]
    pieces, end = [], 0
    for start, stop, text in sorted(changes):
        pieces += [chapter.text[end:start], text]
        end = stop
    return "".join([*pieces, chapter.text[end:]])


def _new_blocks(
    chapter: Chapter, contents: Mapping[tuple[str, str], str], overwrite: AbstractSet[str]
) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the stop and the new text of each stale block, in the chapter's usual line end."""
    counts = Counter(_LINE_END.findall(chapter.text))
    line_end = max(_LINE_ENDS, key=counts.__getitem__)
    for block in chapter.blocks:
        content = contents.get(block.key)
        if content is None or not is_stale(block, content):
            continue
        if block.name in overwrite or not is_protected(block, content):
            yield block.start, block.end, _written(chapter, block, content, line_end)


def _written(chapter: Chapter, block: Block, content: str, line_end: str) -> str:
    """Return a block from the line below its begin marker to its end marker, a blank line inside both."""
    text = canonical(content)
    lines = WORDS[block.medium].block_lines(text)
    inner = ["", *(block.indent + line if line else "" for line in lines), ""] if text else [""]
    end = f"ledger:end {block.name} sum={sum_of(text, block.medium)}"
    is_mdx = chapter.text[block.end - 1] == "}"
    before = chapter.text[block.stop : block.end]
    indent = before[: len(before) - len(before.lstrip(" \t"))]
    return line_end.join([*inner, indent + (f"{{/* {end} */}}" if is_mdx else f"<!-- {end} -->")])


def _new_values(chapter: Chapter, values: Mapping[tuple[str, str], str]) -> Iterator[tuple[int, int, str]]:
    for value in chapter.values:
        text = values.get(value.key)
        if text is not None and is_moved(value, text):
            yield value.start, value.stop, text


_WARNED = {
    "raw": ("begins a line", "Markdown takes the line for raw HTML; put a word before the value"),
    "heading": (
        "stands in a heading",
        "links to the heading break when the value moves; move it into the text",
    ),
}


def warnings(chapter: Chapter) -> tuple[Problem, ...]:
    """Return a problem for each value that begins a line or is in a heading: it works, yet surprises."""
    return tuple(
        Problem(f"value {value.path!r} {what}", Place(chapter.name, value.line, value.column), hint)
        for value in chapter.values
        if value.where in _WARNED
        for what, hint in [_WARNED[value.where]]
    )
