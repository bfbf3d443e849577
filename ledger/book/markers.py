"""The markers of a chapter: those that a Markdown parser takes for comments, not those that are examples.

A parser reads 5 MB/s and a book has 30 MB.  Blocks start afresh wherever none is open, so only the regions
are parsed where a marker or a fence may be nested; a test shows that parsing the whole text finds the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markdown_it.token import Token
    from markdown_it.utils import EnvType

_MARKDOWN = MarkdownIt("commonmark").enable("table")

_MARKER = re.compile(r"<!--(?=[ \t]*ledger:)")
_MDX_MARKER = re.compile(r"(?:<!--|\{/\*)(?=[ \t]*ledger:)")
_LINE_END = re.compile(r"\r\n|\r|\n|\Z")
_WORD = re.compile(r"\S+")

# Each marker carries its number through the parser, between characters that no text has.
_TAG = "\ue000"
_NUMBERED = re.compile(rf"<!--{_TAG}(\d+){_TAG}")
_ALONE = re.compile(rf"<!--{_TAG}(\d+){_TAG}(?:(?!-->)[^\n])*-->[ \t]*(?:\n|\Z)")
# In raw HTML, a comment inside a larger comment, <pre>, <script>, <? or CDATA is an example.
_RAW = re.compile(
    rf"<!--(?:{_TAG}(\d+){_TAG})?.*?(?:-->|\Z)|<(pre|script|style|textarea)\b.*?(?:</\2>|\Z)"
    r"|<\?.*?(?:\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
# Only these open what a blank line does not end; inside a list or a quote, a line at the margin ends it.
_OPENER = re.compile(r"```|~~~|<(?:[!?]|(?i:pre|script|style|textarea))")
_FENCE = re.compile(r"(`{3,})[^`\n]*$|(~{3,})", re.MULTILINE)
_HTML_LINE = re.compile(r"^ *<", re.MULTILINE)
# A line at the margin after a blank one ends every list and quote, or begins them anew.
_MARGIN_LINE = re.compile(r"\n\n(?=\S)")


@dataclass(frozen=True, slots=True)
class MarkerWord:
    """A word of a marker, and the column where it begins."""

    text: str
    column: int


@dataclass(frozen=True, slots=True)
class Marker:
    """A comment that begins with `ledger:`: the words after it, its offsets, its line and column from 1.

    `before` and `after` are the rest of its line.  `where` is "raw" (it makes its line raw HTML), "html" (it
    is inside raw HTML), "heading" or "text".
    """

    words: tuple[MarkerWord, ...]
    start: int
    stop: int
    line: int
    column: int
    before: str
    after: str
    closed: bool
    where: str


def markers(text: str, *, mdx: bool = False) -> tuple[Marker, ...]:
    """Return every marker that a Markdown parser takes for a comment, in order.

    >>> found = markers("`<!-- ledger:end -->` is no marker, <!-- ledger:value a/b/c --> is one.")
    >>> [word.text for marker in found for word in marker.words]
    ['value', 'a/b/c']
    """
    if "ledger:" not in text:
        return ()
    pattern = _MDX_MARKER if mdx else _MARKER
    starts = [match.start() for match in pattern.finditer(text)]
    numbers = count()
    numbered = pattern.sub(lambda _: f"<!--{_TAG}{next(numbers)}{_TAG}", text.removeprefix("\ufeff"))
    if mdx:
        numbered = numbered.replace("{/*", "<!--").replace("*/}", "-->")
    places = _places(numbered.replace("\r\n", "\n").replace("\r", "\n"))
    found, line, counted = [], 1, 0
    for number, where in sorted(places.items()):
        line += _line_ends(text, counted, starts[number])
        counted = starts[number]
        found.append(_marker(text, counted, line, where))
    return tuple(found)


def _line_ends(text: str, start: int, stop: int) -> int:
    return text.count("\n", start, stop) + text.count("\r", start, stop) - text.count("\r\n", start, stop)


def _marker(text: str, start: int, line: int, where: str) -> Marker:
    first = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    if first == 0 and text.startswith("\ufeff"):
        first = 1
    ending = _LINE_END.search(text, start)
    last = ending.start() if ending else len(text)
    closing = "*/}" if text[start] == "{" else "-->"
    closed = text.find(closing, start, last)
    inner = text.find("ledger:", start) + len("ledger:")
    stop = last if closed < 0 else closed
    words = tuple(MarkerWord(each[0], each.start() - first + 1) for each in _WORD.finditer(text, inner, stop))
    if closed >= 0:
        stop += len(closing)
    if text[start] == "{" and where == "raw":
        where = "text"  # MDX has no lines of raw HTML
    return Marker(
        words, start, stop, line, start - first + 1, text[first:start], text[stop:last], closed >= 0, where
    )


def _places(text: str) -> dict[int, str]:
    """Return the place of each numbered marker that is no example: raw, html, heading or text."""
    found: dict[int, str] = {}
    root = at = 0  # at `root`, a line begins and no block is open
    last = text.rfind(f"<!--{_TAG}")
    while (spot := _OPENER.search(text, at)) and spot.start() <= last:
        at = spot.start()
        line = text.rfind("\n", 0, at) + 1
        if not _opens(text, line, at):
            at += 1
        elif _HTML_LINE.search(text, max(root, text.rfind("\n\n", 0, line)), line):
            root = at = _parsed(text, root, line, found)
        elif at == line and (alone := _ALONE.match(text, at)):
            found[int(alone[1])] = "raw"
            root = at = alone.end()
        elif at == line and (fence := _FENCE.match(text, at)):
            root = at = _end_of_fence(text, fence)
        else:
            at = _end_of_indented_fence(text, line, at) or (root := _parsed(text, root, line, found))
    return found


def _opens(text: str, line: int, at: int) -> bool:
    """Whether the text `at` a place may open a block that a blank line does not end, or is a marker."""
    if text.startswith(f"<!--{_TAG}", at):
        return True
    if text[line:at].strip(" "):
        return False
    if text[at] != "<":
        return _FENCE.match(text, at) is not None
    end = text.find("\n", at)
    return not text.startswith("<!--", at) or "-->" not in text[at + 4 : end if end >= 0 else len(text)]


def _end_of_fence(text: str, fence: re.Match[str]) -> int:
    """Return where the line after a code fence begins."""
    run = fence[1] or fence[2]
    closing = re.compile(rf"\n {{0,3}}{run}{run[0]}*[ \t]*(?:\n|\Z)").search(text, fence.start())
    return closing.end() if closing else len(text)


def _end_of_indented_fence(text: str, line: int, at: int) -> int:
    """Return where a fence ends that is indented, as are all its lines; 0 if that is not clear.

    If its first line turns out to be indented code and no fence, so does its last.
    """
    indent, fence = text[line:at], _FENCE.match(text, at)
    if not fence:
        return 0
    run = fence[1] or fence[2]
    closing = re.compile(rf"\n{indent}{run}{run[0]}*[ \t]*(?=\n|\Z)").search(text, at)
    if not closing:
        return 0
    outside = re.compile(rf"\n {{0,{len(indent) - 1}}}[^ \n]")
    if outside.search(text, at, closing.start()) or _OPENER.search(text, fence.end(), closing.start()):
        return 0
    return closing.end()


def _parsed(text: str, root: int, line: int, found: dict[int, str]) -> int:
    """Note the markers around a line that the parser sees; return where no block is open after it."""
    start = _restart(text, root, line)
    for stop in _stops(text, start, line):
        region = text[start:stop]
        tokens, references = blocks(region if stop == len(text) else region + "x")
        # The x is a paragraph of its own unless a fence or a comment is still open.
        if stop == len(text) or _ends_with_paragraph(tokens, region.count("\n")):
            _note(tokens, references, found)
            return stop
    return len(text)


def _restart(text: str, root: int, line: int) -> int:
    """Return the last place up to `line` where a line at the margin follows a blank one, else `root`."""
    end = line
    while (blank := text.rfind("\n\n", root, end)) >= 0:
        if _MARGIN_LINE.match(text, blank):
            return blank + 2
        end = blank + 1
    return root


def _stops(text: str, start: int, line: int) -> Iterator[int]:
    """Yield places after `line` where no block may be open, each region twice as long as the one before."""
    least = line
    for match in _MARGIN_LINE.finditer(text, line):
        if match.end() >= least:
            yield match.end()
            least = 2 * match.end() - start
    yield len(text)


def blocks(text: str) -> tuple[list[Token], Mapping[str, object]]:
    """Return the blocks of a text as CommonMark and its tables have them, and what its links refer to."""
    tokens: list[Token] = []
    env: EnvType = {}
    _MARKDOWN.block.parse(text, _MARKDOWN, env, tokens)
    return tokens, env.get("references", {})


def inline(text: str, references: Mapping[str, object]) -> list[Token]:
    """Return what a piece of a paragraph is made of."""
    tokens: list[Token] = []
    _MARKDOWN.inline.parse(text, _MARKDOWN, {"references": references}, tokens)
    return tokens


def _ends_with_paragraph(tokens: Sequence[Token], line: int) -> bool:
    """Whether the last block is a paragraph that begins at `line`, in no other block."""
    return bool(tokens) and tokens[-1].type == "paragraph_close" and tokens[-3].map == [line, line + 1]


def _note(tokens: Sequence[Token], references: Mapping[str, object], found: dict[int, str]) -> None:
    """Add the place of each numbered marker among the tokens to `found`."""
    before = ""
    for token in tokens:
        if token.type == "html_block":
            for match in _RAW.finditer(token.content):
                if match[1]:
                    found[int(match[1])] = "html" if token.content[: match.start()].strip() else "raw"
        elif token.type == "inline" and _TAG in token.content:
            where = "heading" if before == "heading_open" else "text"
            for each in inline(token.content, references):
                if each.type == "html_inline" and (tag := _NUMBERED.match(each.content)):
                    found[int(tag[1])] = where
        before = token.type
