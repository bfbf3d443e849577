"""What a build did and what a check found, and how each is told.

The classes are plain ones, and nothing is imported before it is needed: a build or a check with nothing to do
tells what was said before, and must not wait for a library.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from ledger.evaluate.claims import ClaimFinding
    from ledger.evaluate.findings import ValueFinding
    from ledger.project.differences import Cause, PrintedChange, Stale

    #: What is to be said of a report, as JSON has it: `findings` of its values, its `claims`, the `lines`
    #: that tell both, the `counts` of each kind, and whether a claim is wrong (`is_wrong`).
    Said = Mapping[str, Any]

WRITTEN, UNCHANGED, REMOVED = "written", "unchanged", "removed"
#: What a check says first when nothing is stale.
FRESH = "fresh: every output and chapter is what it should be"
#: What is said of an output that nothing writes any more, and of a chapter that no pattern matches any more.
ORPHAN, LEFT = "orphan", "no chapter now"
_PRUNE = "tile-ledger build --prune"
# The text leaves out more changed cells of one cause.
_MOST = 12


class BuildResult:
    """What a build did: what became of each file by its path, "written", "unchanged" or "removed".

    `said` is what is to be said of each report, `notes` what else a reader should know, `orphans` the files
    that an earlier build wrote and nothing writes any more.
    """

    __slots__ = ("files", "notes", "orphans", "root", "said")

    def __init__(
        self,
        root: Path,
        files: Mapping[Path, str],
        said: Mapping[str, Said],
        notes: Sequence[str] = (),
        orphans: Sequence[str] = (),
    ) -> None:
        self.root = root
        self.files = files
        self.said = said
        self.notes = tuple(notes)
        self.orphans = tuple(orphans)

    @property
    def written(self) -> tuple[Path, ...]:
        """The files that differed, and were replaced."""
        return tuple(path for path, became in self.files.items() if became == WRITTEN)

    @property
    def findings(self) -> dict[str, tuple[ValueFinding, ...]]:
        """What a reader should know of the values of each report."""
        return {report: findings_of(said) for report, said in self.said.items()}

    @property
    def claims(self) -> dict[str, tuple[ClaimFinding, ...]]:
        """What is to be said of the claims of each report."""
        return {report: claims_of(said) for report, said in self.said.items()}

    @property
    def are_claims_right(self) -> bool:
        """Whether every claim holds, but for rows in which it is known to fail."""
        return not any(said["is_wrong"] for said in self.said.values())

    def lines(self, *, verbose: bool = False) -> Iterator[str]:
        """Yield what became of each file that is another one now, of all if that is asked for."""
        for path, became in self.files.items():
            if verbose or became != UNCHANGED:
                yield f"{became:9}  {_shown(path, self.root)}"

    def talk(self) -> Iterator[str]:
        """Yield what a reader should know of values, claims, chapters and files, below it the counts."""
        for said in self.said.values():
            yield from said["lines"]["findings"]
        for said in self.said.values():
            yield from said["lines"]["claims"]
        yield from self.notes
        if self.orphans:
            yield from (f"{ORPHAN:9}  {name}" for name in self.orphans)
            yield f"{_files(len(self.orphans))} that nothing writes any more; remove them: {_PRUNE}"
        became = list(self.files.values())
        kinds = (WRITTEN, UNCHANGED, *([REMOVED] if REMOVED in became else ()))
        yield ", ".join((*(f"{became.count(kind)} {kind}" for kind in kinds), *self._counts()))

    def _counts(self) -> Iterator[str]:
        totals: dict[str, int] = {}
        for said in self.said.values():
            for word, count in said["counts"].items():
                totals[word] = totals.get(word, 0) + count
        for words, count in totals.items():
            one, _, several = words.partition("|")
            yield f"{count} {one if count == 1 else several or one}"


class CheckResult:
    """All stale files, the cells that changed, the causes with the numbers of the cells each changed.

    `said` is what is to be said of each report: its claims and its values.
    """

    __slots__ = ("causes", "changes", "repair", "said", "stale")

    def __init__(
        self,
        said: Mapping[str, Said],
        stale: Sequence[Stale] = (),
        changes: Sequence[PrintedChange] = (),
        causes: Sequence[tuple[Cause, tuple[int, ...]]] = (),
        repair: str = "",
    ) -> None:
        self.said = said
        self.stale = tuple(stale)
        self.changes = tuple(changes)
        self.causes = tuple(causes)
        self.repair = repair

    @property
    def is_fresh(self) -> bool:
        """Whether every output and chapter is what it should be."""
        return not self.stale

    @property
    def claims(self) -> tuple[tuple[str, ClaimFinding], ...]:
        """What is to be said of claims, each with its report."""
        return tuple((report, each) for report, said in self.said.items() for each in claims_of(said))

    @property
    def findings(self) -> tuple[tuple[str, ValueFinding], ...]:
        """What a reader should know of values, each with its report."""
        return tuple((report, each) for report, said in self.said.items() for each in findings_of(said))

    @property
    def are_claims_right(self) -> bool:
        """Whether every claim holds, but for rows in which it is known to fail."""
        return not any(said["is_wrong"] for said in self.said.values())

    @property
    def found(self) -> bool:
        """Whether something is stale, or a claim is wrong."""
        return bool(self.stale) or not self.are_claims_right

    def text(self) -> str:
        """Return stale files and changed cells under the change that caused them, and how to repair them."""
        claims = [line for said in self.said.values() for line in said["lines"]["claims"]]
        return "\n".join([*claims, *(self._stale_lines() if self.stale else [FRESH])])

    def _stale_lines(self) -> Iterator[str]:
        for cause, numbers in self.causes:
            yield f"{cause.place} {cause.what} {f'{cause.old} → ' if cause.old else ''}{cause.new}"
            yield from _cell_lines(self.changes[i] for i in numbers)
        explained = {i for _, numbers in self.causes for i in numbers}
        rest = [each for i, each in enumerate(self.changes) if i not in explained]
        if rest:
            unexplained = "no change of an input or a declaration explains these"
            yield unexplained if self.causes else "edited, or of an older build"
            yield from _cell_lines(rest)
        yield from (f"{each.why:16}  {each.file}" for each in self.stale)
        count = len(self.stale)
        how = f"run: {self.repair}" if self.repair else "match it in `chapters`, or take its markers out"
        yield f"{_files(count)} {'is' if count == 1 else 'are'} stale; {how}"

    def json(self) -> str:
        """Return the same as one JSON object, with what is to be said of values."""
        from ledger.display.answer import json_text  # noqa: PLC0415  # it imports dataclasses

        causes = [
            {**_fields(each, "place", "what", "old", "new"), "moved": numbers}
            for each, numbers in self.causes
        ]
        return json_text(
            {
                "fresh": not self.stale,
                "causes": causes,
                "moved": [_fields(each, "file", "line", "where", "old", "new") for each in self.changes],
                "stale": [_fields(each, "file", "why") for each in self.stale],
                "claims": self._with_reports("claims"),
                "findings": self._with_reports("findings"),
                "repair": self.repair,
            }
        )

    def _with_reports(self, what: str) -> list[dict[str, object]]:
        return [{"report": report, **each} for report, said in self.said.items() for each in said[what]]


def _fields(each: object, *names: str) -> dict[str, object]:
    return {name: getattr(each, name) for name in names}


def findings_of(said: Said) -> tuple[ValueFinding, ...]:
    """Return what a reader should know of the values of a report."""
    from ledger.evaluate.findings import ValueFinding  # noqa: PLC0415  # it imports numpy

    return tuple(ValueFinding(**each) for each in said["findings"])


def claims_of(said: Said) -> tuple[ClaimFinding, ...]:
    """Return what is to be said of the claims of a report."""
    from ledger.evaluate.claims import ClaimedRow, ClaimFinding  # noqa: PLC0415  # it imports numpy

    def rows(each: Mapping[str, Any], name: str) -> tuple[ClaimedRow, ...]:
        return tuple(ClaimedRow(**row) for row in each[name])

    return tuple(
        ClaimFinding(
            each["name"],
            each["sheet"],
            each["sentence"],
            rows(each, "failed"),
            rows(each, "known"),
            rows(each, "mended"),
        )
        for each in said["claims"]
    )


def _cell_lines(changes: Iterable[PrintedChange]) -> Iterator[str]:
    """Yield the place and both texts of the first cells that changed, and how many more there are."""
    from ledger.errors import first_of  # noqa: PLC0415  # it imports dataclasses

    lines = []
    for each in changes:
        where = f"  {each.where}" if each.where else ""
        lines.append(f"{each.file}:{each.line}{where}  {each.old or '∅'} → {each.new or '∅'}")
    yield from (f"  {line}" for line in first_of(lines, _MOST))


def _files(count: int) -> str:
    return f"{count:,} {'file' if count == 1 else 'files'}"


def _shown(path: Path, root: Path) -> Path:
    """Return a file as it is called from the project's folder, in full if it lies outside."""
    full = path.absolute()
    return full.relative_to(root) if full.is_relative_to(root) else path
