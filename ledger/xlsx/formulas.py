"""The formula of a cell in tokens and as a tree: what it reads, by which names, whether it reaches outside.

A spreadsheet that saves a workbook drops brackets and cuts numbers to 15 digits: texts differ, trees do not.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledger.language.expr import Call, Expr, Literal, Name
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


class SharedFormula:
    """A formula that cells share, read once: what stays, and each part of an address that goes with the cell.

    >>> SharedFormula("$A5+B$1").shifted(2, 1)
    '$A7+C$1'
    """

    __slots__ = ("columns", "pieces", "rows")

    def __init__(self, formula: str) -> None:
        self.pieces: list[str] = []
        #: The numbers of rows and of columns that move, by their places among the pieces.
        self.rows: dict[int, int] = {}
        self.columns: dict[int, int] = {}
        at = 0
        for found in _TOKEN.finditer(formula):
            if found["first"] is not None:
                for place in _CORNER.finditer(formula, found.start("first"), found.end()):
                    self._add(formula[at : place.start()], place)
                    at = place.end()
        self.pieces.append(formula[at:])

    def _add(self, before: str, corner: re.Match[str]) -> None:
        fixed, letters, still, digits = corner.groups()
        at = len(self.pieces)
        self.pieces += [before + fixed, letters, still, digits]
        if not fixed:
            self.columns[at + 1] = column_number(letters)
        if not still:
            self.rows[at + 3] = int(digits)

    def shifted(self, down: int, right: int) -> str:
        """Return the formula as a cell further down and right shares it."""
        pieces = self.pieces.copy()
        for at, row in self.rows.items():
            pieces[at] = str(row + down)
        for at, column in self.columns.items() if right else ():
            pieces[at] = column_letters(column + right)
        return "".join(pieces)


def shifted(formula: str, down: int, right: int) -> str:
    """Return a formula as a cell further down and right shares it."""
    return SharedFormula(formula).shifted(down, right)


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


_ALIKE = 1e-14
# Levels of a formula, and of the tree that is made of it: what goes through a tree calls itself at each.
_DEEPEST, _HIGHEST = 80, 200
_BINDING = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), 10),
    "&": 20, "+": 30, "-": 30, "*": 40, "/": 40, "^": 50,
}  # fmt: skip
_TRUTHS = {"TRUE": True, "FALSE": False}


def tree(formula: str) -> Expr:
    """Return the tree of a formula in names or in cells; raise UnreadableError if it cannot be read.

    Words are the spreadsheet's own: `+`, `neg`, `INT`; a reference is a Name.
    """
    reader = _TreeReader([*_bracketed(formula)][::-1])
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
class _TreeReader:
    #: The pieces that are not read yet, the next one last.
    waiting: list[Token]
    #: How high the tree below each call is, by its identity, for which all calls are kept.
    heights: dict[int, int] = field(default_factory=dict)
    kept: list[Expr] = field(default_factory=list)

    def next(self) -> Token:
        """Return the next piece."""
        if not self.waiting:
            raise UnreadableError("the formula ends too early")
        return self.waiting.pop()

    def has(self, *signs: str) -> bool:
        """Whether the next piece is one of the signs."""
        return bool(self.waiting) and self.waiting[-1].kind == "sign" and self.waiting[-1].text in signs

    def expression(self, least: int, depth: int) -> Expr:
        """Return the expression whose signs bind more than `least`."""
        left = self.operand(depth + 1)
        while self.has(*_BINDING, "%"):
            sign = self.waiting[-1].text
            if sign == "%":
                self.next()
                left = self.made("%", left)
                continue
            if _BINDING[sign] <= least:
                break
            self.next()
            left = self.made(sign, left, self.expression(_BINDING[sign], depth + 1))
        return left

    def made(self, op: str, *args: Expr) -> Expr:
        """Return a call; raise UnreadableError if the tree gets higher than functions can call themselves."""
        found = Call(op, args)
        self.heights[id(found)] = 1 + max((self.heights.get(id(each), 0) for each in args), default=0)
        if self.heights[id(found)] > _HIGHEST:
            raise UnreadableError("too many terms")
        self.kept.append(found)
        return found

    def operand(self, depth: int) -> Expr:
        """Return the operand between two signs."""
        if depth > _DEEPEST:
            raise UnreadableError("nested too deep")
        piece = self.next()
        match piece.kind, piece.text:
            case "sign", "-":
                found = self.signed(depth)
                if isinstance(found, Literal) and isinstance(found.value, float):
                    return Literal(-found.value)
                return self.made("neg", found)
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
            found = self.made("%", found)
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
        return self.made(name, *args)

    def expect(self, sign: str) -> None:
        """Take the next piece, which must be `sign`."""
        if (piece := self.next()).text != sign:
            raise UnreadableError(piece.text)


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
