"""The few words that outputs say on their own, in each language."""

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
}


def said(word: str, language: str) -> str:
    """Return a word in `language`, in English if it has no such form."""
    forms = _WORDS[word]
    return forms.get(language, forms["en"])


def all_said(language: str) -> dict[str, str]:
    """Return every word in `language`, by its name."""
    return {word: said(word, language) for word in _WORDS}
