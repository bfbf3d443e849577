"""A workbook recalculated by LibreOffice, in a profile of its own that ends with it.

The profile recalculates always, runs no macro, follows no link, and leads the network nowhere.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Problem
from ledger.returned.received import received
from ledger.verifying.engine import EngineError

if TYPE_CHECKING:
    from ledger.verifying.engine import Sheets

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


def recalculated(xlsx: bytes, seconds: float) -> Sheets:
    """Return every cell of a workbook that is not empty; raise an EngineError where LibreOffice fails.

    Numbers have 15 digits, and `#NUM!` is `#VALUE!`: so it saves them.
    """
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        hint = "install LibreOffice, or take another engine: --engine ironcalc"
        raise LedgerError(Problem("soffice, the program of LibreOffice, is not on the PATH", hint=hint))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, saved = folder / "book.xlsx", folder / "saved" / "book.xlsx"
        path.write_bytes(xlsx)
        command = [program, f"-env:UserInstallation={_profile(folder).as_uri()}", "--headless"]
        command += ["--convert-to", "xlsx", "--outdir", str(saved.parent), str(path)]
        told = _ran(command, folder, seconds)
        if not saved.is_file():
            raise EngineError(f"cannot load it: {told}" if told else "crashed")
        book = received("the copy that LibreOffice saved", saved.read_bytes())
    return {
        title: {(row, column): cell.value for row in sheet.rows for column, cell in sheet.rows[row].items()}
        for title, sheet in book.sheets.items()
    }


def _profile(folder: Path) -> Path:
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    items = "".join(_ITEM.format(path, name, value) for (path, name), value in _SETTINGS.items())
    (profile / "user" / "registrymodifications.xcu").write_text(_PROFILE.format(items), encoding="utf-8")
    return profile


def _ran(command: list[str], folder: Path, seconds: float) -> str:
    """Return the errors that a program told; raise an EngineError where it did not end in time."""
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
        told, _ = started.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise EngineError(f"took longer than {seconds:g} s") from None
    finally:
        # What is started starts the program proper, which would outlive it.
        if started.poll() is None:
            if own_group:
                os.killpg(started.pid, signal.SIGKILL)
            started.kill()
            started.communicate()
    return "; ".join(line for line in told.splitlines() if line.startswith("Error"))
