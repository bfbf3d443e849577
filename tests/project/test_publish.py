"""Outputs are written whole or not at all, and only when they differ."""

from __future__ import annotations

import errno
import os
import select
import shutil
import signal
import stat
import subprocess
import sys

import pytest
from projects import ROOT, digests, edit, ledger, write_book

from ledger.errors import LedgerError
from ledger.project.publish import UNCHANGED, WRITTEN, locked, publish

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
def old(tmp_path, monkeypatch):
    """Return a folder with two files of long ago; errors name files as they are called from there."""
    monkeypatch.chdir(tmp_path)
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
        assert str(told.value) == "a: cannot be written: No space left on device"
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
    with pytest.raises(LedgerError, match=r"^b: cannot be written: No space left on device$"):
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
        ("a/b", "a/b: cannot be written: Not a directory"),
        ("a/b/c", "a/b/c: cannot be written: Not a directory"),
        ("folder", "folder: cannot be written: Is a directory"),
    ],
)
def test_what_cannot_be_written_is_told_before_anything_is(path, told, old):
    (old / "folder").mkdir()
    before = content(old)
    with pytest.raises(LedgerError) as error:
        publish({old / "b": b"new", old / "new" / "file": b"new", old / path: b"new"})
    assert str(error.value) == told
    assert content(old) == before


@pytest.mark.parametrize(
    ("locked", "told"),
    [
        pytest.param("folder", "no permission in folder", marks=NO_ROOT),
        ("folder/file", "the file is read-only"),
    ],
)
def test_missing_permission_is_told_before_anything_is_written(locked, told, old):
    (old / "folder").mkdir()
    (old / "folder" / "file").write_bytes(b"old")
    before = content(old)
    (old / locked).chmod(0o500)
    try:
        with pytest.raises(LedgerError, match=f"^folder/file: cannot be written: {told}$"):
            publish({old / "a": b"new", old / "folder" / "file": b"new"})
        assert content(old) == before
    finally:
        (old / locked).chmod(0o700)


def test_every_read_only_file_is_told_at_once(old):
    for name in ("a", "b"):
        (old / name).chmod(0o444)
    with pytest.raises(LedgerError) as error:
        publish({old / "a": b"new", old / "b": b"new", old / "c": b"new"})
    assert str(error.value).splitlines() == [
        "a: cannot be written: the file is read-only",
        "b: cannot be written: the file is read-only",
    ]
    assert content(old) == {"a": b"old a", "b": b"old b"}


def test_read_only_file_that_need_not_change_is_no_trouble(old):
    (old / "a").chmod(0o444)
    assert publish({old / "a": b"old a"}) == {old / "a": UNCHANGED}


@pytest.mark.parametrize("rewritten", ["a", "b"])
def test_file_that_changed_since_it_was_read_is_not_written_over(rewritten, old):
    """Also while the other files are written beside theirs: that takes the time of a whole book."""
    fsync = os.fsync

    def edits(handle):
        (old / "a").write_bytes(b"an edit")
        fsync(handle)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", edits)
        with pytest.raises(LedgerError, match=r"^a: changed while building\n  nothing is lost: build again$"):
            publish({old / rewritten: b"new"}, {old / "a": b"old a"})
    assert content(old) == {"a": b"an edit", "b": b"old b"}


def test_file_that_went_since_it_was_read_stays_away(old):
    (old / "a").unlink()
    with pytest.raises(LedgerError, match=r"^a: changed while building"):
        publish({old / "a": b"new"}, {old / "a": b"old a"})
    assert content(old) == {"b": b"old b"}


@pytest.mark.parametrize("new", [b"old a", b"new"], ids=["unchanged", "written"])
def test_what_a_killed_run_left_is_removed(new, old):
    (old / ".tile-ledger-abc.tmp").write_bytes(b"half a fi")
    (old / "tile-ledger.tmp").write_bytes(b"an author's")
    publish({old / "a": new})
    assert content(old) == {"a": new, "b": b"old b", "tile-ledger.tmp": b"an author's"}


def test_name_as_long_as_a_name_can_be_is_written(old):
    publish({old / ("n" * 255): b"new"})
    assert content(old)["n" * 255] == b"new"


# A whole build, killed and met by another.

KILLED = """
import os, signal, sys
from ledger import cli
from ledger.project import publish

left, step = int(sys.argv[1]), sys.argv[2]
real = getattr(publish, step)

def counted(*arguments):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return real(*arguments)

setattr(publish, step, counted)
cli.main(["build"])
"""


def started(folder, *arguments):
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """Return a book whose input changed since it was built, and the files that it had and is to have."""
    book = write_book(tmp_path_factory.mktemp("killed") / "book")
    old = digests(book)
    edit(book / "scenarios/machines.csv", "3.0", "3.35")
    new = shutil.copytree(book, book.parent / "new")
    assert ledger(new, "build").code == 0
    return book, old, digests(new)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("left", "step"), [(0, "_staged"), (4, "_staged"), (0, "_replace"), (1, "_replace"), (7, "_replace")]
)
def test_a_killed_build_leaves_each_file_old_or_new(left, step, books, tmp_path):
    source, old, new = books
    book = shutil.copytree(source, tmp_path / "book")
    with started(book, "-c", KILLED, str(left), step) as killed:
        assert killed.wait() == -signal.SIGKILL
    found = digests(book)
    temporaries = {name for name in found if "/.tile-ledger-" in name}
    assert bool(temporaries) == ((left, step) != (0, "_staged"))
    changed = "scenarios/machines.csv"
    torn = [
        name for name in found.keys() - temporaries - {changed} if found[name] not in {old[name], new[name]}
    ]
    assert torn == []
    assert sum(found[name] != old[name] for name in found.keys() - temporaries - {changed}) == (
        left if step == "_replace" else 0
    )
    assert ledger(book, "check").code == 1
    assert ledger(book, "build").code == 0
    assert digests(book) == new


@pytest.mark.slow
def test_two_builds_at_once_end_with_the_right_bytes(books, tmp_path):
    source, _, new = books
    book = shutil.copytree(source, tmp_path / "book")
    builds = [started(book, "-m", "ledger", "build") for _ in range(3)]
    said = [build.communicate() for build in builds]
    assert [build.returncode for build in builds] == [0, 0, 0], said
    assert digests(book) == new
    # They came one after the other: the first wrote all that differed.
    assert sorted(out.count("written ") > 0 for out, _ in said) == [False, False, True]


@pytest.mark.slow
def test_a_build_waits_for_the_one_that_runs(books, tmp_path):
    source, _, new = books
    book = shutil.copytree(source, tmp_path / "book")
    with locked(book / "ledger.toml"):
        build = started(book, "-m", "ledger", "build")
        with pytest.raises(subprocess.TimeoutExpired):
            build.wait(timeout=2)
        assert digests(book) == digests(source)
    assert build.wait() == 0
    build.communicate()
    assert digests(book) == new


# What locks where there is no flock: the real msvcrt is on Windows alone, and was not run.

ON_WINDOWS = """
import fcntl, os, sys, tempfile, time, types  # all that asks for the system when it is imported
from pathlib import Path

def locking(handle, mode, count):
    # As Microsoft documents it: ten tries, one a second (here shorter), then an error.
    assert os.lseek(handle, 0, os.SEEK_CUR) > os.fstat(handle).st_size
    for _ in range(2):
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.05)
    raise OSError(36, "Resource deadlock avoided")

sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_LOCK=1)
here, sys.platform = sys.platform, "win32"
from ledger.project import publish
with publish.locked(Path(sys.argv[1])):
    sys.platform = here
    print("held", flush=True)
    sys.stdin.read()
print("left", flush=True)
"""


def test_a_build_on_windows_waits_for_the_one_that_runs(tmp_path):
    """Past the ten tries of the system's own function, and without a byte that is read."""
    path = tmp_path / "ledger.toml"
    path.write_text('language = "en"\n', encoding="utf-8")
    first, second = (
        subprocess.Popen(
            [sys.executable, "-c", ON_WINDOWS, path],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    )
    held = {each.stdout.fileno(): each for each in (first, second)}
    (ready,), _, _ = select.select(held, [], [], 60)
    holder = held.pop(ready)
    (waiter,) = held.values()
    assert holder.stdout.readline() == "held\n"
    assert select.select([waiter.stdout], [], [], 1)[0] == []
    assert holder.communicate()[0] == "left\n"
    assert waiter.stdout.readline() == "held\n"
    assert waiter.communicate()[0] == "left\n"
    assert [each.name for each in tmp_path.iterdir()] == ["ledger.toml"]
