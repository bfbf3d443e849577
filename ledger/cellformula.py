"""The formula of a cell as a tree, its references put into names, whoever wrote it and where it stands.

Trees are compared, not texts: a spreadsheet that saves a workbook drops brackets and cuts numbers to 15
digits.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.expr import Call, Expr, Literal, Name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ALIKE = 1e-14
_DEEPEST = 80
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
_BINDING = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), 10),
    "&": 20, "+": 30, "-": 30, "*": 40, "/": 40, "^": 50,
}  # fmt: skip
_PREFIX, _PERCENT = 60, 70
_TRUTHS = {"TRUE": True, "FALSE": False}


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
        column = letters if fixed else letters_of(column_number(letters) + right)
        return f"{fixed}{column}{still}{digits if still else int(digits) + down}"

    return _TOKEN.sub(moved, formula)


def letters_of(column: int) -> str:
    """Return the letters of a column."""
    letters = ""
    while column > 0:
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


def tree(formula: str) -> Expr:
    """Return the tree of a formula in names or in cells; raise UnreadableError if it cannot be read.

    Words are the spreadsheet's own: `+`, `neg`, `INT`; a reference is a Name.
    """
    reader = _Reader([*_bracketed(formula)])
    found = reader.expression(0, 0)
    if reader.waiting:
        raise UnreadableError(formula)
    return found


_BRACKETED = re.compile(r'"(?:[^"]|"")*"|\[\[#This Row\],\[[^\]]*\]\]|(?<![\w\]])\[([^\[\]]*)\]')


def _bracketed(formula: str) -> Iterator[Token]:
    """Yield the pieces of a formula in names: a name in brackets is one piece."""
    at = 0
    for found in _BRACKETED.finditer(formula):
        if found[1] is not None:
            yield from tokens(formula[at : found.start()])
            yield Token("named", found[1])
            at = found.end()
    yield from tokens(formula[at:])


@dataclass(slots=True)
class _Reader:
    waiting: list[Token]

    def next(self) -> Token:
        """Return the next piece."""
        if not self.waiting:
            raise UnreadableError("the formula ends too early")
        return self.waiting.pop(0)

    def has(self, *signs: str) -> bool:
        """Whether the next piece is one of the signs."""
        return bool(self.waiting) and self.waiting[0].kind == "sign" and self.waiting[0].text in signs

    def expression(self, least: int, depth: int) -> Expr:
        """Return the expression whose signs bind more than `least`."""
        if depth > _DEEPEST:
            raise UnreadableError("nested too deep")
        left = self.operand(depth + 1)
        while self.has(*_BINDING, "%"):
            sign = self.waiting[0].text
            if sign == "%":
                self.next()
                left = Call("%", (left,))
                continue
            if _BINDING[sign] <= least:
                break
            self.next()
            left = Call(sign, (left, self.expression(_BINDING[sign], depth + 1)))
        return left

    def operand(self, depth: int) -> Expr:
        """Return what stands between two signs."""
        piece = self.next()
        match piece.kind, piece.text:
            case "sign", "-":
                return _negated(self.signed(depth))
            case "sign", "+" | "@":
                return self.signed(depth)
            case "sign", "(":
                found = self.expression(0, depth)
                self.expect(")")
                return found
            case "number", text:
                return Literal(float(text))
            case "text", text:
                return Literal(text[1:-1].replace('""', '"'))
            case "function", text:
                return self.call(text.upper(), depth)
            case "name", text if text.upper() in _TRUTHS:
                return Call(text.upper(), ())
            case "name" | "named" | "reference" | "table" | "error", text:
                return Name(text)
        raise UnreadableError(piece.text)

    def signed(self, depth: int) -> Expr:
        """Return the operand of a sign, which binds more than a power; a percent sign binds still more."""
        found = self.operand(depth + 1)
        while self.has("%"):
            self.next()
            found = Call("%", (found,))
        return found

    def call(self, name: str, depth: int) -> Expr:
        """Return a function with its arguments."""
        self.expect("(")
        args: list[Expr] = []
        while not self.has(")"):
            args.append(Name("") if self.has(",") else self.expression(0, depth))
            if not self.has(")"):
                self.expect(",")
        self.expect(")")
        return Call(name, tuple(args))

    def expect(self, sign: str) -> None:
        """Take the next piece, which must be `sign`."""
        if (piece := self.next()).text != sign:
            raise UnreadableError(piece.text)


def _negated(expr: Expr) -> Expr:
    if isinstance(expr, Literal) and isinstance(expr.value, float):
        return Literal(-expr.value)
    return Call("neg", (expr,))


def alike(a: Expr, b: Expr) -> bool:
    """Whether two trees are the same formula; numbers may differ beyond the 15th digit."""
    match a, b:
        case Literal(value=float(x)), Literal(value=float(y)):
            return math.isclose(x, y, rel_tol=_ALIKE)
        case Call(op=left, args=these), Call(op=right, args=those):
            return left == right and len(these) == len(those) and all(map(alike, these, those))
    return a == b


def same_formula(a: str, b: str) -> bool:
    """Whether two formulas in names mean the same; those that cannot be read are compared as text."""
    if a == b:
        return True
    try:
        return alike(tree(a), tree(b))
    except UnreadableError:
        return re.sub(r"\s+", "", a) == re.sub(r"\s+", "", b)
