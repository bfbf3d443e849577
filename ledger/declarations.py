"""The TOML files of a project, read into declarations; every mistake told with its place."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.model import Model, Project, Report
from ledger.packaged import packaged
from ledger.positions import locate
from ledger.root import PROJECT_FILE
from ledger.validation import validated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

T = TypeVar("T", Report, Model, Project)
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True, slots=True)
class Declared:
    """A report and the models it uses, in the order of their use; the report itself comes last."""

    name: str
    report: Report
    models: tuple[tuple[str, Model], ...]
    project: Project
    root: Path

    @property
    def file(self) -> str:
        """The name of the report's own file."""
        return self.models[-1][0]


def project(root: Path) -> Project:
    """Return what `ledger.toml` says."""
    problems = Problems()
    found = _Reader(root, Project(), problems).read(PROJECT_FILE, Project)
    try:
        problems.raise_any()
    except LedgerError as error:
        raise located(error, root, Project()) from None
    return found or Project()


def report_names(root: Path, where: Project) -> tuple[str, ...]:
    """Return the names of the project's reports, sorted."""
    return tuple(sorted(path.stem for path in (root / where.reports).glob("*.toml")))


def load(root: Path, names: Sequence[str], problems: Problems) -> tuple[Declared, ...]:
    """Return the named reports, all if none is named, without those that something is wrong with."""
    where = project(root)
    known = report_names(root, where)
    for name in names:
        if name not in known:
            problems.add(f"unknown report {name!r}", Place(where.reports), near(name, known))
    if not known:
        problems.add("no reports", Place(where.reports), f"write {where.reports}/NAME.toml")
    wanted = [name for name in dict.fromkeys(names or known) if name in known]
    found = [_Reader(root, where, problems).declared(name) for name in wanted]
    return tuple(each for each in found if each is not None)


def find(root: Path, name: str, where: Project) -> Path:
    """Return the file that `name` stands for; a model of the package if the project has none."""
    path = root / name
    models = f"{where.models}/"
    if not path.is_file() and name.startswith(models):
        return packaged("models") / name.removeprefix(models)
    return path


def located(error: LedgerError, root: Path, where: Project) -> LedgerError:
    """Return `error` with line and column for every place that names keys of a TOML file."""
    return LedgerError(*(_located(problem, root, where) for problem in error.problems))


def _located(problem: Problem, root: Path, where: Project) -> Problem:
    return (
        problem
        if problem.place is None
        else replace(problem, place=located_place(problem.place, root, where))
    )


def located_place(place: Place, root: Path, where: Project) -> Place:
    """Return a place that names keys of a TOML file by its line and column."""
    if place.line or not place.keys:
        return place
    path = find(root, place.file, where)
    if not path.is_file():
        return place
    line, column = locate(path.read_text(encoding="utf-8-sig"), place.keys, place.offset)
    return Place(place.file, line, column)


@dataclass(frozen=True, slots=True)
class _Reader:
    root: Path
    where: Project
    problems: Problems

    def declared(self, name: str) -> Declared | None:
        """Return a report with its models, None if one of the files cannot be used."""
        before = len(self.problems.found)
        file = f"{self.where.reports}/{name}.toml"
        report = self.read(file, Report)
        if report is None:
            return None
        models: dict[str, Model] = {}
        wanted = [(each, Place(file, keys=("uses", i), offset=0)) for i, each in enumerate(report.uses)]
        wanted += [(each, Place(file, keys=("models", i), offset=0)) for i, each in enumerate(report.models)]
        self.collect(wanted, models)
        if len(self.problems.found) > before:
            return None
        return Declared(name, report, (*models.items(), (file, report)), self.where, self.root)

    def collect(self, wanted: Iterable[tuple[str, Place]], models: dict[str, Model]) -> None:
        """Put the wanted models into `models`, what they use before them."""
        for name, place in wanted:
            file = f"{self.where.models}/{name}.toml"
            if file in models:
                continue
            if not find(self.root, file, self.where).is_file():
                folders = (self.root / self.where.models, packaged("models"))
                known = {path.stem for folder in folders for path in folder.glob("*.toml") if path.is_file()}
                self.problems.add(f"unknown model {name!r}", place, near(name, known))
                continue
            model = self.read(file, Model)
            if model is not None:
                models[file] = model  # before its uses, so that a circle of uses ends
                uses = [(each, Place(file, keys=("uses", i), offset=0)) for i, each in enumerate(model.uses)]
                self.collect(uses, models)
                models[file] = models.pop(file)

    def read(self, file: str, kind: type[T]) -> T | None:
        """Return what a TOML file declares, None if it cannot be used."""
        try:
            data = find(self.root, file, self.where).read_bytes()
            text = data.decode().removeprefix("\ufeff")
            content = tomllib.loads(text)
        except OSError as error:
            self.problems.add(f"cannot be read: {error.strerror}", Place(file))
        except UnicodeDecodeError as error:
            before = data[: error.start].decode(errors="replace").removeprefix("\ufeff")
            place = Place(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
            what = f"byte 0x{data[error.start]:02X} at offset {error.start} is not valid UTF-8"
            self.problems.add(what, place, "save the file as UTF-8")
        except tomllib.TOMLDecodeError as error:
            self.problems.add(*_not_toml(str(error), text, file))
        except (
            ValueError,
            RecursionError,
        ) as error:  # a number of 5,000 digits, a list in a list in a list …
            self.problems.add(f"not TOML that can be read: {error}", Place(file))
        else:
            return validated(content, kind, file, self.problems)
        return None


def _not_toml(message: str, text: str, file: str) -> tuple[str, Place]:
    match = _AT.search(message)
    what = f"not TOML: {_AT.sub('', message)}"
    if match and match[1]:
        return what, Place(file, int(match[1]), int(match[2]))
    return what, Place(file, text.count("\n") + 1, 1)
