"""The formula of a cell in tokens: what it reads, by which names, whether it reaches outside."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.xlsx.limits import MAX_ROWS, NOT_IN_TITLES, OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_MARK = re.compile(r"(?i)_xl(?:fn|ws|udf)\.(?:_xlws\.)?")
_WORD = r"[^\W\d][\w.]*+"
_QUOTED = r"'(?:[^']|'')*+'"
_SHEET = rf"(?:(?:{_QUOTED}|{_WORD})!)?"
_ADDRESS = r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}"
_LETTERS = r"\$?[A-Za-z]{1,3}"
# Each character is of some token and repetitions give nothing back, so that a stranger's formula, whatever it
# holds, takes time in proportion to its length.
_TOKEN = re.compile(
    rf"""
    (?P<blank>\s+)
    | (?P<text>"(?:[^"]|"")*+")
    | (?P<error>\#(?:NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|N/A))
    | (?P<exchange>[\w.]*+\|(?:{_QUOTED}|[^,)"'])*+)
    | (?P<link>(?:'(?:[^'|{NOT_IN_TITLES}]|'')*+[|{NOT_IN_TITLES}](?:[^']|'')*+' | {_QUOTED}(?=\#)
        | \[[^\[\]"]*+\][^\[\],()"!]*+(?=!) | ://)(?:[!\#][\w.:$]*+)?)
    | (?P<table>{_WORD}\[\[\#This\ Row\],\[(?P<field>(?:'.|[^\[\]'])*)\]\])
    | (?P<reference>{_SHEET}(?P<first>{_ADDRESS})(?::(?P<last>{_ADDRESS}))?(?![\w.(!\[]))
    | (?P<columns>{_SHEET}(?P<left>{_LETTERS}):(?P<right>{_LETTERS})(?![\w.(!\[]))
    | (?P<number>(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[Ee][+-]?[0-9]++)?+(?![\w.]))
    | (?P<function>{_WORD})(?=\s*+\()
    | (?P<name>(?:(?:{_QUOTED}|{_WORD})!(?={_WORD}(?!\s*+\()))?(?:[^\W\d]|\\(?![\\?]|{_WORD}\s*+\())[\w.]*+
        (?:[\\?]++[\w.]*+(?!\s*+\())*+(?:\[[^\[\]"]*+\](?![\w.!']))?+)
    | (?P<sign><=|>=|<>|[-+*/^&=<>%(),@])
    | (?P<other>{_QUOTED}|[0-9.]++|[\\?]++|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_UNREADABLE = {"exchange", "link", "columns", "other"}
_CORNER = re.compile(r"(\$?)([A-Za-z]{1,3})(\$?)([0-9]+)")


class UnreadableError(ValueError):
    """A formula that uses more of a spreadsheet's language than is read here."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a formula: its kind, its text, and the cells that a reference or whole columns lead to.

    A `link` leads to another file, an `exchange` to another program; `other` is all that has no kind.
    """

    kind: str
    text: str
    reference: Reference | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """Cells that a formula reads: `sheet` is empty for its own; rows and columns from 1.

    `row_moves` says whether the row goes with the formula's own, as in `$B5`.
    """

    sheet: str
    column: int
    row: int
    last_column: int
    last_row: int
    row_moves: bool = False

    @property
    def is_cell(self) -> bool:
        """Whether it is one cell."""
        return (self.column, self.row) == (self.last_column, self.last_row)


@dataclass(frozen=True, slots=True)
class Locator:
    """The name of a reference, and of a column of the formula's own row by its header; None without one."""

    reference: Callable[[Reference], str | None]
    field: Callable[[str], str | None]


def tokens(formula: str) -> Iterator[Token]:
    """Yield the tokens of a formula without its `=`; raise UnreadableError at one that no tree is made of.

    >>> [token.text for token in tokens("2*$M5")]
    ['2', '*', '$M5']
    """
    for token in _tokens(formula):
        if token.kind in _UNREADABLE:
            raise UnreadableError(token.text)
        yield token


def _matches(formula: str) -> Iterator[re.Match[str]]:
    """Yield the match of each token, its kind as `lastgroup`, without the marks of newer functions."""
    return _TOKEN.finditer(_MARK.sub("", formula))


def _tokens(formula: str) -> Iterator[Token]:
    """Yield the tokens of any formula whatever, blanks left out."""
    for found in _matches(formula):
        match kind := found.lastgroup or "":
            case "blank":
                continue
            case "reference":
                column, row, moves = _address(found["first"])
                last_column, last_row, last_moves = _address(found["last"] or found["first"])
                cells = Reference(_sheet(found[0]), column, row, last_column, last_row, moves or last_moves)
                yield Token(kind, found[0], cells)
            case "columns":
                left, right = (column_number(found[side].lstrip("$")) for side in ("left", "right"))
                yield Token(kind, found[0], Reference(_sheet(found[0]), left, 1, right, MAX_ROWS))
            case "table":
                yield Token(kind, re.sub("'(.)", r"\1", found["field"]))
            case _:
                yield Token(kind, found[0])


def _sheet(text: str) -> str:
    """Return the title of the worksheet in a reference, empty for the formula's own."""
    return text.rpartition("!")[0].removeprefix("'").removesuffix("'").replace("''", "'")


def _address(text: str) -> tuple[int, int, bool]:
    """Return the column and the row of an address, and whether the row moves with the formula."""
    letters, moves, digits = re.findall(r"\$?([A-Za-z]+)(\$?)([0-9]+)", text)[0]
    return column_number(letters), int(digits), not moves


def shifted(formula: str, down: int, right: int) -> str:
    """Return a formula as a cell further down and right shares it.

    >>> shifted("$A5+B$1", 2, 1)
    '$A7+C$1'
    """

    def shift_token(found: re.Match[str]) -> str:
        if found["first"] is None:
            return found[0]
        start = found.start("first") - found.start()
        return found[0][:start] + _CORNER.sub(shift_corner, found[0][start:])

    def shift_corner(found: re.Match[str]) -> str:
        fixed, letters, still, digits = found.groups()
        column = letters if fixed else column_letters(column_number(letters) + right)
        return f"{fixed}{column}{still}{digits if still else int(digits) + down}"

    return _TOKEN.sub(shift_token, formula)


def column_letters(column: int) -> str:
    """Return the letters of a column.

    >>> [column_letters(column) for column in (1, 26, 27, 16384)]
    ['A', 'Z', 'AA', 'XFD']
    """
    letters = ""
    while column:
        column, digit = divmod(column - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


def column_number(letters: str) -> int:
    """Return the number of a column.

    >>> column_number("AB")
    28
    """
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def corner(address: str) -> tuple[int, int]:
    """Return the column and the row of an address.

    >>> corner("AB7")
    (28, 7)
    """
    return _address(address)[:2]


def cell_address(title: str, row: int, column: int) -> str:
    """Return the address of a cell with the title of its worksheet.

    >>> cell_address("sweep", 23, 6)
    'sweep!F23'
    """
    return f"{title}!{column_letters(column)}{row}"


def in_names(formula: str, locator: Locator) -> str:
    """Return a formula whose references are names in square brackets; one that has no name stays as it is.

    It reads the same in every row of a column, so that its formulas can be compared.
    """
    try:
        return "".join(_in_names(token, locator) for token in tokens(formula))
    except UnreadableError:
        return formula


def _in_names(token: Token, locator: Locator) -> str:
    name = None
    if token.reference:
        name = locator.reference(token.reference)
    elif token.kind == "table":
        name = locator.field(token.text) or token.text
    return token.text if name is None else f"[{name}]"


@dataclass(frozen=True, slots=True)
class Reads:
    """What a formula reads; `links` are other files, `exchanges` other programs, `targets` of hyperlinks."""

    references: tuple[Reference, ...]
    names: tuple[str, ...]
    functions: tuple[str, ...]
    errors: tuple[str, ...]
    links: tuple[str, ...] = ()
    exchanges: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


def reads(formula: str) -> Reads:
    """Return what a formula reads; an address inside a text literal is no reference.

    >>> reads('"A1"&B2').references[0].column
    2
    """
    found = [*_tokens(formula)]
    texts: dict[str, list[str]] = {}
    for token in found:
        texts.setdefault(token.kind, []).append(token.text)
    return Reads(
        tuple(token.reference for token in found if token.reference),
        tuple(texts.get("name", ())),
        tuple(text.upper() for text in texts.get("function", ())),
        tuple(texts.get("error", ())),
        tuple(text.rpartition("!")[0] or text for text in texts.get("link", ())),
        tuple(texts.get("exchange", ())),
        tuple(
            target.text.strip('"')
            for called, target in zip(found, found[2:], strict=False)
            if called.kind == "function" and called.text.upper() == "HYPERLINK"
        ),
    )


_OWN_ROW = re.compile(
    r"""
    "(?:[^"]|"")*" | '(?:[^']|'')*'
    | (?<![\w.!:$])(\$?[A-Za-z]{1,3}\$?)([0-9]+)(?![\w.(:])
    """,
    re.VERBOSE,
)


def shape(formula: str, row: int) -> str:
    """Return a formula with its own row left out, so that those of a column can be compared.

    >>> shape("$A5+B$1", 5) == shape("$A6+B$1", 6)
    True
    """
    own = str(row)
    return _OWN_ROW.sub(lambda found: f"{found[1]}\0" if found[2] == own else found[0], formula)


def beside(formula: str) -> Iterator[tuple[int, int]]:
    """Yield row and column of each single cell of its own sheet that a formula reads, six times faster.

    >>> list(beside('INDEX(x!$B$1:$B$9,$C$4)&"D5"'))
    [(4, 3)]
    """
    for found in _OWN_ROW.finditer(formula):
        if found[1]:
            yield int(found[2]), column_number(found[1].replace("$", ""))


def why_outside(formula: str) -> str:
    """Return why a formula may reach outside the workbook; empty for one that cannot.

    >>> why_outside('1+_xlfn.WEBSERVICE("http://a.example")'), why_outside("'my sheet'!A1+INT(A2)")
    ('it calls WEBSERVICE', '')
    """
    for found in _matches(formula):
        kind, text = found.lastgroup, found[0]
        if kind == "function" and (name := text.upper()) in OUTSIDE:
            return f"it calls {name}"
        # A program that is asked for a path opens a file; a backslash is of a path, whatever is around it.
        if kind == "link" or (kind != "text" and "\\" in text) or (kind == "exchange" and "/" in text):
            return "it reads another file"
        if kind != "text" and "|" in text:
            return "it reads another program"
    return ""


def called(formula: str) -> Iterator[str]:
    """Yield the functions that a formula calls, in capitals.

    >>> [*called('if(_xlfn.IFNA(A1,0)>1,"INT(",LOG10(2))')]
    ['IF', 'IFNA', 'LOG10']
    """
    return (found[0].upper() for found in _matches(formula) if found.lastgroup == "function")
