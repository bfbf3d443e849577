"""One display rule: the text it prints, and the Excel formulas that print the same.

Round half to even, where a tie is anything within 1e-12 of one (relative, at most 1e-6 of the last digit).
A number format cannot do this: engines round it differently, and none has binary or significant digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ledger import units
from ledger.errors import LedgerError, Problem, near
from ledger.ladders import Ladder, Rule, Step, ladder
from ledger.values import DIV0, ERROR_NAMES, NA, NUM, Values, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ledger.units import Unit

__all__ = [
    "BLANK",
    "Ladder",
    "Ranges",
    "Rule",
    "Step",
    "Worked",
    "default_rule",
    "excel",
    "excel_text",
    "excel_truth",
    "ladder",
    "number_format",
    "parse",
    "printed",
    "worked",
]

#: What is printed where there is no value.
BLANK = "—"
_ERRORS = {DIV0: ERROR_NAMES[DIV0], NUM: ERROR_NAMES[NUM], NA: BLANK}
_NEAR = 1e-12
_TIE = 1e-6
_LIFTED = 1e6
_MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class _Kind:
    """What may follow the name of a kind: digits from `least` on (None: no digits), a unit."""

    least: int | None
    takes_unit: bool


_KINDS = {
    "integer": _Kind(None, takes_unit=True),
    "fixed": _Kind(0, takes_unit=True),
    "si": _Kind(1, takes_unit=True),
    "iec": _Kind(1, takes_unit=True),
    "percent": _Kind(0, takes_unit=False),
    "scientific": _Kind(1, takes_unit=True),
    "text": _Kind(None, takes_unit=False),
}


@dataclass(frozen=True, slots=True, eq=False)
class Worked:
    """What the cells of `excel` hold for each element; where there is no value k is the text of the error."""

    k: Values
    y: Values
    n: Values


@dataclass(frozen=True, slots=True)
class Ranges:
    """Where a ladder stands in the workbook: the absolute range of each of its columns."""

    starts: str
    scales: str
    powers: str
    suffixes: str


def parse(text: str, atoms: Mapping[str, Unit] = units.ATOMS) -> Rule:
    """Return the rule that `text` spells; a LedgerError with one problem if it spells none.

    >>> parse("fixed 1 TB/s")
    Rule(kind='fixed', digits=1, unit='TB/s')
    """
    words = text.split()
    if not words or words[0] not in _KINDS:
        what = f"{words[0]!r} is not a display rule" if words else "a display rule is empty"
        raise LedgerError(Problem(what, hint=near(words[0] if words else "", _KINDS)))
    name, *rest = words
    kind, digits = _KINDS[name], 0
    if kind.least is not None:
        if not rest or not rest[0].isdecimal() or not kind.least <= int(rest[0]) <= _MAX_DIGITS:
            what = f"display {text!r}: {name!r} needs a number of digits from {kind.least} to {_MAX_DIGITS}"
            raise LedgerError(Problem(what, hint=f"write '{name} 2'"))
        digits = int(rest.pop(0))
    unit = " ".join(rest)
    if unit and not kind.takes_unit:
        hint = f"{', '.join(each for each in _KINDS if _KINDS[each].takes_unit)} can end in a unit"
        raise LedgerError(Problem(f"display {text!r}: {unit!r} cannot stand behind {name!r}", hint=hint))
    rule = Rule(name, digits, unit)
    if unit:
        ladder(rule, units.parse(unit, atoms), unit, atoms)
    return rule


def default_rule(kind: str, unit: Unit) -> Rule:
    """Return how a column is printed that declares nothing: by its kind and its unit."""
    names = sorted((power, name) for name, power in unit.dimension)
    if kind in {"text", "bool"}:
        return Rule("text")
    if kind == "integer" and unit == units.COUNT:
        return Rule("integer")
    if names == [(1, "B")]:
        return Rule("iec", 4)
    one = len(names) == 1 and names[0] in {(1, names[0][1]), (-1, "s")}
    rate = len(names) == len(("B", "s")) and names[0] == (-1, "s") and names[1][0] == 1
    return Rule("si", 4) if one or rate else Rule("fixed", 2)


def number_format(rule: Rule, unit: Unit) -> str:
    """Return Excel's number format for reading a cell that keeps the full value, in its own unit."""
    places = "." + "0" * rule.digits if rule.digits else ""
    whole = rule.kind in {"si", "iec"} and unit in {units.parse("B"), units.parse("FLOP")}
    match rule.kind:
        case "integer" if not rule.unit:
            return "#,##0"
        case "fixed" if not rule.unit:
            return f"#,##0{places}"
        case "percent" if unit == units.COUNT:
            return f"0{places}%"
        case "scientific":
            return f"0{places}E+00"
    return "#,##0" if whole else "General"


def printed(by: Ladder, values: Values) -> list[str]:
    """Return the text of each element: a number by the ladder, else a truth value or a text."""
    if values.data.dtype == np.bool_:
        texts = ["TRUE" if each else "FALSE" for each in values.data.tolist()]
    elif values.data.dtype == object:
        texts = [plain(each) for each in values.data.tolist()]
    else:
        data = values.data if values.errors is None else np.where(values.errors > 0, 0.0, values.data)
        texts = _numbers(by, data.astype(np.float64))
    if values.errors is not None:
        for index in np.flatnonzero(values.errors).tolist():
            texts[index] = _ERRORS[int(values.errors[index])]
    return texts


def _numbers(by: Ladder, data: npt.NDArray[np.float64]) -> list[str]:
    if not by.steps:
        raise LedgerError(
            Problem("display 'text' does not print a number", hint="write 'integer' or 'fixed 2'")
        )
    k, _, n = _scaled(by, data)
    powers = np.array([each.power for each in by.steps])[k]
    signs = np.where((data < 0) & (n > 0), "-", "").tolist()
    suffixes = [by.steps[each].suffix for each in k.tolist()]
    if by.keep_zeros:
        digits = [_decimal(int(each), by.places) for each in n.tolist()]
    else:
        digits = [f"{each:.15g}" for each in (n / powers).tolist()]
    return [a + b + c for a, b, c in zip(signs, digits, suffixes, strict=True)]


def _scaled(
    by: Ladder, data: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the row (from 0) that each number takes, the number in its unit, and that rounded."""
    size = np.abs(data)
    with np.errstate(over="ignore"):  # the last row has no end
        k = np.searchsorted([each.start for each in by.steps], size * by.nearly, side="right") - 1
    powers = np.array([each.power for each in by.steps])[k]
    y = size / np.array([each.scale for each in by.steps])[k] * powers
    return k, y, _half_even(y)


def worked(by: Ladder, values: Values) -> Worked:
    """Return the values of the cells k, y and n that print `values` in a workbook."""
    errors = values.errors
    k, y, n = _scaled(by, values.data if errors is None else np.where(errors > 0, 0.0, values.data))
    rows = (k + 1).astype(np.float64)
    if errors is None:
        return Worked(Values(rows), Values(y), Values(n))
    texts = np.where(
        errors > 0, np.array(["", *(_ERRORS[code] for code in (DIV0, NUM, NA))])[errors], rows.astype(object)
    )
    return Worked(Values(texts), Values(y, errors), Values(n, errors))


def _half_even(y: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    whole = np.floor(y)
    tie = np.abs(y - whole - 0.5) <= np.minimum(y * _NEAR, _TIE)
    return np.where(tie, 2 * np.floor((whole + 1) / 2), np.rint(y))


def _decimal(n: int, places: int) -> str:
    whole, rest = divmod(n, 10**places)
    return f"{whole}.{rest:0{places}d}" if places else str(whole)


def excel(by: Ladder, x: str, k: str, y: str, n: str, at: Ranges) -> tuple[str, str, str, str]:
    """Return the formulas of the cells `k`, `y`, `n` and of the text that prints the cell `x`.

    Where x is an error, k is its text; no function is used whose result differs between engines.
    """
    if by.keep_zeros and by.places:
        unit = 10**by.places
        whole = f"INT({n}/{unit})"
        digits = f'{whole}&"."&RIGHT({unit}+{n}-{whole}*{unit},{by.places})'
    elif by.keep_zeros:
        digits = n
    else:
        digits = f'SUBSTITUTE({n}/INDEX({at.powers},{k})&"",",",".")'
    # IronCalc finds -1E-17 < 0 false, so it is asked in the unit of the smallest row.
    sign = f"{x}<0" if by.nearly < _LIFTED else f"{x}*1E30<0"
    tie = f"ABS({y}-INT({y})-0.5)<=MIN({y}*1E-12,1E-6)"
    return (
        _unless_error(x, f"MATCH(ABS({x})*{str(by.nearly).upper()},{at.starts})"),
        f"ABS({x})/INDEX({at.scales},{k})*INDEX({at.powers},{k})",
        # Not ROUND, which IronCalc takes of 15 digits, nor INT(y+0.5), which LibreOffice does.
        f"IF({tie},2*INT((INT({y})+1)/2),INT({y})+IF({y}-INT({y})>0.5,1,0))",
        f'IF(ISTEXT({k}),{k},IF(AND({sign},{n}>0),"-","")&{digits}&INDEX({at.suffixes},{k}))',
    )


def excel_text(x: str) -> str:
    """Return the formula that prints the text in the cell `x`."""
    return _unless_error(x, f'{x}&""')


def excel_truth(x: str) -> str:
    """Return the formula that prints the truth value in the cell `x`."""
    return _unless_error(x, f'IF({x},"TRUE","FALSE")')


def _unless_error(x: str, formula: str) -> str:
    # LibreOffice gives #N/A for ERROR.TYPE of #NUM!.
    named = f'IF(IFERROR(ERROR.TYPE({x}),6)=2,"{ERROR_NAMES[DIV0]}","{ERROR_NAMES[NUM]}")'
    return f'IF(ISNA({x}),"{BLANK}",IF(ISERROR({x}),{named},{formula}))'
