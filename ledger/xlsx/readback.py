"""A spreadsheet's formula read back into the declared language, as far as its words have a meaning there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.language.expr import Call, Expr, Literal, Name, compile_to
from ledger.language.targets.source import LANGUAGE
from ledger.xlsx.formulas import UnreadableError, alike, tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_TRUE, _FALSE = Call("TRUE", ()), Call("FALSE", ())
_ONE = Literal(1.0)
_HUNDRED = Literal(100.0)

_SIGNS: Mapping[str, str] = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "^": "pow", "&": "join", "neg": "neg",
    "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "=": "eq", "<>": "ne",
    "POWER": "pow", "INT": "floor", "ABS": "abs", "SQRT": "sqrt", "MIN": "min", "MAX": "max",
    "NOT": "not", "EXACT": "same", "IF": "if", "MOD": "mod", "CONCATENATE": "join",
}  # fmt: skip
_COUNTS = {
    "add": 2, "sub": 2, "mul": 2, "div": 2, "pow": 2, "neg": 1, "lt": 2, "le": 2, "gt": 2, "ge": 2, "eq": 2,
    "ne": 2, "floor": 1, "abs": 1, "sqrt": 1, "not": 1, "same": 2, "if": 3, "mod": 2,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Known:
    """What formulas of a sheet can name: its names, those that are texts, and each lookup's own tree."""

    names: frozenset[str]
    texts: frozenset[str]
    lookups: Mapping[str, Expr]


def read_back(formula: str, known: Known) -> Expr | None:
    """Return a formula in names as an expression of the language, None where it says more than that."""
    try:
        return _FormulaReader(known).read(tree(formula))
    except UnreadableError:
        return None


def spelled(expr: Expr) -> str:
    """Return an expression as its author would write it.

    >>> spelled(Call("mul", (Literal(2.0), Name("M"))))
    '2 * M'
    """
    return compile_to(LANGUAGE, expr, lambda name: name)


@dataclass(frozen=True, slots=True)
class _FormulaReader:
    known: Known

    def read(self, expr: Expr) -> Expr:
        """Return a tree of a spreadsheet's words in words of the language."""
        for name, lookup in self.known.lookups.items():
            if alike(expr, lookup):
                return Name(name)
        match expr:
            case Literal():
                return expr
            case Name(id=name) if name in self.known.names:
                return expr
            case Call(op="%", args=(arg,)):
                return Call("div", (self.read(arg), _HUNDRED))
            case Call(op=op, args=args) if op in _SPECIAL:
                return _SPECIAL[op](self, args)
            case Call(op="IF", args=(test, yes, no)) if alike(no, _FALSE):
                return Call("and", (self.read(test), self.read(yes)))
            case Call(op="IF", args=(test, yes, no)) if alike(yes, _TRUE):
                return Call("or", (self.read(test), self.read(no)))
            case Call(op=op, args=args) if op in _SIGNS:
                return self.word(_SIGNS[op], [self.read(arg) for arg in args])
        raise UnreadableError(repr(expr))

    def word(self, op: str, args: Sequence[Expr]) -> Expr:
        """Return a word put to its arguments."""
        if op in {"eq", "ne"} and any(self.is_text(arg) for arg in args):
            same = Call("same", tuple(args))
            return same if op == "eq" else Call("not", (same,))
        if op in {"min", "max", "join"} and len(args) > 1:
            return Call(op, _flat(op, args))
        if _COUNTS.get(op) != len(args):
            raise UnreadableError(op)
        return Call(op, tuple(args))

    def is_text(self, expr: Expr) -> bool:
        """Whether an expression is a text."""
        match expr:
            case Literal(value=str()):
                return True
            case Name(id=name):
                return name in self.known.texts
            case Call(op="join"):
                return True
            case Call(op="if", args=(_, yes, _)):
                return self.is_text(yes)
        return False

    def rounded(self, args: Sequence[Expr], whole: str, multiple: str) -> Expr:
        """Return a rounding to a multiple, which is a word of its own where the multiple is 1."""
        inner = [self.read(arg) for arg in args]
        if len(inner) == 1 or alike(inner[1], _ONE):
            return Call(whole, (inner[0],))
        return Call(multiple, tuple(inner[:2]))

    def chained(self, op: str, args: Sequence[Expr]) -> Expr:
        """Return a word between all arguments."""
        inner = [self.read(arg) for arg in args]
        found = inner[-1]
        for each in reversed(inner[:-1]):
            found = Call(op, (each, found))
        return found

    def log2(self, args: Sequence[Expr]) -> Expr:
        """Return the logarithm to base 2."""
        if len(args) != 2 or not alike(args[1], Literal(2.0)):  # noqa: PLR2004  # the base
            raise UnreadableError("LOG")
        return Call("log2", (self.read(args[0]),))


def _flat(op: str, args: Sequence[Expr]) -> tuple[Expr, ...]:
    """Return the parts of texts joined in turn as parts of one."""
    parts: list[Expr] = []
    for arg in args:
        parts += arg.args if op == "join" and isinstance(arg, Call) and arg.op == "join" else (arg,)
    return tuple(parts)


_SPECIAL: Mapping[str, Callable[[_FormulaReader, Sequence[Expr]], Expr]] = {
    "CEILING": lambda reader, args: reader.rounded(args, "ceil", "align_up"),
    "FLOOR": lambda reader, args: reader.rounded(args, "floor", "align_down"),
    "AND": lambda reader, args: reader.chained("and", args),
    "OR": lambda reader, args: reader.chained("or", args),
    "SUM": lambda reader, args: reader.chained("add", args),
    "LOG": lambda reader, args: reader.log2(args),
}
