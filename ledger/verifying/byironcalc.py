"""A workbook recalculated by IronCalc, in a process of its own.

The engine is a library, and could be called here; but a formula that it never ends or dies of would take the
command with it.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Problem
from ledger.returned.cells import ErrorValue
from ledger.verifying.engine import EngineError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from ledger.verifying.engine import Sheets

PACKAGE = "ironcalc"


def recalculated(xlsx: bytes, seconds: float) -> Sheets:
    """Return every cell of a workbook that is not empty; raise an EngineError where IronCalc fails."""
    if find_spec(PACKAGE) is None:
        hint = "pip install 'tile-ledger[verify]', or take another engine: --engine libreoffice"
        raise LedgerError(Problem(f"{PACKAGE} is not installed", hint=hint))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.xlsx"
        path.write_bytes(xlsx)
        found = _asked(str(path), seconds)
    if isinstance(found, str):
        raise EngineError(found)
    return found


def _asked(path: str, seconds: float) -> Sheets | str:
    """Return what a new process answers."""
    fresh = multiprocessing.get_context("spawn")
    receiver, sender = fresh.Pipe(duplex=False)
    child = fresh.Process(target=_answer, args=(sender, path), daemon=True)
    child.start()
    # Only the child holds the end that it writes to, so that its death is seen.
    sender.close()
    try:
        if not receiver.poll(seconds):
            return f"took longer than {seconds:g} s"
        answer: Sheets | str = receiver.recv()
    except EOFError:
        return "crashed"
    else:
        return answer
    finally:
        child.kill()
        child.join()
        receiver.close()


def _answer(sender: Connection, path: str) -> None:
    import ironcalc  # noqa: PLC0415  # an extra: whoever has not installed it has been told

    # An engine that dies writes a trace of its own code.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        model = ironcalc.load_from_xlsx(path, "en", "UTC", "en")
        model.evaluate()
    except ironcalc.WorkbookError as error:
        sender.send(f"cannot load it: {error}")
        return
    titles = [each["name"] for each in model.get_worksheets_properties()]
    sheets: Sheets = {title: {} for title in titles}
    for sheet, row, column in model.get_all_cells():
        value = model.get_cell_value(sheet, row, column)
        if value is not None:
            is_error = model.get_cell_type(sheet, row, column) == ironcalc.CellType.ErrorValue
            sheets[titles[sheet]][row, column] = ErrorValue(str(value)) if is_error else value
    sender.send(sheets)
