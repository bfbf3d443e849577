"""Outputs are written whole or not at all, and only when they differ."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from ledger.errors import LedgerError
from ledger.publish import UNCHANGED, WRITTEN, publish

LONG_AGO = 1_000_000_000 * 10**9
NO_ROOT = pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind the root user")


class Crash(BaseException):
    """What no handler of ours expects, such as a killed process."""


def content(folder):
    """Return every path below `folder`, a file with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def old(tmp_path):
    """Return a folder with two files of long ago."""
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"old " + name.encode())
        os.utime(tmp_path / name, ns=(LONG_AGO, LONG_AGO))
    return tmp_path


def test_file_that_differs_is_written_and_its_folders_are_made(tmp_path):
    path = tmp_path / "a" / "b" / "c.md"
    assert publish({path: b"new"}) == {path: WRITTEN}
    assert content(tmp_path) == {"a": None, "a/b": None, "a/b/c.md": b"new"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_file_that_is_the_same_is_not_touched(old):
    inode = (old / "a").stat().st_ino
    assert publish({old / "a": b"old a", old / "b": b"new"}) == {old / "a": UNCHANGED, old / "b": WRITTEN}
    assert ((old / "a").stat().st_mtime_ns, (old / "a").stat().st_ino) == (LONG_AGO, inode)
    assert content(old) == {"a": b"old a", "b": b"new"}


def test_second_publish_touches_nothing(old):
    files = {old / "a": b"", old / "c" / "d": b"\x00"}
    publish(files)
    times = {path: path.stat().st_mtime_ns for path in files}
    assert publish(files) == dict.fromkeys(files, UNCHANGED)
    assert {path: path.stat().st_mtime_ns for path in files} == times


def test_reader_keeps_the_file_that_it_opened(old):
    with (old / "a").open("rb") as reader:
        publish({old / "a": b"new and longer than it was"})
        assert reader.read() == b"old a"


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), Crash()])
def test_failure_leaves_the_old_files_and_no_other(step, failure, old, monkeypatch):
    def fails(*_arguments, **_options):
        raise failure

    monkeypatch.setattr(os, step, fails)
    expected = LedgerError if isinstance(failure, OSError) else Crash
    with pytest.raises(expected) as told:
        publish({old / "b": b"new", old / "a": b"new"})
    if expected is LedgerError:
        assert str(told.value) == "a cannot be written: No space left on device"
    assert content(old) == {"a": b"old a", "b": b"old b"}


def test_disk_that_is_full_at_the_second_file_leaves_the_first(old, monkeypatch):
    calls = []
    fsync = os.fsync

    def full(handle):
        calls.append(handle)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LedgerError, match=r"^b cannot be written: No space left on device$"):
        publish({old / "a": b"new", old / "b": b"new"})
    assert content(old) == {"a": b"old a", "b": b"old b"}


def test_mode_is_kept(old):
    (old / "a").chmod(0o640)
    publish({old / "a": b"new"})
    assert stat.S_IMODE((old / "a").stat().st_mode) == 0o640


def test_link_is_kept_and_followed(old):
    (old / "far").mkdir()
    (old / "far" / "target").write_bytes(b"old")
    (old / "link").symlink_to("far/target")
    assert publish({old / "link": b"new"}) == {old / "link": WRITTEN}
    assert (old / "link").is_symlink()
    assert content(old / "far") == {"target": b"new"}


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("a/b", "b cannot be written: Not a directory"),
        ("a/b/c", "c cannot be written: Not a directory"),
        ("folder", "folder cannot be written: Is a directory"),
    ],
)
def test_what_cannot_be_written_is_told_before_anything_is(path, told, old):
    (old / "folder").mkdir()
    before = content(old)
    with pytest.raises(LedgerError) as error:
        publish({old / "b": b"new", old / "new" / "file": b"new", old / path: b"new"})
    assert str(error.value) == told
    assert content(old) == before


@pytest.mark.parametrize("locked", [pytest.param("folder", marks=NO_ROOT), "folder/file"])
def test_missing_permission_is_told_before_anything_is_written(locked, old):
    (old / "folder").mkdir()
    (old / "folder" / "file").write_bytes(b"old")
    before = content(old)
    (old / locked).chmod(0o500)
    try:
        with pytest.raises(LedgerError, match=r"^file cannot be written: no permission in folder$"):
            publish({old / "a": b"new", old / "folder" / "file": b"new"})
        assert content(old) == before
    finally:
        (old / locked).chmod(0o700)
