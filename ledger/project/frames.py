"""Frames of pandas: a sheet's result as one, and one as the rows that are given to a sheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ledger.declarations.csv import Csv, excerpt, quoted
from ledger.display import answer
from ledger.display.answer import number
from ledger.errors import LedgerError, Place, Problem, joined
from ledger.plan.plan import ID, Claimed, Node, PrintedText
from ledger.project.rows import GivenRows
from ledger.values import ERROR_NAMES, Values, number_text, plain

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from ledger.book.render import EvaluatedReport

#: What a frame is called in errors.
_FRAME = "frame"
#: What a column of a kind may hold, and what to do about something else.
_TYPES = (
    ("number", (int, float, np.integer, np.floating), "a column of numbers holds numbers alone"),
    ("text", (str,), "write it as a text: a number can be spelled in several ways"),
)


def sheet_frame(worked: EvaluatedReport, sheet: str) -> pd.DataFrame:
    """Return every name of a sheet as a column, one row per id.

    `attrs["units"]` holds the unit of each name that has one, `attrs["errors"]` the name of each error value
    by column and id.  An error value is missing, and so is a claim in a row for which it is not meant.
    """
    result = worked.result.sheets[sheet]
    known = result.values  # noqa: PD011  # a result is no frame
    nodes = {
        name: node
        for name, node in worked.plan.sheets[sheet].nodes.items()
        if name != ID and not isinstance(node.how, PrintedText)
    }
    index = pd.Index(result.ids, name=ID, dtype=object)
    columns = {name: _column(node, known[name], index) for name, node in nodes.items()}
    frame = pd.DataFrame(columns, index=index)
    frame.attrs["units"] = {name: node.unit for name, node in nodes.items() if node.unit}
    errors = {name: _errors(known[name], result.ids) for name in nodes}
    frame.attrs["errors"] = {name: found for name, found in errors.items() if found}
    return frame


def _column(node: Node, values: Values, index: pd.Index[str]) -> pd.Series[float] | pd.Series[str]:
    """Return the values of a name for every row, None or NaN where there is an error."""
    data = np.broadcast_to(values.data, (len(index),))
    wrong = np.broadcast_to(values.codes() > 0, (len(index),))
    if isinstance(node.how, Claimed):
        wrong = wrong | np.array([each == "" for each in data.tolist()])
    if node.kind.kind == "text" and not isinstance(node.how, Claimed):
        items = zip(data.tolist(), wrong.tolist(), strict=True)
        return pd.Series([None if missing else str(item) for item, missing in items], index=index)
    return pd.Series(np.where(wrong, np.nan, np.where(wrong, 0.0, data).astype(np.float64)), index=index)


def _errors(values: Values, ids: tuple[str, ...]) -> dict[str, str]:
    """Return the name of each error in a column by the id of its row."""
    if values.errors is None:
        return {}
    codes = np.broadcast_to(values.errors, (len(ids),))
    return {ids[row]: ERROR_NAMES[codes[row]] for row in np.flatnonzero(codes).tolist()}


def csv_text(frame: pd.DataFrame) -> str:
    """Return the frame of a sheet as CSV, its numbers with every digit; an error goes by its name.

    The last line has no end.
    """
    return str(pd.DataFrame(_texts(frame), index=frame.index).to_csv(lineterminator="\n")).removesuffix("\n")


def json_text(frame: pd.DataFrame) -> str:
    """Return the frame of a sheet as one JSON object: a row by column, an error by its name."""
    columns: dict[str, list[str] | list[float | int | str | None]] = {ID: [*frame.index]}
    for name, texts in _texts(frame).items():
        columns[name] = [*map(number, texts)] if pd.api.types.is_numeric_dtype(frame[name]) else texts
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return answer.json_text({"rows": rows})


def _texts(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return the texts of each column, with every digit; an error goes by its name."""
    errors = frame.attrs["errors"]
    return {
        str(name): [
            errors.get(name, {}).get(row) or ("" if pd.isna(item) else plain(item))
            for row, item in frame[name].items()
        ]
        for name in frame
    }


def frame_rows(frame: pd.DataFrame) -> GivenRows:
    """Return the rows of a frame; raise a LedgerError if it has no rows, or two columns of one name.

    A row goes by the column `id`, else by its label in the index; by its number where nobody named the rows.
    """
    headers = [str(each) for each in frame.columns]
    twice = sorted({each for each in headers if headers.count(each) > 1})
    if twice:
        raise LedgerError(Problem(f"two columns are called {joined(twice, 8)}", Place(_FRAME), "rename one"))
    if frame.empty:
        raise LedgerError(Problem("the frame has no rows", Place(_FRAME), "give at least one"))
    columns = {name: frame.iloc[:, i].tolist() for i, name in enumerate(headers)}
    labels = frame.index.tolist()
    key: tuple[str, ...] = (ID,)
    if ID not in columns:
        # A range is what pandas counts rows with, where nobody named them.
        key = () if isinstance(frame.index, pd.RangeIndex) else (ID,)
        columns = {ID if key else "#": [_cell(each) for each in labels], **columns}
    units = frame.attrs.get("units")
    return GivenRows(
        _csv(columns, labels),
        tuple(name for name in columns if name in headers or key),
        key,
        {str(name): str(unit) for name, unit in units.items()} if isinstance(units, Mapping) else {},
        dict(each for name in headers for each in _unfit(name, columns[name], labels)),
    )


def _unfit(
    name: str, items: Sequence[object], labels: Sequence[Hashable]
) -> Iterator[tuple[tuple[str, str], Problem]]:
    """Yield the problem of a column's first element that is no number, and of the first that is no text."""
    present = [(item, label) for item, label in zip(items, labels, strict=True) if not _is_missing(item)]
    for kind, types, hint in _TYPES:
        for item, label in present:
            if not isinstance(item, types) or isinstance(item, bool):
                what = f"{excerpt(str(item))} is of type {type(item).__name__}, not a {kind}"
                yield (name, kind), Problem(what, Place(f"{_FRAME}.loc[{label!r}, {name!r}]"), hint)
                break


def _csv(columns: Mapping[str, Sequence[object]], labels: Sequence[Hashable]) -> Csv:
    """Return columns as the text of a CSV, whose rows are called as the frame calls them."""
    cells = [[quoted(name), *(quoted(_cell(item)) for item in items)] for name, items in columns.items()]
    lines = [",".join(line) + "\n" for line in zip(*cells, strict=True)]
    starts = np.cumsum([len(line) for line in lines]).tolist()
    return Csv(_FRAME, "".join(lines), dict(zip(starts, map(repr, labels), strict=False)))


def _is_missing(item: object) -> bool:
    return item is None or item is pd.NA or item is pd.NaT or (isinstance(item, float) and item != item)  # noqa: PLR0124


def _cell(item: object) -> str:
    """Return an element as a CSV has it: a number with every digit, nothing for what is missing."""
    if _is_missing(item):
        return ""
    return number_text(float(item)) if isinstance(item, float | np.floating) else str(item)
