"""Whether anything changed since the last build, found out without doing its work.

The stamp holds for each report and chapter the hash of every file that was opened for it, the name of every
file that was looked for and not found, what each pattern gave, and the hash of every output; for all of them
the engine and the libraries that write bytes.  What is said of a report is trusted where all of that matches,
so that deleting the stamp changes no answer.  This module imports next to nothing: a check with nothing to do
must not wait for a library.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

from ledger.declarations.files import hash_of, matching
from ledger.declarations.project import VERSION, packaged
from ledger.project.results import UNCHANGED, BuildResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ledger.declarations.files import Pattern
    from ledger.project.results import Said

    #: What the stamp holds of a report or a chapter: lists of numbers, and what is to be said of it.
    Entry = Mapping[str, Any]

#: The file of the stamp in a project's folder; git ignores it.
STAMP = ".ledger/stamp.json"
_VERSION = 4
_ENGINE = Path(__file__).parents[1]
#: The libraries by which a build reads and writes, as their distributions are called.
LIBRARIES = (
    *("et-xmlfile", "jinja2", "markdown-it-py", "markupsafe", "mdurl", "numpy", "openpyxl"),
    *("packaging", "pydantic", "pydantic-core"),
)
_DISTRIBUTIONS = (".dist-info", ".egg-info")


class Stamp:
    """What the last builds left of a project: reports and chapters that are as they were built.

    `reports` and `chapters` have the entries of those of which nothing changed; `is_whole` says that nothing
    at all did.  `written` holds the outputs that were written, by name, with their hashes, and `built` the
    names of the chapters, whatever changed; `left` is what no report and no pattern had any more, with the
    hash of an output as it was written.
    """

    __slots__ = ("built", "chapters", "files", "is_whole", "left", "patterns", "reports", "written")

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.files: list[tuple[str, str]] = content["files"]
        self.patterns: list[tuple[str, str, list[str]]] = content["patterns"]
        entries = [*content["reports"].values(), *content["chapters"].values()]
        self.written = {name: digest for entry in entries for name, digest in self.outputs(entry)}
        self.built = frozenset(content["chapters"])
        self.left: dict[str, str] = content["left"]
        self.reports: dict[str, Entry] = {}
        self.chapters: dict[str, Entry] = {}
        self.is_whole = False

    def outputs(self, entry: Entry) -> list[tuple[str, str]]:
        """Return the outputs of a report, each with its hash."""
        return [self.files[number] for number in entry["outputs"]]

    def compare(self, root: Path, content: Mapping[str, Any]) -> None:
        """Find out what is as it was built."""
        moved = {number for number, (name, digest) in enumerate(self.files) if hash_of(root / name) != digest}
        changed = {
            number
            for number, (folder, pattern, names) in enumerate(self.patterns)
            if [*matching(root, folder, pattern)] != names
        }

        def same(entries: Mapping[str, Entry]) -> dict[str, Entry]:
            return {
                name: entry
                for name, entry in entries.items()
                if moved.isdisjoint(entry["files"]) and changed.isdisjoint(entry["patterns"])
            }

        if same({"project": content["project"]}):
            self.reports, self.chapters = same(content["reports"]), same(content["chapters"])
        found = [*self.reports, *self.chapters]
        wanted = [*content["project"]["reports"], *content["project"]["chapters"]]
        is_left = any(not digest or hash_of(root / name) == digest for name, digest in self.left.items())
        self.is_whole = not (moved or changed or is_left) and sorted(found) == sorted(wanted)

    def forget(self) -> Stamp:
        """Return what it remembers, with nothing that could be trusted."""
        self.reports, self.chapters, self.is_whole = {}, {}, False
        return self


def read(root: Path) -> Stamp | None:
    """Return what the last builds of the project at `root` left, None if they left nothing to be read."""
    try:
        content = json.loads((root / STAMP).read_bytes())
        if content["version"] != _VERSION:
            return None
        found, libraries = Stamp(content), versions()
        if (
            content["engine"] == engine_hash()
            and content["libraries"] == libraries
            and all(libraries.values())
        ):
            found.compare(root, content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return None
    return found


def is_fresh(root: Path) -> bool:
    """Whether every file of the project at `root` is as the last whole build left it."""
    found = read(root)
    return found is not None and found.is_whole


def said(before: Stamp, names: Iterable[str]) -> dict[str, Said]:
    """Return what is to be said of reports that are as they were built."""
    return {name: before.reports[name]["said"] for name in names}


def unchanged(root: Path, before: Stamp, names: Sequence[str]) -> BuildResult:
    """Return what a build of reports does where nothing at all changed."""
    chapters = {name: each for name, each in before.chapters.items() if {*each["reports"]} & {*names}}
    files = [name for report in names for name, _ in before.outputs(before.reports[report])]
    became = {root / name: UNCHANGED for name in (*files, *chapters)}
    notes = [note for name in sorted(chapters) for note in chapters[name]["notes"]]
    return BuildResult(root, dict(sorted(became.items())), said(before, names), notes)


class NewStamp:
    """Collects what a stamp is to hold: each file and each pattern once, by number."""

    __slots__ = ("chapters", "files", "left", "numbers", "patterns", "project", "reports")

    def __init__(self) -> None:
        self.files: list[tuple[str, str]] = []
        self.patterns: list[tuple[str, str, list[str]]] = []
        self.numbers: dict[tuple[str, ...], int] = {}
        self.project: Entry = {}
        self.reports: dict[str, Entry] = {}
        self.chapters: dict[str, Entry] = {}
        self.left: dict[str, str] = {}

    def entry(
        self,
        opened: Mapping[str, str],
        listed: Mapping[Pattern, Iterable[str]],
        outputs: Mapping[str, str],
        **more: object,
    ) -> Entry:
        """Return the entry of what opened files, listed patterns and wrote outputs, and `more` of it."""
        written = [self._file(name, digest) for name, digest in outputs.items()]
        files = {*written, *(self._file(name, digest) for name, digest in opened.items())}
        patterns = {self.pattern(*each, names) for each, names in listed.items()}
        return {"files": sorted(files), "patterns": sorted(patterns), "outputs": sorted(written), **more}

    def kept(self, old: Stamp, entry: Entry) -> Entry:
        """Return the entry of what is as a stamp of before has it."""
        files = {number: self._file(*old.files[number]) for number in entry["files"]}
        return {
            **entry,
            "files": sorted(files.values()),
            "patterns": sorted({self.pattern(*old.patterns[number]) for number in entry["patterns"]}),
            "outputs": sorted(files[number] for number in entry["outputs"]),
        }

    def _file(self, name: str, digest: str) -> int:
        """Return the number of a file; one that was seen with two contents has two, of which one is wrong."""
        if (name, digest) not in self.numbers:
            self.numbers[name, digest] = len(self.files)
            self.files.append((name, digest))
        return self.numbers[name, digest]

    def pattern(self, folder: str, pattern: str, names: Iterable[str]) -> int:
        """Return the number of a pattern and of what it gave."""
        found = [*names]
        key = ("", folder, pattern, *found)
        if key not in self.numbers:
            self.numbers[key] = len(self.patterns)
            self.patterns.append((folder, pattern, found))
        return self.numbers[key]

    def outputs(self) -> set[str]:
        """Return the names of the outputs of all reports."""
        return {self.files[number][0] for entry in self.reports.values() for number in entry["outputs"]}

    def text(self) -> str:
        """Return the stamp as it is written."""
        stamp = {
            "version": _VERSION,
            "built_by": f"Tile Ledger {VERSION}",
            "engine": engine_hash(),
            "libraries": versions(),
            "files": self.files,
            "patterns": self.patterns,
            "project": self.project,
            "reports": dict(sorted(self.reports.items())),
            "chapters": dict(sorted(self.chapters.items())),
            "left": dict(sorted(self.left.items())),
        }
        return json.dumps(stamp) + "\n"


def versions() -> dict[str, str]:
    """Return the version of each library by which a build reads and writes, empty where nobody can tell.

    It is read from the names of the folders that say what is installed: `importlib.metadata` takes as long as
    all the rest.
    """
    found = dict.fromkeys(LIBRARIES, "")
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208  # a list of names, without a path for each
        except OSError:
            continue
        for name in names:
            if name.endswith(_DISTRIBUTIONS):
                library, _, version = name.rpartition(".")[0].partition("-")
                library = library.lower().replace("_", "-").replace(".", "-")
                if library in found and not found[library]:
                    found[library] = version
    return found


def engine_hash() -> str:
    """Return a hash of the engine's own files, of what it brings along, and of Python's version."""
    digest = hashlib.sha256(sys.version.encode())
    for top in dict.fromkeys((_ENGINE, packaged("templates"), packaged("models"))):
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(each for each in folders if each != "__pycache__")
            for name in sorted(names):
                digest.update(name.encode())
                digest.update(Path(folder, name).read_bytes())
    return digest.hexdigest()
