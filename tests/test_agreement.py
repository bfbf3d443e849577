"""One formula, one value: an independent oracle, NumPy, IronCalc and LibreOffice agree."""

import io
import math
import os
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import engines
import numpy as np
import pytest
from engines import ErrorText
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from openpyxl.utils import get_column_letter
from oracle import Doubtful, Error, Number, answer
from strategies import LABELS, NAMES, UNITS, drawn, exact, expressions, records, rows

from ledger import units
from ledger.errors import Place
from ledger.expr import VOCABULARY, fold
from ledger.kinds import Kind, Scope, typed
from ledger.parse import parse
from ledger.targets import compile_to
from ledger.targets.excel import EXCEL
from ledger.targets.numpy import WORDS, literal
from ledger.values import ERROR_NAMES, NA, Values, texts

TOLERANCE = Fraction(1, 10**12)
#: LibreOffice saves 15 digits.
SAVED = Fraction(1, 10**14)
RANDOM = int(os.environ.get("LEDGER_RANDOM", "150"))
SCOPE = Scope(
    {name: Kind("text" if name in LABELS else "number", units.parse(UNITS.get(name, ""))) for name in NAMES},
    units.ATOMS,
    Place("formula"),
)


@dataclass(frozen=True)
class Outcome:
    """What one row of a formula amounts to: a value or an error's name, and whether it is a knife-edge."""

    value: object
    edge: bool = False


def column(name, table):
    """Return the values that the rows of `table` hold for `name`."""
    items = [row[name] for row in table]
    if name in LABELS:
        return texts(items)
    errors = np.array([NA if isinstance(item, Error) else 0 for item in items], dtype=np.uint8)
    data = np.array([np.nan if isinstance(item, Error) else item for item in items])
    return Values(data, errors if errors.any() else None)


def core(text):
    """Return the formula in core words, as every engine gets it."""
    return typed(parse(text), SCOPE).expr


def computed(text, table):
    """Return the outcome of each row by NumPy."""
    columns = {name: column(name, table) for name in NAMES}
    with np.errstate(all="ignore"):
        found = fold(
            core(text),
            lambda leaf: literal(leaf.value),
            lambda leaf: columns[leaf.id],
            lambda node, args: WORDS[node.op](*args),
        )
    shape = (len(table),)
    no = np.zeros(1, dtype=np.uint8)
    errors = np.broadcast_to(no if found.errors is None else found.errors, shape).tolist()
    edges = np.broadcast_to(no if found.edges is None else found.edges, shape).tolist()
    data = np.broadcast_to(found.data, shape).tolist()
    return [
        Outcome(ErrorText(ERROR_NAMES[code]) if code else value, bool(edge))
        for value, code, edge in zip(data, errors, edges, strict=True)
    ]


def expected(text, row):
    """Return what the oracle says: a Number, text, bool or ErrorText; None where rounding decides."""
    try:
        found = answer(text, exact(row), UNITS)
    except Doubtful:
        return None
    return ErrorText(found.name) if isinstance(found, Error) else found


def same(wanted, got, tolerance=TOLERANCE):
    """Whether `got` is what the oracle wants, a number up to `tolerance` and what doubles lose on the way."""
    if not isinstance(wanted, Number):
        return type(wanted) is type(got) and wanted == got
    if isinstance(got, bool) or not isinstance(got, int | float):
        return False
    return abs(Fraction(got) - wanted.value) <= max(wanted.slack, tolerance * abs(wanted.value))


@settings(max_examples=400, derandomize=True, deadline=None, database=None)
@given(
    st.sampled_from(("number", "bool", "text")).flatmap(expressions),
    st.lists(records(), min_size=1, max_size=4),
)
def test_numpy_gives_what_exact_arithmetic_gives(text, table):
    for row, outcome in zip(table, computed(text, table), strict=True):
        wanted = expected(text, row)
        assert wanted is None or same(wanted, outcome.value), (text, row, wanted, outcome)


FIRST_ROW = 5


def reference(name):
    """Return where the value of `name` stands on the row, column-absolute as in a ledger."""
    return f"${get_column_letter(2 + list(NAMES).index(name))}{{row}}"


def workbook(formulas, table):
    """Return a workbook without cached values: names across, then one column per formula."""
    book = Workbook()
    sheet = book.active
    for row, record in enumerate(table, FIRST_ROW):
        for position, item in enumerate(record.values(), 2):
            cell = sheet.cell(row, position, "=NA()" if isinstance(item, Error) else item)
            if isinstance(item, str):
                cell.data_type = "s"
        for position, formula in enumerate(formulas, 2 + len(NAMES)):
            sheet.cell(row, position, "=" + formula.format(row=row))
    out = io.BytesIO()
    book.save(out)
    return engines.strip_cached(out.getvalue())


def spelled(text):
    """Return the Excel formula of `text`, its row left open."""
    core_text = compile_to(EXCEL, core(text), lambda name: reference(name).format(row="\0"))
    return core_text.replace("{", "{{").replace("}", "}}").replace("\0", "{row}")
