"""The same input gives the same bytes on any day, in any place."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = ("ledger.toml", "README.md", "reports", "scenarios", "templates")
LATER = """
import sys, time, datetime
from unittest import mock
real = time.time
sys.argv = ["tile-ledger", "build"]
from ledger import cli
with mock.patch("time.time", lambda: real() + 40 * 86400):
    sys.exit(cli.main(["build"]))
"""


def project(folder):
    folder.mkdir(exist_ok=True)
    for name in PROJECT:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, copy_function=shutil.copyfile)
        else:
            shutil.copyfile(source, folder / name)
    for path in (folder / "reports").glob("*/*"):
        if path.suffix != ".toml" and path.parent.name != "models":
            path.unlink()
    return folder


def outputs(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (folder / "README.md", *sorted((folder / "reports").glob("*/*")))
        if path.suffix != ".toml" and path.parent.name != "pictures"
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "zone", "locale"),
    [("0", "UTC", "C"), ("1", "Asia/Shanghai", "C.UTF-8"), ("4294967295", "America/New_York", "POSIX")],
)
def test_same_bytes_under_other_seeds_zones_locales_folders_and_days(seed, zone, locale, tmp_path):
    folder = project(tmp_path / f"a folder {seed}" if seed == "1" else tmp_path)
    environment = {
        **os.environ,
        "PYTHONHASHSEED": seed,
        "TZ": zone,
        "LC_ALL": locale,
        "PYTHONPATH": str(ROOT),
    }
    subprocess.run(
        [sys.executable, "-c", LATER], cwd=folder, env=environment, check=True, capture_output=True
    )
    committed = outputs(ROOT)
    assert outputs(folder) == committed


def test_nothing_written_names_this_machine():
    found = []
    for path in sorted((ROOT / "reports").glob("*/*")):
        data = path.read_bytes()
        found += [f"{path.name}: {each!r}" for each in (str(ROOT).encode(), b"site-packages") if each in data]
    assert found == []


def test_no_committed_file_names_a_package_registry():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    wrong = re.compile(rb"https?://[^\s\"']*(?:npm|pypi|python)[^\s\"']*/|--(?:extra-)?index[-]url")
    names = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    found = [str(path) for path in names if path.is_file() and wrong.search(path.read_bytes())]
    assert found == []
