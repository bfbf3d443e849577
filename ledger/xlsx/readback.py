"""A spreadsheet's formula read back into the declared language, as far as its words have a meaning there."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from ledger.language.expr import VOCABULARY, Call, Expr, Literal, Name, compile_to, nested
from ledger.language.targets.source import LANGUAGE
from ledger.xlsx.formulas import UnreadableError, alike, tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The word of each sign and function; those that need a look at their arguments first are in `read`.
_WORDS: Mapping[str, str] = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "^": "pow", "&": "join", "neg": "neg",
    "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "=": "eq", "<>": "ne",
    "POWER": "pow", "INT": "floor", "ABS": "abs", "SQRT": "sqrt", "MIN": "min", "MAX": "max",
    "NOT": "not", "EXACT": "same", "IF": "if", "MOD": "mod", "CONCATENATE": "join",
    "CEILING": "align_up", "FLOOR": "align_down",
}  # fmt: skip
#: The word of two arguments that a function of many puts between them.
_BETWEEN: Mapping[str, str] = {"AND": "and", "OR": "or", "SUM": "add"}


@dataclass(frozen=True, slots=True)
class Known:
    """What formulas of a sheet can name: its names, those that are texts, and each lookup's own tree."""

    names: frozenset[str]
    texts: frozenset[str]
    lookups: Mapping[str, Expr]

    def is_text(self, expr: Expr) -> bool:
        """Whether an expression is a text: a literal, a name of the sheet, or a word that gives text."""
        match expr:
            case Literal(value=value):
                return isinstance(value, str)
            case Name(id=name):
                return name in self.texts
            case Call(op="if", args=(_, yes, _)):
                return self.is_text(yes)
            case Call(op=op):
                return VOCABULARY[op].gives == "text"
        return False


def read_back(formula: str, known: Known) -> Expr | None:
    """Return a formula in names as an expression of the language, None where it has no words for it."""
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
                return self.word("div", (arg, Literal(100.0)))
            case Call(op="CEILING", args=(arg,) | (arg, Literal(value=1.0))):
                return self.word("ceil", (arg,))
            case Call(op="FLOOR", args=(arg,) | (arg, Literal(value=1.0))):
                return self.word("floor", (arg,))
            case Call(op="LOG", args=(arg, Literal(value=2.0))):
                return self.word("log2", (arg,))
            case Call(op="IF", args=(test, yes, Call(op="FALSE"))):
                return self.word("and", (test, yes))
            case Call(op="IF", args=(test, Call(op="TRUE"), no)):
                return self.word("or", (test, no))
            case Call(op=op, args=(_, *_) as args) if op in _BETWEEN:
                return nested(_BETWEEN[op], [self.read(arg) for arg in args])
            case Call(op=op, args=args) if op in _WORDS:
                return self.word(_WORDS[op], args)
        raise UnreadableError(repr(expr))

    def word(self, op: str, args: Sequence[Expr]) -> Expr:
        """Return a word put to arguments read in its turn; raise UnreadableError if it takes another number.

        A comparison of texts is `same`, and texts that are joined in turn are parts of one text.
        """
        read = tuple(map(self.read, args))
        if op in {"eq", "ne"} and any(map(self.known.is_text, read)):
            same = Call("same", read)
            return same if op == "eq" else Call("not", (same,))
        if not VOCABULARY[op].fits(len(read)) or not self.fits(op, read):
            raise UnreadableError(op)
        parts = [arg.args if isinstance(arg, Call) and arg.op == op == "join" else (arg,) for arg in read]
        return Call(op, tuple(chain.from_iterable(parts)))

    def fits(self, op: str, args: Sequence[Expr]) -> bool:
        """Whether a word takes texts where texts are, and numbers where they are not."""
        takes = VOCABULARY[op].takes
        texts = [self.known.is_text(arg) for arg in args]
        wanted = takes + takes[-1:] * (len(texts) - len(takes))
        common = {text for text, kind in zip(texts, wanted, strict=True) if kind == "any"}
        as_wanted = all(
            text == (kind == "text") for text, kind in zip(texts, wanted, strict=True) if kind != "any"
        )
        return as_wanted and len(common) <= 1
