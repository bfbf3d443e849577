"""The kind and the unit of an expression, and its text rewritten for engines that know neither.

Text comparisons become `same`, unit conversions a factor, small powers a product, and a printed number
inside a text becomes a name of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Place, Problem
from ledger.language.expr import VOCABULARY, Call, Expr, Literal, Name, call
from ledger.language.units import COUNT, Unit, divide, factor, multiply, parse, power, root, same, spell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from fractions import Fraction

#: `x ** 2` to `x ** 4` are products, which every engine computes alike.
_LARGEST_PRODUCT = 4
_LONGEST_FACTOR = 10**15


@dataclass(frozen=True, slots=True)
class Kind:
    """What an expression amounts to: number, text or bool; its unit; whether it is always whole."""

    kind: str
    unit: Unit = COUNT
    whole: bool = False
    free: bool = False  # a literal 0, which has every unit


#: The kind of what is declared wrongly: that is told once, and whatever reads it is not told again.
BROKEN = Kind("broken")


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A number printed inside a text: its name, the rule, and the name the text goes by."""

    name: str
    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression in core words, its kind, and the printed numbers it reads."""

    expr: Expr
    kind: Kind
    shown: tuple[PrintedNumber, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """The kinds of the names in reach, the unit atoms, and where the formula stands."""

    kinds: Mapping[str, Kind]
    atoms: Mapping[str, Unit]
    place: Place


def described(kind: Kind) -> str:
    """Return a kind in words for a message.

    >>> described(Kind("number", whole=True))
    'a whole number in count'
    """
    unit = f" in {spell(kind.unit)}" if kind.kind == "number" else ""
    return f"a {'whole ' if kind.whole else ''}{kind.kind}{unit}"


def typed(expr: Expr, scope: Scope) -> Typed:
    """Return `expr` with its kind; raise the first mistake in kinds or units."""
    match expr:
        case Literal(value=str()):
            return Typed(expr, Kind("text"))
        case Literal(value=value):
            number = float(value)
            return Typed(expr, Kind("number", whole=number.is_integer(), free=number == 0))
        case Name(id=name):
            return Typed(expr, scope.kinds[name])
        case Call(op="show", args=(Name() as name, Literal(value=rule))):
            return _shown(name, str(rule), scope)
        case Call(op="to", args=(inner, Literal(value=str() as wanted))):
            return _converted(typed(inner, scope), wanted, expr, scope)
        case Call(op=op, args=args):
            parts = [typed(arg, scope) for arg in args]
            op, parts = _as_text(op, parts)
            _check_kinds(op, parts, expr, scope)
            shown = tuple(dict.fromkeys(each for part in parts for each in part.shown))
            return Typed(
                _product(op, [part.expr for part in parts], expr), _result(op, parts, expr, scope), shown
            )
    raise TypeError(f"not an expression: {expr!r}")


def _wrong(expr: Expr, scope: Scope, what: str, hint: str = "") -> LedgerError:
    return LedgerError(Problem(what, replace(scope.place, offset=expr.start), hint))


def _shown(name: Name, rule: str, scope: Scope) -> Typed:
    if scope.kinds[name.id].kind == "text" and not rule:
        return Typed(name, Kind("text"))
    text = f"{name.id} ({rule or 'printed'})"
    return Typed(Name(text, start=name.start), Kind("text"), (PrintedNumber(name.id, rule, text),))


def _converted(inner: Typed, wanted: str, expr: Expr, scope: Scope) -> Typed:
    try:
        unit = parse(wanted, scope.atoms)
    except LedgerError as error:
        problem = error.problems[0]
        raise _wrong(expr, scope, problem.what, problem.hint) from None
    ratio = factor(inner.kind.unit, unit) if inner.kind.kind == "number" else None
    if ratio is None:
        what = f"{spell(inner.kind.unit)} cannot be converted to {wanted!r}"
        raise _wrong(expr, scope, what, "both need the same dimension")
    scaled = _scaled(inner.expr, ratio, expr, scope)
    whole = inner.kind.whole and ratio.denominator == 1
    return Typed(scaled, Kind("number", unit, whole), inner.shown)


def _scaled(expr: Expr, ratio: Fraction, whole: Expr, scope: Scope) -> Expr:
    if max(ratio.numerator, ratio.denominator) > _LONGEST_FACTOR:
        raise _wrong(whole, scope, f"the factor {ratio} has more digits than a spreadsheet keeps")
    if ratio.numerator != 1:
        expr = call("mul", expr, Literal(float(ratio.numerator), start=expr.start))
    if ratio.denominator != 1:
        expr = call("div", expr, Literal(float(ratio.denominator), start=expr.start))
    return expr


def _as_text(op: str, parts: list[Typed]) -> tuple[str, list[Typed]]:
    """Return `same` for a comparison of texts; `!=` is `not same`, made by `_product`."""
    if op in {"eq", "ne"} and any(part.kind.kind == "text" for part in parts):
        return ("same" if op == "eq" else "differs"), parts
    return op, parts


def _check_kinds(op: str, parts: list[Typed], expr: Expr, scope: Scope) -> None:
    word = VOCABULARY["same" if op == "differs" else op]
    takes = word.takes + word.takes[-1:] * (len(parts) - len(word.takes))
    common = {part.kind.kind for part, wanted in zip(parts, takes, strict=True) if wanted == "any"}
    if len(common) > 1:
        raise _wrong(
            expr, scope, f"the two answers of 'if' are {' and '.join(sorted(common))}: {word.meaning}"
        )
    for part, wanted in zip(parts, takes, strict=True):
        if wanted not in {"any", part.kind.kind}:
            what = f"{op} takes {wanted}, not {part.kind.kind}: {word.meaning}"
            hint = "compare it first" if wanted == "bool" else ""
            raise _wrong(part.expr, scope, what, hint)


def _product(op: str, args: list[Expr], expr: Expr) -> Expr:
    match op, args:
        case "differs", _:
            return Call("not", (Call("same", tuple(args), start=expr.start),), start=expr.start)
        case "pow", [base, Literal(value=float() as exponent)] if exponent in range(2, _LARGEST_PRODUCT + 1):
            found = base
            for _ in range(int(exponent) - 1):
                found = call("mul", found, base)
            return found
    word = VOCABULARY[op]
    return word.expansion(*args) if word.expansion else Call(op, tuple(args), start=expr.start)


def _result(op: str, parts: list[Typed], expr: Expr, scope: Scope) -> Kind:
    if op == "differs":
        return Kind("bool")
    word = VOCABULARY[op]
    numbers = [part.kind for part in parts if part.kind.kind == "number"]
    whole = {"always": True, "never": False, "args": all(number.whole for number in numbers)}[word.whole]
    unit = _UNIT_RULES[word.units](parts, expr, scope) if numbers else COUNT
    gives = parts[-1].kind.kind if word.gives == "any" else word.gives
    if gives != "number":
        return Kind(gives)
    if op == "pow":
        whole = whole and isinstance(parts[1].expr, Literal) and float(parts[1].expr.value) >= 0
    return Kind("number", unit, whole)


def _equal(parts: list[Typed], expr: Expr, scope: Scope) -> Unit:
    bound = [part for part in parts if part.kind.kind == "number" and not part.kind.free]
    for part in bound[1:]:
        first, other = bound[0].kind.unit, part.kind.unit
        if not same(first, other):
            what = f"units differ: {spell(first)} and {spell(other)}"
            raise _wrong(expr, scope, what, _hint(first, other))
    return bound[0].kind.unit if bound else COUNT


def _hint(first: Unit, other: Unit) -> str:
    if factor(first, other) is not None:
        return f"write to(…, {spell(first)!r})"
    return "a number with a unit is an input with that unit, not a literal"


def _matching(parts: list[Typed], expr: Expr, scope: Scope) -> Unit:
    _equal(parts, expr, scope)
    return COUNT


def _bare(parts: list[Typed], expr: Expr, scope: Scope) -> Unit:
    for part in parts:
        if not same(part.kind.unit, COUNT):
            raise _wrong(
                expr, scope, f"{spell(part.kind.unit)} where a count is needed", "divide by a unit first"
            )
    return COUNT


def _power(parts: list[Typed], expr: Expr, scope: Scope) -> Unit:
    base, exponent = parts
    match exponent.expr:
        case Literal(value=float() as number) if number.is_integer() and base.kind.unit != COUNT:
            try:
                return power(base.kind.unit, int(number))
            except LedgerError as error:
                raise _wrong(expr, scope, error.problems[0].what) from None
    return _bare(parts, expr, scope)


def _root(parts: list[Typed], expr: Expr, scope: Scope) -> Unit:
    try:
        return root(parts[0].kind.unit)
    except LedgerError as error:
        raise _wrong(expr, scope, error.problems[0].what, error.problems[0].hint) from None


_UNIT_RULES: Mapping[str, Callable[[list[Typed], Expr, Scope], Unit]] = {
    "count": lambda _parts, _expr, _scope: COUNT,
    "equal": _equal,
    "matching": _matching,
    "bare": _bare,
    "power": _power,
    "root": _root,
    "product": lambda parts, _expr, _scope: multiply(parts[0].kind.unit, parts[1].kind.unit),
    "ratio": lambda parts, _expr, _scope: divide(parts[0].kind.unit, parts[1].kind.unit),
}
