"""Every target by name: one module per output language, a table of the rules for the words.

A new target is one module and one row here; a test takes each through every word of the vocabulary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.language.targets.excel import EXCEL
from ledger.language.targets.latex import LATEX
from ledger.language.targets.numpy import UNSUPPORTED, WORDS
from ledger.language.targets.source import LANGUAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ledger.language.expr import Spelling, Unsupported
    from ledger.values import Values

#: What each target has for a word: its spelling, the function that computes it, or why it has neither.
TARGETS: Mapping[str, Mapping[str, Spelling | Callable[..., Values] | Unsupported]] = {
    "excel": EXCEL.rules,
    "latex": LATEX.rules,
    "source": LANGUAGE.rules,
    "numpy": {**WORDS, **UNSUPPORTED},
}
