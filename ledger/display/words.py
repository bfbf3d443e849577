"""The fixed words of outputs, such as headings and notes of a workbook, in each language."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORDS: Mapping[str, Mapping[str, str]] = {
    "derived": {
        "en": "Basis: derived from formulas; nothing is measured.",
        "zh": "性能口径：全部数字由公式推导，未做任何测量。",
    },
    "vendor": {"en": "Basis: vendor figures, not measured.", "zh": "性能口径：厂商公开数字，未实测。"},
    "measured": {"en": "Basis: measured.", "zh": "性能口径：实测。"},
    "limits": {"en": "Known limits:", "zh": "已知局限："},
    "name": {"en": "name", "zh": "名字"},
    "value": {"en": "value", "zh": "值"},
    "unit": {"en": "unit", "zh": "单位"},
    "label": {"en": "label", "zh": "含义"},
    "formula": {"en": "formula in names", "zh": "公式（名字）"},
    "excel": {"en": "formula in cells", "zh": "公式（单元格）"},
    "source": {"en": "source", "zh": "来源"},
    "sheet": {"en": "sheet", "zh": "工作表"},
    "symbol": {"en": "symbol", "zh": "符号"},
    "charts": {"en": "Charts", "zh": "图表"},
    "line": {"en": "line", "zh": "线"},
    "definitions": {"en": "Definitions", "zh": "定义"},
    "printed": {"en": "As the book prints it", "zh": "书中所印"},
    # Checks
    "checks": {"en": "Checks against what was published", "zh": "与发布值的核对"},
    "rows": {"en": "rows", "zh": "行数"},
    "error cells": {"en": "error cells", "zh": "错误格"},
    "rows that differ": {"en": "rows that differ", "zh": "不同的行"},
    "largest difference": {"en": "largest relative difference", "zh": "最大相对差"},
    "first row": {"en": "first of them", "zh": "首个不同的行"},
    "status": {"en": "status", "zh": "状态"},
    "rows moved": {"en": "rows moved", "zh": "移动的行"},
    "order of rows": {"en": "order of the rows", "zh": "行的顺序"},
    "claim": {"en": "claim", "zh": "断言"},
    "rows where": {"en": "holds", "zh": "成立"},
    "rows where not": {"en": "fails", "zh": "不成立"},
    "rows not meant": {"en": "not meant", "zh": "不适用"},
    "same": {"en": "as published", "zh": "与发布一致"},
    "differs": {"en": "differs", "zh": "不同"},
    "errors": {"en": "errors", "zh": "出错"},
    "not compared": {"en": "not compared", "zh": "未比较"},
    "moved": {"en": "rows were moved: sort by id to compare", "zh": "行被移动过：按 id 排序后再比较"},
    "added": {"en": "rows were added or deleted: not compared", "zh": "行有增删：未比较"},
    "holds": {"en": "holds", "zh": "成立"},
    "fails": {"en": "fails", "zh": "不成立"},
    "as known": {"en": "fails as known", "zh": "不成立（已知）"},
    "lines that differ": {"en": "names that differ", "zh": "不同的名字"},
    "sheets moved": {"en": "sheets with moved rows", "zh": "行被移动的表"},
    "claims that fail": {"en": "claims that fail", "zh": "不成立的断言"},
    "red lines": {"en": "red lines in all", "zh": "红色行合计"},
    "all same": {"en": "All {count} values are as published.", "zh": "全部 {count} 个值与发布一致。"},
    "some differ": {"en": "Names that differ from what was published: ", "zh": "与发布值不同的名字："},
    "some fail": {"en": "Claims that fail: ", "zh": "不成立的断言："},
    "some moved": {
        "en": "Rows were moved, added or deleted; nothing else differs. Sort by id to compare.",
        "zh": "行被移动或增删过，其余未见不同；按 id 排序后再比较。",
    },
    "see checks": {"en": ". See Checks.", "zh": "，见 Checks。"},
    # About
    "about": {"en": "What this workbook is", "zh": "这本工作簿是什么"},
    "claims": {"en": "What it claims", "zh": "它断言什么"},
    "basis": {"en": "basis", "zh": "口径"},
    "colours": {"en": "Colours", "zh": "颜色"},
    "sheets": {"en": "Sheets", "zh": "各张表"},
    "working": {"en": "How to work with it", "zh": "怎么用"},
    "input cell": {"en": "input", "zh": "输入"},
    "lookup cell": {"en": "lookup", "zh": "查得"},
    "computed cell": {"en": "formula", "zh": "公式"},
    "id": {"en": "id", "zh": "标识"},
    "id cell": {"en": "id", "zh": "标识"},
    "document cell": {"en": "document", "zh": "说明"},
    "printed cell": {"en": "printed", "zh": "印出"},
    "input note": {
        "en": "A given value. It may be changed: all else follows.",
        "zh": "给定的值，可以改，其余随之重算。",
    },
    "lookup note": {"en": "Fetched from another sheet by its key.", "zh": "按键从另一张表取来。"},
    "computed note": {
        "en": "A live formula; its note, or Definitions, tells it in names.",
        "zh": "活的公式；批注与 Definitions 用名字写出它。",
    },
    "id note": {"en": "The id by which a row is found.", "zh": "用来找到一行的标识。"},
    "document note": {
        "en": "Tells of a row, such as its source; no formula reads it.",
        "zh": "说明一行（例如来源），没有公式读它。",
    },
    "printed note": {
        "en": "The text that the book prints, made by formulas on Printed.",
        "zh": "书中印出的文字，由 Printed 上的公式得到。",
    },
    "checks note": {
        "en": "Each name compared with its published values, each claim counted.",
        "zh": "逐个名字与发布值比较，逐条断言计数。",
    },
    "printed sheet": {
        "en": "Each table as the book prints it, found by id.",
        "zh": "书中每张表的样子，逐行按标识取值。",
    },
    "definitions note": {
        "en": "Each name: label, unit, formula in names and in cells, source.",
        "zh": "每个名字的含义、单位、公式与来源。",
    },
    "step 1": {
        "en": "Change a blue cell; what depends on it is recalculated.",
        "zh": "改一个蓝色单元格，依赖它的值随即重算。",
    },
    "step 2": {
        "en": "Follow Checks: what then differs is red, with the first row that does.",
        "zh": "看 Checks：变了的名字标红，并给出首个不同的行。",
    },
    "step 3": {"en": "Leave a note on a cell that you doubt.", "zh": "对有疑问的单元格留下批注。"},
    "step 4": {
        "en": "Save it and send it back; `tile-ledger review FILE` lists what was changed.",
        "zh": "存盘寄回；`tile-ledger review FILE` 会列出全部改动。",
    },
}


def said(word: str, language: str) -> str:
    """Return a word in `language`, in English if it has no such form."""
    forms = _WORDS[word]
    return forms.get(language, forms["en"])


def all_words(language: str) -> dict[str, str]:
    """Return every word in `language`, by its name."""
    return {word: said(word, language) for word in _WORDS}
