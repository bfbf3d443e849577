"""Excel's limits, the functions that need care, and what it has against a title, a name or a header."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ledger.language.targets.excel import LONGEST, MOST_ROWS
from ledger.values import UNWRITABLE, utf16_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Rows and columns of a worksheet.
MAX_ROWS, MAX_COLUMNS = MOST_ROWS, 16_384
#: Characters of a formula, of the text in a cell, and of the texts that a drop-down lists, in UTF-16 units.
MAX_FORMULA, MAX_TEXT, MAX_LIST = LONGEST, 32_767, 255
#: Characters of a worksheet's title, a defined name, a table's header, and of a key: MATCH finds no text
#: beyond 255, and a key of several parts is looked up with what joins them.
MAX_TITLE, MAX_NAME, MAX_HEADER, MAX_KEY = 31, 255, 255, 200

#: Functions that give another value at each calculation; and with them those that Excel calculates each time
#: too, because their precedents depend on a text or a number, or their value on the program.
CHANGING = frozenset({"NOW", "TODAY", "RAND", "RANDBETWEEN", "RANDARRAY"})
VOLATILE = CHANGING | {"OFFSET", "INDIRECT", "CELL", "INFO"}
#: Functions that reach the network, a file or another program: Excel's own, those of its macro sheets, and
#: those that LibreOffice and Google Sheets know.
REACHING = frozenset(
    {
        *("WEBSERVICE", "FILTERXML", "IMAGE", "RTD", "STOCKHISTORY", "FIELDVALUE", "PY", "COPILOT"),
        *("DDE", "CALL", "REGISTER", "REGISTER.ID", "EXEC", "INITIATE", "EVALUATE", "RUN", "FOPEN"),
        *("CUBEKPIMEMBER", "CUBEMEMBER", "CUBEMEMBERPROPERTY", "CUBERANKEDMEMBER", "CUBESET"),
        *("CUBESETCOUNT", "CUBEVALUE", "SQL.REQUEST"),
        *("IMPORTDATA", "IMPORTFEED", "IMPORTHTML", "IMPORTRANGE", "IMPORTXML"),
    }
)
#: Functions that no engine is given: the text that INDIRECT reads may name a file, and can be put together
#: so that nobody sees it.
OUTSIDE = REACHING | {"INDIRECT"}

#: What a worksheet's title never holds, as the inside of a regular expression's brackets.
NOT_IN_TITLES = r"\[\]:*?/\\"
#: A pattern to search for, and what is wrong with a text in which it is found.
Faults = tuple[tuple[re.Pattern[str], str], ...]
_CONTROL = rf"\t\n{UNWRITABLE.pattern[1:-1]}"
_BLANK = (re.compile(r"\A\s*\Z"), "is blank")
_KEPT = (
    (re.compile(r"(?i)\A(?=.)(r[0-9]*)?(c[0-9]*)?\Z"), "is an address in R1C1 notation"),
    (re.compile(r"(?i)\A(true|false|_xl.*)\Z"), "is a word that Excel keeps for itself"),
)
TITLE_FAULTS: Faults = (
    _BLANK,
    (re.compile(f"[{NOT_IN_TITLES}{_CONTROL}]"), r"holds one of [ ] : * ? / \ or a control character"),
    (re.compile(r"\A'|'\Z"), "begins or ends with an apostrophe"),
    (re.compile(r"(?i)\Ahistory\Z"), "is a name that Excel keeps for itself"),
)
#: A name that is written must do for every spreadsheet: ASCII, and nothing that looks like an address.
WRITTEN_NAME_FAULTS: Faults = (
    (
        re.compile(r"\A(?![A-Za-z_][A-Za-z0-9_]{0,200}\Z)"),
        "is not ASCII letters, digits and _, a digit not first",
    ),
    (re.compile(r"(?i)\A[a-z]{1,3}[0-9]+\Z"), "is the address of a cell"),
    *_KEPT,
)
HEADER_FAULTS: Faults = (
    _BLANK,
    (re.compile(f"[{_CONTROL}]"), "holds a line break or a control character"),
)
_NAME_FAULTS: Faults = (
    (re.compile(r"\A(?![^\W\d]|\\)|[^\w.\\?]"), "holds what a name cannot hold"),
    *_KEPT,
)
_CELL_ADDRESS = re.compile("([A-Za-z]{1,3})0*([1-9][0-9]*)")


def faults(texts: Iterable[str], patterns: Faults, longest: int) -> Iterator[tuple[str, str]]:
    """Yield each text that has a fault, is too long in UTF-16 units, or comes twice without case.

    >>> [*faults(["a", "A"], HEADER_FAULTS, MAX_HEADER)]
    [('A', "is there already, as 'a'; case makes no difference")]
    """
    seen: dict[str, str] = {}
    for text in texts:
        for pattern, fault in patterns:
            if pattern.search(text):
                yield text, fault
        if (length := utf16_length(text)) > longest:
            yield text, f"has {length} characters; at most {longest}"
        if (key := text.casefold()) in seen:
            yield text, f"is there already, as {seen[key]!r}; case makes no difference"
        seen.setdefault(key, text)


def name_fault(name: str) -> str:
    """Return what Excel has against a defined name or the name of a table, nothing if it takes it.

    >>> name_fault("AB12"), name_fault("ABCD12")
    ('is the address of a cell', '')
    """
    address = _CELL_ADDRESS.fullmatch(name)
    # Letters of one length sort as columns do.
    if address and address[1].upper().rjust(3) <= "XFD" and int(address[2]) <= MAX_ROWS:
        return "is the address of a cell"
    if (length := utf16_length(name)) > MAX_NAME:
        return f"has {length} characters, at most {MAX_NAME}"
    return next((fault for pattern, fault in _NAME_FAULTS if pattern.search(name)), "")
