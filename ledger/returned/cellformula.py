"""The formula of a cell in pieces, and its references put into names, wherever it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MARK = re.compile(r"_xl(?:fn|ws|udf)\.(?:_xlws\.)?")
_SHEET = r"(?:(?P<sheet>'(?:[^']|'')*'|[^\W\d][\w.]*)!)?"
_ADDRESS = r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}"
_TOKEN = re.compile(
    rf"""
    (?P<blank>\s+)
    | (?P<text>"(?:[^"]|"")*")
    | (?P<error>\#(?:NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|N/A))
    | (?P<table>[^\W\d][\w.]*\[\[\#This\ Row\],\[(?P<field>(?:'.|[^\[\]'])*)\]\])
    | (?P<reference>{_SHEET}(?P<first>{_ADDRESS})(?::(?P<last>{_ADDRESS}))?(?![\w.(!\[]))
    | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?(?![\w.]))
    | (?P<function>[^\W\d][\w.]*)(?=\()
    | (?P<name>(?:(?:'(?:[^']|'')*'|[^\W\d][\w.]*)!)?[^\W\d][\w.\\?]*(?:\[[^\[\]]*\])?)
    | (?P<sign><=|>=|<>|[-+*/^&=<>%(),@])
    """,
    re.VERBOSE,
)
_CORNER = re.compile(r"(\$?)([A-Za-z]{1,3})(\$?)([0-9]+)")


class UnreadableError(ValueError):
    """A formula that uses more of a spreadsheet's language than is read here."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a formula: what it is, its text, and for a reference where it leads."""

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
    row_moves: bool

    @property
    def is_cell(self) -> bool:
        """Whether it is one cell."""
        return (self.column, self.row) == (self.last_column, self.last_row)


@dataclass(frozen=True, slots=True)
class Locator:
    """How a reference is called, and a column of the formula's own row by its header; None without a name."""

    reference: Callable[[Reference], str | None]
    field: Callable[[str], str | None]


def tokens(formula: str) -> Iterator[Token]:
    """Yield the pieces of a formula without its `=`; raise UnreadableError at what is none.

    >>> [token.text for token in tokens("2*$M5")]
    ['2', '*', '$M5']
    """
    at = 0
    formula = _MARK.sub("", formula)
    while at < len(formula):
        found = _TOKEN.match(formula, at)
        if found is None:
            raise UnreadableError(formula[at:])
        at = found.end()
        kind = found.lastgroup or ""
        match kind:
            case "blank":
                continue
            case "reference" | "last" | "first":
                yield Token("reference", found["reference"], _reference(found))
            case "field" | "table":
                yield Token("table", re.sub("'(.)", r"\1", found["field"]))
            case _:
                yield Token(kind, found[0])


def _reference(found: re.Match[str]) -> Reference:
    sheet = (found["sheet"] or "").removeprefix("'").removesuffix("'").replace("''", "'")
    column, row, moves = _address(found["first"])
    last_column, last_row, last_moves = _address(found["last"] or found["first"])
    return Reference(sheet, column, row, last_column, last_row, moves or last_moves)


def _address(text: str) -> tuple[int, int, bool]:
    letters, moves, digits = re.findall(r"\$?([A-Za-z]+)(\$?)([0-9]+)", text)[0]
    return column_number(letters), int(digits), not moves


def shifted(formula: str, down: int, right: int) -> str:
    """Return a formula as a cell further down and right shares it.

    >>> shifted("$A5+B$1", 2, 1)
    '$A7+C$1'
    """

    def moved(piece: re.Match[str]) -> str:
        if piece["first"] is None:
            return piece[0]
        start, end = piece.span("first")[0] - piece.start(), piece.span()[1] - piece.start()
        return piece[0][:start] + _CORNER.sub(cornered, piece[0][start:end])

    def cornered(found: re.Match[str]) -> str:
        fixed, letters, still, digits = found.groups()
        column = letters if fixed else column_letters(column_number(letters) + right)
        return f"{fixed}{column}{still}{digits if still else int(digits) + down}"

    return _TOKEN.sub(moved, formula)


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
    column, row, _ = _address(address)
    return column, row


def in_names(formula: str, locator: Locator) -> str:
    """Return a formula whose references are names in square brackets; one that has no name stays as it is.

    It reads the same wherever it stands, so that the formulas of a column can be compared.
    """
    try:
        pieces = list(tokens(formula))
    except UnreadableError:
        return formula
    return "".join(_named(piece, locator) for piece in pieces)


def _named(piece: Token, locator: Locator) -> str:
    name = None
    if piece.reference:
        name = locator.reference(piece.reference)
    elif piece.kind == "table":
        name = locator.field(piece.text) or piece.text
    return piece.text if name is None else f"[{name}]"
