"""A sheet's result as a pandas frame, and that as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ledger.plan.plan import PrintedText
from ledger.values import ERROR_NAMES, Values, number_text, plain, texts

if TYPE_CHECKING:
    from ledger.book.render import EvaluatedReport


def sheet_frame(worked: EvaluatedReport, sheet: str) -> pd.DataFrame:
    """Return every name of a sheet as a column, one row per id; an error goes by its name."""
    result = worked.result.sheets[sheet]
    known = result.values  # noqa: PD011  # a result is no frame
    nodes = worked.plan.sheets[sheet].nodes
    names = [name for name, node in nodes.items() if not isinstance(node.how, PrintedText)]
    length = len(result.ids)
    return pd.DataFrame({name: _column(known[name], length) for name in names})


def _column(values: Values, length: int) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    data = values.data
    if data.dtype == np.float64:
        data = np.array(
            [number_text(each) if np.isfinite(each) else "" for each in data.tolist()], dtype=object
        )
    elif data.dtype == object:
        data = texts([plain(each) for each in data.tolist()]).data
    if values.errors is not None:
        data = np.where(values.errors > 0, np.array(ERROR_NAMES, dtype=object)[values.errors], data)
    return np.broadcast_to(data, (length,))


def csv_text(frame: pd.DataFrame) -> str:
    """Return a frame as CSV, its numbers with every digit; the last line has no end."""
    return str(frame.to_csv(index=False, lineterminator="\n")).removesuffix("\n")
