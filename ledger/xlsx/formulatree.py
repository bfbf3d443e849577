"""The formula of a cell as a tree, so that two can be compared whoever saved them.

A spreadsheet that saves a workbook drops brackets and cuts numbers to 15 digits: texts differ, trees do not.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.language.expr import Call, Expr, Literal, Name
from ledger.xlsx.formulas import Token, UnreadableError, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

_ALIKE = 1e-14
_DEEPEST = 80
_BINDING = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), 10),
    "&": 20, "+": 30, "-": 30, "*": 40, "/": 40, "^": 50,
}  # fmt: skip
_TRUTHS = {"TRUE": True, "FALSE": False}


def tree(formula: str) -> Expr:
    """Return the tree of a formula in names or in cells; raise UnreadableError if it cannot be read.

    Words are the spreadsheet's own: `+`, `neg`, `INT`; a reference is a Name.
    """
    reader = _TreeReader([*_bracketed(formula)])
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
