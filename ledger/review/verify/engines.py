"""Spreadsheet engines that we did not write: how each recalculates a workbook, and where it is known to err.

IronCalc is a library, and could be called here; but a formula that it never ends or dies of would take the
command with it, so it runs in a process of its own.  LibreOffice runs in a profile of its own that ends with
it: the profile recalculates always, runs no macro, follows no link, and leads the network nowhere.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Problem
from ledger.xlsx.workbook import CellValue, ErrorValue, read_workbook

# Windows has no such limits.
limits = import_module("resource") if find_spec("resource") else None

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from multiprocessing.connection import Connection


#: The cells of each worksheet by row and column, from 1.
Sheets = dict[str, dict[tuple[int, int], CellValue]]


class EngineError(Exception):
    """What an engine could not do with a workbook: load it, or end in time."""


@dataclass(frozen=True, slots=True)
class Engine:
    """How an engine recalculates a workbook in so many seconds at most, and its errors that are known.

    `check` raises a LedgerError if the engine is not installed: that is asked before anything else is done.
    """

    check: Callable[[], object]
    recalculated: Callable[[bytes, float], Sheets]
    gaps: tuple[str, ...]


PACKAGE = "ironcalc"
_MOST_BYTES = 2 << 30


def _check_ironcalc() -> None:
    if find_spec(PACKAGE) is None:
        hint = "pip install 'tile-ledger[verify]', or take another engine: --engine libreoffice"
        raise LedgerError(Problem(f"{PACKAGE} is not installed", hint=hint))


def by_ironcalc(xlsx: bytes, seconds: float) -> Sheets:
    """Return every cell of a workbook that is not empty; raise an EngineError where IronCalc fails."""
    _check_ironcalc()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.xlsx"
        path.write_bytes(xlsx)
        found = _from_process(str(path), seconds)
    if isinstance(found, str):
        raise EngineError(found)
    return found


def _from_process(path: str, seconds: float) -> Sheets | str:
    """Return the cells that a new process computes, or why it computes none."""
    fresh = multiprocessing.get_context("spawn")
    receiver, sender = fresh.Pipe(duplex=False)
    child = fresh.Process(target=_send_cells, args=(sender, path), daemon=True)
    child.start()
    # Only the child holds the end that it writes to, so that its death is seen.
    sender.close()
    # A stranger's formulas may ask for more memory than there is.
    died = f"crashed, or needed more than {_MOST_BYTES >> 30} GiB of memory" if limits else "crashed"
    try:
        answer: Sheets | str = (
            receiver.recv() if receiver.poll(seconds) else f"took longer than {seconds:g} s"
        )
    except EOFError:
        return died
    else:
        return answer
    finally:
        child.kill()
        child.join()
        receiver.close()


def _send_cells(sender: Connection, path: str) -> None:
    """Send the cells of a workbook as IronCalc computes them, or why it cannot load the workbook."""
    import ironcalc  # noqa: PLC0415  # an extra: whoever has not installed it has been told

    # An engine that dies writes a trace of its own code.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    if limits:
        limits.setrlimit(limits.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
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


_PROGRAMS = ("soffice", "libreoffice", "/Applications/LibreOffice.app/Contents/MacOS/soffice")
_HOMES = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")
_SETTINGS = {
    ("Calc/Formula/Load", "OOXMLRecalcMode"): "0",
    ("Calc/Content/Update", "Link"): "1",
    ("Common/Security/Scripting", "DisableMacrosExecution"): "true",
    ("Common/Security/Scripting", "MacroSecurityLevel"): "3",
    ("Common/Security/Scripting", "BlockUntrustedRefererLinks"): "true",
    ("Inet/Settings", "ooInetProxyType"): "2",
    ("Inet/Settings", "ooInetHTTPProxyName"): "127.0.0.1",
    ("Inet/Settings", "ooInetHTTPProxyPort"): "9",
    ("Inet/Settings", "ooInetHTTPSProxyName"): "127.0.0.1",
    ("Inet/Settings", "ooInetHTTPSProxyPort"): "9",
}
_ITEM = (
    '<item oor:path="/org.openoffice.Office.{0}"><prop oor:name="{1}" oor:op="fuse">'
    "<value>{2}</value></prop></item>"
)
_PROFILE = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<oor:items xmlns:oor="http://openoffice.org/2001/registry">{}</oor:items>\n'
)


def _program() -> str:
    """Return the path of LibreOffice's program; raise a LedgerError if it is not installed."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        hint = "install LibreOffice, or take another engine: --engine ironcalc"
        raise LedgerError(Problem("soffice, the program of LibreOffice, is not on the PATH", hint=hint))
    return program


def by_libreoffice(xlsx: bytes, seconds: float) -> Sheets:
    """Return every cell of a workbook that is not empty; raise an EngineError where LibreOffice fails.

    Numbers have 15 digits, and `#NUM!` is `#VALUE!`: so it saves them.
    """
    program = _program()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, saved = folder / "book.xlsx", folder / "saved" / "book.xlsx"
        path.write_bytes(xlsx)
        command = [program, f"-env:UserInstallation={_profile(folder).as_uri()}", "--headless"]
        command += ["--convert-to", "xlsx", "--outdir", str(saved.parent), str(path)]
        errors = _errors_of(command, folder, seconds)
        if not saved.is_file():
            raise EngineError(f"cannot load it: {errors}" if errors else "crashed")
        book = read_workbook("the copy that LibreOffice saved", saved.read_bytes())
    return {
        title: {(row, column): cell.value for row, column, cell in sheet.cells()}
        for title, sheet in book.sheets.items()
    }


def _profile(folder: Path) -> Path:
    """Return the folder of a new profile of LibreOffice that holds the settings."""
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    items = "".join(_ITEM.format(path, name, value) for (path, name), value in _SETTINGS.items())
    (profile / "user" / "registrymodifications.xcu").write_text(_PROFILE.format(items), encoding="utf-8")
    return profile


def _errors_of(command: list[str], folder: Path, seconds: float) -> str:
    """Return the errors that a program printed; raise an EngineError where it did not end in time."""
    home = dict.fromkeys(_HOMES, str(folder))
    # A locale that writes a decimal comma would write it into texts.
    surroundings = {**os.environ, **home, "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8"}
    own_group = os.name == "posix"
    started = subprocess.Popen(  # noqa: S603  # no shell, and no argument comes from the workbook
        command,
        cwd=folder,
        env=surroundings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=own_group,
    )
    try:
        printed, _ = started.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise EngineError(f"took longer than {seconds:g} s") from None
    finally:
        # What is started starts the program proper, which would outlive it.
        if started.poll() is None:
            if own_group:
                os.killpg(started.pid, signal.SIGKILL)
            started.kill()
            started.communicate()
    return "; ".join(line for line in printed.splitlines() if line.startswith("Error"))


ENGINES: Mapping[str, Engine] = {
    "ironcalc": Engine(
        _check_ironcalc,
        by_ironcalc,
        (
            "IronCalc 0.9.1 reads a+(b-c) as a+b-c, which differs where b and c nearly cancel",
            "IronCalc 0.9.1 cuts a typed number to 15 digits",
            "IronCalc 0.9.1 has no ABS, EXACT or NOT over a range, and ISERROR counts wrongly over one",
        ),
    ),
    "libreoffice": Engine(
        _program,
        by_libreoffice,
        (
            "LibreOffice saves 15 digits, and #NUM! as #VALUE!",
            "LibreOffice makes 0 of a difference within some 1e-15 of its operands",
        ),
    ),
}
