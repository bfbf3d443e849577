"""The declared language itself, so that a formula from a spreadsheet can be spelled in its words."""

from __future__ import annotations

from ledger.language.expr import ATOM, Fragment, Spelling, Target, Unsupported, function, infix
from ledger.values import number_text

_IF, _OR, _AND, _NOT, _COMPARE, _ADD, _MUL, _NEG, _POW = 5, 10, 15, 20, 25, 30, 40, 45, 50


def _literal(value: float | str) -> Fragment:
    if isinstance(value, str):
        return Fragment(repr(value))
    return Fragment(number_text(value), ATOM if value >= 0 else _NEG)


def _join(*parts: str) -> str:
    """Return an f-string of its parts: literal texts as they are, names in braces."""
    inside = (part[1:-1] if part[0] in "'\"" else f"{{{part}}}" for part in parts)
    return f"f'{''.join(inside)}'"


LANGUAGE = Target(
    "language",
    {
        "add": infix(" + ", _ADD),
        "sub": infix(" - ", _ADD),
        "mul": infix(" * ", _MUL),
        "div": infix(" / ", _MUL),
        "floordiv": infix(" // ", _MUL),
        "mod": infix(" % ", _MUL),
        "neg": Spelling(lambda a: f"-{a}", _NEG, (_NEG,)),
        "pow": Spelling(lambda a, b: f"{a} ** {b}", _POW, (ATOM, _NEG)),
        "eq": infix(" == ", _COMPARE, right=_ADD),
        "ne": infix(" != ", _COMPARE, right=_ADD),
        "lt": infix(" < ", _COMPARE, right=_ADD),
        "le": infix(" <= ", _COMPARE, right=_ADD),
        "gt": infix(" > ", _COMPARE, right=_ADD),
        "ge": infix(" >= ", _COMPARE, right=_ADD),
        "same": infix(" == ", _COMPARE, right=_ADD),
        "in": Spelling(lambda a, *options: f"{a} in ({', '.join(options)})", _COMPARE, (_ADD, 0)),
        "and": infix(" and ", _AND, right=_AND),
        "or": infix(" or ", _OR, right=_OR),
        "not": Spelling(lambda a: f"not {a}", _NOT, (_NOT,)),
        "if": Spelling(lambda test, yes, no: f"{yes} if {test} else {no}", _IF, (_OR, _OR, _IF)),
        "min": function("min", ", "),
        "max": function("max", ", "),
        "abs": function("abs", ", "),
        "floor": function("floor", ", "),
        "ceil": function("ceil", ", "),
        "sqrt": function("sqrt", ", "),
        "log2": function("log2", ", "),
        "align_up": function("align_up", ", "),
        "align_down": function("align_down", ", "),
        "to": function("to", ", "),
        "show": Unsupported("a printed number has cells of its own in a workbook"),
        "join": Spelling(_join),
    },
    _literal,
)
