"""Formulas that may reach outside their workbook: another file, another program, the network.

Recalculation must not do what a stranger's workbook asks for, so no engine is given such a formula.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Excel's own, and those that older Excel sheets and LibreOffice know; the text that INDIRECT reads may name
# a file, and can be put together so that nobody sees it.
_FUNCTIONS = frozenset(
    {
        *("WEBSERVICE", "FILTERXML", "IMAGE", "RTD", "STOCKHISTORY", "FIELDVALUE", "PY", "COPILOT"),
        *("DDE", "CALL", "REGISTER", "REGISTER.ID", "EXEC", "INITIATE", "EVALUATE", "RUN", "FOPEN"),
        *("CUBEKPIMEMBER", "CUBEMEMBER", "CUBEMEMBERPROPERTY", "CUBERANKEDMEMBER", "CUBESET"),
        *("CUBESETCOUNT", "CUBEVALUE", "SQL.REQUEST", "INDIRECT"),
    }
)
_PIECE = re.compile(
    r"""(?P<text>"(?:[^"]|"")*") | (?P<quoted>'(?:[^']|'')*'\#?) | (?P<function>[^\W\d][\w.]*)\s*\(""",
    re.VERBOSE,
)
_PREFIX = re.compile(r"(?i)^_xl(?:fn|ws|udf)\.(?:_xlws\.)?")
# What the title of a worksheet never holds, and the mark after a file's name.
_NO_TITLE = re.compile(r"[\[\]:*?/\\|]|'#$")
_OTHER_FILE = re.compile(r"\][^\[\],()]*!|://|\\")


def why_outside(formula: str) -> str:
    """Return why a formula may reach outside the workbook; empty for one that cannot.

    >>> why_outside('1+_xlfn.WEBSERVICE("http://a.example")'), why_outside("'my sheet'!A1+INT(A2)")
    ('it calls WEBSERVICE', '')
    """
    rest = []
    at = 0
    for piece in _PIECE.finditer(formula):
        rest.append(formula[at : piece.start()])
        at = piece.end()
        name = _PREFIX.sub("", piece["function"] or "").upper()
        if name in _FUNCTIONS:
            return f"it calls {name}"
        if piece["quoted"] and _NO_TITLE.search(piece["quoted"]):
            return "it reads another file"
        if piece["function"]:
            rest.append(piece[0])
    left = "".join((*rest, formula[at:]))
    if "|" in left:
        return "it reads another program"
    return "it reads another file" if _OTHER_FILE.search(left) else ""


def called(formula: str) -> Iterator[str]:
    """Yield the functions that a formula calls, in capitals.

    >>> [*called('if(_xlfn.IFNA(A1,0)>1,"INT(",LOG10(2))')]
    ['IF', 'IFNA', 'LOG10']
    """
    for piece in _PIECE.finditer(formula):
        if piece["function"]:
            yield _PREFIX.sub("", piece["function"]).upper()
