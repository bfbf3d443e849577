"""Blocks and values in chapters: which markers count, what is an edit, what is replaced, what stays.

In `cases/chapters` stand chapters and, beside each, what becomes of it: the new text, or what is told.
The scenes there are nestings of Markdown that hide a marker, or look as if they did.
"""

import itertools
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import engines
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ledger.book.chapter import read
from ledger.book.inject import is_edited, is_moved, is_protected, is_stale, replaced, sum_of, warnings
from ledger.book.markers import markers
from ledger.errors import Problems

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = Path(__file__).resolve().parents[1] / "cases" / "chapters"
EXAMPLES = int(os.environ.get("LEDGER_RANDOM", "300"))

TABLE = "| 列    | a&#42;b |\n| ----- | ------- |\n| 4096³ | 1       |\n"
CONTENTS = {
    ("r/t1", "md"): TABLE,
    ("r/t2", "md"): TABLE,
    ("r/t3", "md"): f"{TABLE}\n说明。\n",
    ("r/t1", "html"): "<p>1</p>\n",
    ("r/h", "html"): "\n<table>\n<tr><td>1</td></tr>\n\n</table>\n",
    ("r/x", "text"): "```text\n  a\n\n<!-- ledger:end r/x -->\n```\n",
    ("r/c", "csv"): "```csv\nid\n1\n```\n",
}
VALUES = {
    ("r/s/4096^3/ai", "fixed 1"): "1365.3",
    ("r/s/ai", ""): "1365.33",
    ("r/s/64x64/16/ai", "fixed 1"): "12.8",
    ("r/s/a/ai", "fixed 1"): "1.0",
}
CASES = sorted(path.name for path in CHAPTERS.iterdir() if path.suffix in {".md", ".mdx"})


def chapter(text, name="a.md"):
    """Return a chapter without a wrong marker."""
    problems = Problems()
    found = read(name, text, problems)
    assert [str(each) for each in problems.found] == []
    assert found is not None
    return found


def injected(text, contents=CONTENTS, values=VALUES, overwrite=frozenset(), name="a.md"):
    return replaced(chapter(text, name), contents, values, overwrite)


def told(text, name="a.md"):
    """Return what is told of a chapter with wrong markers."""
    problems = Problems()
    assert (read(name, text, problems) is None) == bool(problems.found)
    return "".join(f"{each}\n" for each in problems.found)


# The cases.


@pytest.mark.parametrize("name", CASES)
def test_a_chapter_becomes_what_is_expected(name):
    text = (CHAPTERS / name).read_bytes().decode("utf-8")
    got = (told(text, name) or injected(text, name=name)).encode("utf-8")
    expected = CHAPTERS / f"{name}.expected"
    if os.environ.get("LEDGER_GOLDEN") == "1":
        expected.write_bytes(got)
    assert got == expected.read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_a_second_run_changes_nothing(name):
    text = (CHAPTERS / f"{name}.expected").read_bytes().decode("utf-8")
    if not text.startswith(f"{name}:"):
        assert injected(text, name=name) == text


def test_a_chapter_without_markers_holds_nothing():
    found = chapter("# 标题\n\nledger 不是记号。\n")
    assert (found.blocks, found.values) == ((), ())


def test_every_mistake_of_a_chapter_is_told_with_its_column():
    text = "甲 <!-- ledger:end r/a/b x -->\n\n<!-- ledger:begin r/v as=pdf -->\n\n<!-- ledger:valeu x -->\n"
    assert told(text).splitlines() == [
        "a.md:1:19: 'r/a/b' is not REPORT/VIEW",
        "a.md:1:25: ledger:end takes no 'x'",
        "  known: sum=",
        "a.md:1:3: ledger:end must stand on a line of its own",
        "  only spaces may stand beside it, no text and no '>' or '-'",
        "a.md:3:23: no medium 'pdf'",
        "  known: csv, html, md, text",
        "a.md:5:13: no marker 'ledger:valeu'",
        "  did you mean 'value'?; known: begin, end, value",
        "a.md:3:1: block 'r/v' has no end",
        "  write <!-- ledger:end r/v --> below it; one inside a code fence does not count",
    ]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_places_are_counted_in_every_kind_of_lines(line_end):
    text = line_end.join(["\ufeff一", "", "二 <!-- ledger:end -->", "", "<!-- ledger:begin r/a -->"])
    assert [line.partition(" ")[0] for line in told(text).splitlines()[::2]] == ["a.md:3:3:", "a.md:5:1:"]


def test_a_byte_order_mark_is_no_column():
    assert told("\ufeff<!-- ledger:begin r/a -->").startswith("a.md:1:1: ")


def test_a_block_says_where_it_stands_and_what_it_holds():
    block = chapter(
        "- x\n\n  <!-- ledger:begin r/a as=csv -->\n\n  a\n    b\n c\n  <!-- ledger:end r/a sum=12 -->"
    ).blocks[0]
    assert (block.name, block.medium, block.indent, block.content, block.sum, block.line, block.column) == (
        "r/a", "csv", "  ", "a\n  b\nc", "12", 3, 3,
    )  # fmt: skip


def test_a_value_says_where_it_stands_and_what_it_prints():
    value = chapter("值 <!-- ledger:value r/s/64x64/16/ai  si  4 KiB -->9 KiB<!-- ledger:end --> 大").values[
        0
    ]
    assert (value.path, value.display, value.key, value.text, value.line, value.column) == (
        "r/s/64x64/16/ai", "si 4 KiB", ("r/s/64x64/16/ai", "si 4 KiB"), "9 KiB", 1, 3,
    )  # fmt: skip


# What is an edit.

MEANT = """\
| 列 | 值 |
| --- | ---: |
| 4096³ | 2&#42;M |
| 空 | |

性能 `a  b`，*斜* <br>
第二行

- 一
- 二

```text
 x  1
```
"""
SAME = [
    ("| 4096³ | 2&#42;M |", "| 4096³ | 2\\*M |"),
    ("| 4096³ | 2&#42;M |", "|4096³|   2&#x2a;M|"),
    ("| --- | ---: |", "| :-- | ---: |".replace(":--", "-")),
    ("| 空 | |", "| 空 |"),
    ("- 一\n- 二", "* 一\n* 二"),
    ("- 一\n- 二", "-   一\n\n-   二"),
    ("*斜*", "_斜_"),
    ("<br>\n第二行", "<br> 第二行"),
    ("```text\n x  1\n```", "~~~~ text\n x  1\n~~~~"),
    ("\n", "\r\n"),
    ("性能", "  性能"),
    ("\n\n", "\n \t\n\n"),
]
OTHER = [
    ("4096³", "4095³"),
    ("| 空 | |\n", ""),
    ("| 空 | |", "| 空 | | 手写 |"),
    ("| 空 | |", "| 空 | | |\n| 又 | | |"),
    ("| --- | ---: |", "| --- | --- |"),
    ("2&#42;M", "2&#43;M"),
    ("`a  b`", "`a b`"),
    ("`a  b`", "a b"),
    ("*斜*", "**斜**"),
    ("<br>", "<hr>"),
    (" x  1", " x 1"),
    (" x  1", "x  1"),
    ("```text", "```csv"),
    ("- 一\n- 二", "1. 一\n2. 二"),
    ("- 一\n- 二", "- 一"),
    ("- 一\n- 二", "- 一\n  - 二"),
    ("- 一", "# 一"),
    ("性能", "[性能](u)"),
    ("性能", "段落\n\n性能"),
    ("性能", "[暗]: u '注'\n\n性能"),
    ("性能", "<!-- 注 -->\n\n性能"),
    ("<br>\n第二行", "<br>  \n第二行"),
]


@pytest.mark.parametrize(("old", "new"), SAME)
def test_what_a_formatter_rewrites_is_no_edit(old, new):
    assert old in MEANT
    assert sum_of(MEANT.replace(old, new), "md") == sum_of(MEANT, "md")


@pytest.mark.parametrize(("old", "new"), OTHER)
def test_every_other_change_is_an_edit(old, new):
    assert old in MEANT
    assert sum_of(MEANT.replace(old, new), "md") != sum_of(MEANT, "md")


@given(st.data())
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, database=None)
def test_every_changed_letter_or_digit_is_an_edit(data):
    at = data.draw(st.sampled_from([i for i, each in enumerate(MEANT) if each.isalnum()]))
    other = data.draw(st.sampled_from([each for each in "19xM带" if each != MEANT[at]]))
    assert sum_of(MEANT[:at] + other + MEANT[at + 1 :], "md") != sum_of(MEANT, "md")


@pytest.mark.parametrize(
    ("medium", "old", "new", "same"),
    [
        ("html", "<p>\n<b>1</b>\n</p>", "\r\n<p>  \r\n<b>1</b>\r\n\r\n</p>\r\n", True),
        ("html", "<p>\n<b>1</b>\n</p>", "<p>\n <b>1</b>\n</p>", False),
        ("html", "<p>*a*</p>", "<p>_a_</p>", False),
        ("text", "```text\n a\n\n```", "\n```text\n a\n  \n```\n\n", True),
        ("text", "```text\n a\n```", "```text\n a \n```", False),
        ("text", "```text\n a\n```", "```\n a\n```", False),
        ("csv", "```csv\na,b\n```", "```csv\na, b\n```", False),
    ],
)
def test_each_medium_says_its_own_things(medium, old, new, same):
    assert (sum_of(old, medium) == sum_of(new, medium)) == same


def test_a_sum_is_sixteen_hex_digits_for_good():
    """A sum stands in every chapter: another one for the same content would make all of them look edited."""
    assert sum_of(MEANT, "md") == "c1a5dd1af12b8c57"


def block_of(content, digest):
    mark = f" sum={digest}" if digest else ""
    return chapter(f"<!-- ledger:begin r/a -->\n{content}\n<!-- ledger:end r/a{mark} -->\n").blocks[0]


@pytest.mark.parametrize(
    ("content", "digest", "new", "expected"),
    [
        ("old", "", "new", {is_stale}),
        ("new", "", "new", {is_stale}),
        ("new", sum_of("new", "md"), "new", set()),
        ("*new*", sum_of("_new_", "md"), "_new_", set()),
        ("old", sum_of("old", "md"), "new", {is_stale}),
        ("hand", sum_of("old", "md"), "new", {is_stale, is_edited, is_protected}),
        ("new", sum_of("old", "md"), "new", {is_stale, is_edited}),
        ("new", "0", "new", {is_stale, is_edited}),
    ],
)
def test_a_block_is_stale_edited_or_protected(content, digest, new, expected):
    block = block_of(content, digest)
    found = {each for each in (is_stale, is_protected) if each(block, new)}
    assert found | ({is_edited} if is_edited(block) else set()) == expected


def test_a_hand_edit_is_replaced_only_by_name():
    text = (CHAPTERS / "edited.md").read_text(encoding="utf-8")
    got = injected(text, overwrite={"r/t2"})
    assert [is_edited(block) for block in chapter(got).blocks] == [True, False]


@pytest.mark.parametrize(
    ("old", "new", "moved"),
    [
        ("1", "1", False),
        ("1", "2", True),
        ("2\\*M", "2&#42;M", False),
        ("1 000", "1  000", False),
        ("5.", "5)", True),
        ("", "1", True),
    ],
)
def test_a_value_moves_when_it_says_something_else(old, new, moved):
    value = chapter(f"值 <!-- ledger:value r/s/a -->{old}<!-- ledger:end -->").values[0]
    assert is_moved(value, new) == moved


def test_a_value_that_makes_its_line_html_or_stands_in_a_heading_is_warned_of():
    text = (CHAPTERS / "line_starts.md").read_text(encoding="utf-8")
    assert [str(each).splitlines()[0] for each in warnings(chapter(text))] == [
        "a.md:1:1: value 'r/s/ai' begins a line",
        "a.md:3:6: value 'r/s/ai' stands in a heading",
        "a.md:6:1: value 'r/s/ai' begins a line",
    ]


def test_mdx_has_no_lines_of_raw_html():
    text = "{/* ledger:value r/s/ai */}0{/* ledger:end */} 在行首\n"
    assert warnings(chapter(text, "a.mdx")) == ()


# Properties.

NUMBER = re.compile(r"<!-- ledger:m (\d+) -->")
CONTAINERS = (
    "",
    "",
    "",
    "",
    "",
    " ",
    "   ",
    "    ",
    "\t",
    "> ",
    "- ",
    "1. ",
    "* ",
    "  ",
    "- - ",
    ">",
    "> - ",
    "      ",
)
LINES = (
    "text", "中文段落", "**粗** 体", "a | b", "--- | ---", "| 1 | MARK |", "# h", "===", "---", "[a]: /u",
    "[a]:", "```", "```python", "````", "~~~", "~~~~ x", "``` a`b", "``` MARK", "`code", "x ` y", "`MARK`",
    "<div>", "</div>", "<td>MARK", "<pre>", "</pre>", "<pre>x</pre>", "<script>x", "</script>", "<style",
    "<TEXTAREA>", "</textarea> MARK", "<b>", "<b", "</b>", "<a href='", "<!-- note -->", "<!--", "-->",
    "<!-- x", "text <!-- open", "<!-->", "<!--->", "<?php", "?>", "<!X", "<![CDATA[", "]]>", "- ", "*", "1)",
    "\\", "MARK", "MARK", "MARK", "x MARK y", "\\MARK", "MARK MARK", "[MARK](u)", "![MARK](u)", "# MARK",
)  # fmt: skip
FENCED = ("```\n@x\n@```", "~~~ text\n@MARK\n\n@  y\n@~~~", "```\n@- z\n\n@    ```\n@```", "```\n@x")
SCENES = dict(
    re.findall(
        r"^== ([^\n]*)\n(.*?)\n(?=== |\Z)",
        (CHAPTERS / "scenes.txt").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
)


@st.composite
def any_markdown(draw):
    """Lines that open and close every kind of block, in lists and quotes, with MARK here and there."""
    pieces = []
    for _ in range(draw(st.integers(0, 16))):
        match draw(st.sampled_from(["line", "line", "blank", "blank", "fence", "scene"])):
            case "blank":
                pieces.append(draw(st.sampled_from(["", "", "", " ", "text", "\ttext"])))
            case "line":
                pieces.append(draw(st.sampled_from(CONTAINERS)) + draw(st.sampled_from(LINES)))
            case "fence":
                indent = draw(st.sampled_from(["", "  ", "   ", "    ", "     ", "        "]))
                pieces.append(indent + draw(st.sampled_from(FENCED)).replace("@", indent))
            case "scene":
                pieces.append(SCENES[draw(st.sampled_from(sorted(SCENES)))])
    return numbered("\n".join(pieces).replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))))


def numbered(text):
    """Return a text with a marker of its own for every MARK."""
    numbers = itertools.count()
    return re.sub("MARK", lambda _: f"<!-- ledger:m {next(numbers)} -->", text)


def seen_by_the_parser(text):
    """Return the numbers of the markers that are comments when the whole text is parsed."""
    raw = re.compile(
        r"<!--.*?(?:-->|\Z)|<(pre|script|style|textarea)\b.*?(?:</\1>|\Z)"
        r"|<\?.*?(?:\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)",
        re.DOTALL | re.IGNORECASE,
    )
    comments = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "html_block":
            comments += [match[0] for match in raw.finditer(token.content)]
        comments += [each.content for each in token.children or () if each.type == "html_inline"]
    return [int(found[1]) for each in comments if (found := NUMBER.fullmatch(each))]


def numbers_of(text):
    """Return the numbers of the markers that count."""
    return [int(marker.words[1].text) for marker in markers(text) if marker.closed]


@pytest.mark.parametrize("scene", SCENES)
def test_a_scene_has_the_markers_that_a_parser_sees_in_it(scene):
    text = numbered(SCENES[scene])
    assert numbers_of(text) == sorted(seen_by_the_parser(text))


@given(any_markdown())
@settings(max_examples=5 * EXAMPLES, derandomize=True, deadline=None, database=None)
def test_markers_are_those_that_a_parser_sees_in_the_whole_text(text):
    assert numbers_of(text) == sorted(seen_by_the_parser(text))


@given(any_markdown())
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, database=None)
def test_a_marker_knows_its_place(text):
    lines = re.split(r"\r\n|\r|\n", text)
    for marker in markers(text):
        line = lines[marker.line - 1]
        assert (marker.before, marker.after) == (
            line[: marker.column - 1],
            line[marker.column - 1 + marker.stop - marker.start :],
        )


OUTSIDE = (
    "段落 text 2*M*N", "# 标题", "- 一\n- 二\n\n  三", "1. 步骤\n\n   ```\n   x\n   ```", "> 引\n> 文",
    "行末  \n硬换行\\\n完", "```markdown\n<!-- ledger:begin r/v0 -->\n<!-- ledger:end r/v0 -->\n```",
    "\t代码", "<div>\n<p>html</p>\n</div>", "| a | b |\n|---|---|\n| 1 | 2 |", "<!-- 注释 -->", "~~~\n\n~~~",
    "`<!-- ledger:end -->`", "\u3000全角\u2028分隔\x0b",
)  # fmt: skip
CELL = st.text(st.sampled_from("ab1 2.³×带宽|*_`<&\\{~-"), max_size=6)


def escaped(text):
    return "".join(f"&#{ord(each)};" if each in "|*_`<&\\{~-" else each for each in text)


@st.composite
def contents_of(draw, medium):
    """What a view may be written as in a medium."""
    cells = draw(st.lists(CELL, min_size=1, max_size=6))
    match medium:
        case "md":
            rows = "".join(f"| {escaped(each)} | 1 |\n" for each in cells)
            return f"| 列 | 值 |\n| --- | --- |\n{rows}" + draw(
                st.sampled_from(["", "\n说明。\n\n- 一\n- 二\n"])
            )
        case "html":
            rows = "\n".join(f"<tr><td>{escaped(each)}</td></tr>" for each in cells)
            return f"<table>\n{rows}\n</table>\n"
        case _:
            lines = "\n".join(each.replace("`", "'") for each in cells)
            return f"```{medium}\n{lines}\n```\n"


def marked_block(name, medium, old, indent):
    lines = [f"<!-- ledger:begin {name} as={medium} -->", *old.split("\n"), f"<!-- ledger:end {name} -->"]
    item = {"": "", "  ": "- 项\n\n", "    ": "1.  项\n\n"}[indent]
    return item + "\n".join(indent + line for line in lines)


@st.composite
def chapters_with_blocks(draw):
    """The text of a chapter, and the contents and values for it."""
    pieces, contents, values = [], {}, {}
    for number in range(draw(st.integers(0, 5))):
        pieces += draw(st.lists(st.sampled_from(OUTSIDE), max_size=3))
        if draw(st.booleans()):
            path = f"r/s/{number}"
            values[path, ""] = escaped(draw(CELL)) + "1"
            pieces.append(f"值 <!-- ledger:value {path} -->{escaped(draw(CELL))}<!-- ledger:end --> 大")
        else:
            name, medium = f"r/v{number}", draw(st.sampled_from(["md", "text", "html", "csv"]))
            contents[name, medium] = draw(contents_of(medium))
            old = draw(st.sampled_from(["", "old", "\n\nold\n\nold\n", "| a |\n| - |\n| 1 |"]))
            pieces.append(marked_block(name, medium, old, draw(st.sampled_from(["", "", "  ", "    "]))))
    pieces += draw(st.lists(st.sampled_from(OUTSIDE), max_size=2))
    text = "\n\n".join(pieces) + draw(st.sampled_from(["", "\n", "\n\n"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))
    return draw(st.sampled_from(["", "\ufeff"])) + text, contents, values


def outside(text):
    """Return what of a chapter is not generated."""
    found = chapter(text)
    spans = [(each.start, each.end) for each in found.blocks] + [
        (each.start, each.stop) for each in found.values
    ]
    pieces, end = [], 0
    for start, stop in sorted(spans):
        pieces.append(text[end:start])
        end = stop
    return [*pieces, text[end:]]


@given(chapters_with_blocks())
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, database=None)
def test_injecting_twice_is_injecting_once(case):
    text, contents, values = case
    once = injected(text, contents, values)
    assert injected(once, contents, values) == once


@given(chapters_with_blocks())
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, database=None)
def test_everything_outside_the_blocks_keeps_its_bytes(case):
    text, contents, values = case
    assert outside(injected(text, contents, values)) == outside(text)


@given(chapters_with_blocks())
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, database=None)
def test_every_block_holds_its_content_and_its_sum(case):
    text, contents, values = case
    found = chapter(injected(text, contents, values))
    assert len(found.blocks) + len(found.values) == len(contents) + len(values)
    assert [block.name for block in found.blocks if is_stale(block, contents[block.name, block.medium])] == []
    assert [value.path for value in found.values if is_moved(value, values[value.key])] == []


@given(chapters_with_blocks())
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, database=None)
def test_new_lines_end_as_the_lines_of_the_chapter(case):
    text, contents, values = case
    got = injected(text, contents, values)
    if "\r\n" in text:
        assert re.search(r"(?<!\r)\n|\r(?!\n)", got) is None
    else:
        assert ("\r" in got, "\n" in got) == ("\r" in text, "\n" in text)


def test_a_chapter_is_read_several_times_faster_than_it_is_parsed():
    """A book of 300 chapters like this one, 30 MB with 2,100 blocks, must be read within a second."""
    prose = "段落 text 2*M*N 与 `x`。\n\n" * 12 + "1. 步骤\n\n   ```\n   make\n   ```\n\n"
    code = "```python\n" + "def f(x):\n    return x\n\n" * 40 + "```\n\n"
    table = "| a | b |\n| - | - |\n" + "| 4096³ | 1.5 |\n" * 10
    pieces = [
        (prose + code) * 11 + marked_block(f"r/v{i}", "md", f"\n{table}", "  " if i == 3 else "")
        for i in range(7)
    ]
    text = "\n\n".join(pieces)

    def seconds(work):
        times = []
        for _ in range(3):
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
        return min(times)

    parser = MarkdownIt("commonmark").enable("table")
    whole = seconds(lambda: parser.block.parse(text, parser, {}, []))
    assert len(chapter(text).blocks) == 7
    assert whole > 4 * seconds(lambda: chapter(text))


# Formatters.

FORMATTED = """\
# 第 14 章

平衡点是 <!-- ledger:value r/s/a/balance fixed 1 -->0<!-- ledger:end --> FLOP/B，
乘积是 <!-- ledger:value r/s/p -->0<!-- ledger:end -->。

<!-- ledger:begin r/table -->
<!-- ledger:end r/table -->

1. 步骤

   <!-- ledger:begin r/listed -->
   <!-- ledger:end r/listed -->

2. 其次 <!-- ledger:value r/s/a/balance fixed 1 -->0<!-- ledger:end -->

- 项目
  - 内层

    <!-- ledger:begin r/text as=text -->
    <!-- ledger:end r/text -->

<!-- ledger:begin r/html as=html -->
<!-- ledger:end r/html -->

| 列 | 值 |
| -- | -- |
| a | <!-- ledger:value r/s/a/balance fixed 1 -->0<!-- ledger:end --> |

<!-- ledger:begin r/csv as=csv -->
<!-- ledger:end r/csv -->

结束
"""
WIDE = """\
| shape（fp16） | 公式 | 字符 |
| --- | --: | :-: |
| 4096³ | 2&#42;M&#42;N&#42;K | a&#124;b |
| 512³ | &#95;&#95;smem&#95;&#95; | &#123;&#123; v &#125;&#125; &lt;x&gt; &#96;c&#96; |
| 128³ | &#126;&#126;s&#126;&#126; | 2 * 3 = 6 |
| 空 |  | &#91;n&#93; &#36;5 &#38;amp; &#35; &#92; `x` <br> &#45;&#45; |

性能口径：全部数字由公式推导，未做任何测量。

已知局限：

- 只统计「读入 + 写出」一行，不考虑中间量回写显存。
- 不考虑 cache 命中（wave quantization）。
"""
FORMATTED_CONTENTS = {
    ("r/table", "md"): WIDE,
    ("r/listed", "md"): WIDE,
    ("r/text", "text"): "```text\n====\nGEMM  a | b   <!-- ledger:begin x/y -->\n\n  判定 : x\n```\n",
    ("r/html", "html"): "<table>\n<tr><th>a</th><td>1</td></tr>\n</table>\n<p>注</p>\n",
    ("r/csv", "csv"): '```csv\nid,a\nx,"1,5"\n```\n',
}
FORMATTED_VALUES = {("r/s/a/balance", "fixed 1"): "333.3", ("r/s/p", ""): "2&#42;M&#42;N"}
FORMATTERS = {
    "prettier": ("prettier", "--write"),
    "prettier wraps": ("prettier", "--prose-wrap=always", "--write"),
    "markdownlint": ("markdownlint-cli2", "--fix"),
    "mdformat": ("mdformat",),
    "mdformat wraps": ("mdformat", "--wrap=60", "--number"),
}


def program(name):
    """Return the path of a formatter, from three places; skip without it, fail under CI=true."""
    for folder in (ROOT / "node_modules" / ".bin", Path(sys.executable).parent):
        if (folder / name).exists():
            return str(folder / name)
    engines.require(name)
    return str(shutil.which(name))


@pytest.mark.engine
@pytest.mark.parametrize("formatter", FORMATTERS)
def test_a_formatter_makes_nothing_stale(formatter, tmp_path):
    command, *options = FORMATTERS[formatter]
    path = tmp_path / "chapter.md"
    path.write_text(injected(FORMATTED, FORMATTED_CONTENTS, FORMATTED_VALUES), encoding="utf-8")
    # markdownlint tells what it cannot fix by its exit code.
    subprocess.run([program(command), *options, path.name], cwd=tmp_path, capture_output=True, check=False)
    text = path.read_text(encoding="utf-8")
    assert injected(text, FORMATTED_CONTENTS, FORMATTED_VALUES) == text


@pytest.mark.engine
@pytest.mark.parametrize("formatter", ["prettier", "markdownlint"])
def test_a_padded_table_is_left_alone_by_a_formatter(formatter, tmp_path):
    """Blocks as the templates print them, with blank lines inside both markers, are what these two write."""
    command, *options = FORMATTERS[formatter]
    path = tmp_path / "chapter.md"
    text = injected(f"# 标题\n\n{marked_block('r/t1', 'md', '', '')}\n")
    path.write_text(text, encoding="utf-8")
    subprocess.run([program(command), *options, path.name], cwd=tmp_path, capture_output=True, check=True)
    assert path.read_text(encoding="utf-8") == text
