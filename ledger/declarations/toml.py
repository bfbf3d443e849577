"""The TOML files of a project, read into declarations; every mistake has its place.

An error of pydantic becomes a problem at the file's own keys, in an author's words.
"""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ledger.declarations.model import (
    Calc,
    Chart,
    ChartLine,
    Claim,
    Column,
    Input,
    Lookup,
    Model,
    ProjectFile,
    Report,
    Sheet,
    Table,
    TableField,
    View,
    ViewColumn,
    placed,
)
from ledger.declarations.positions import Positions
from ledger.declarations.project import PROJECT_FILE, VERSION, packaged
from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.values import UNWRITABLE, is_too_small

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ledger.declarations.files import ProjectFiles

T = TypeVar("T", Report, Model, ProjectFile)
Keys = tuple[str | int, ...]

_KINDS: Mapping[str, type[Any]] = {"report": Report, "model": Model, "project": ProjectFile}
#: The declarations that the names or the numbers below each key lead to.
_OWNERS: Mapping[str | int, type[Any]] = {
    "tables": Table,
    "fields": TableField,
    "inputs": Input,
    "lookups": Lookup,
    "columns": Column,
    "sheets": Sheet,
    "views": View,
    "claims": Claim,
    "charts": Chart,
    "lines": ChartLine,
    "calc": Calc,
}
#: What pydantic calls a valid value, in an author's words.
_WANTED: Mapping[str, str] = {
    "bool_type": "true or false",
    "dataclass_type": "a table",
    "dict_type": "a table",
    "float_type": "a number",
    "int_type": "a number",
    "list_type": "a list",
    "string_type": "a text",
}
_LONGEST_VALUE = 40
_NO_NAME = "is not a name: letters, digits and _, not a digit first"
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True, slots=True)
class Declared:
    """A report and the models it uses, in the order of their use; the report itself comes last.

    `files` notes what is read for it.
    """

    name: str
    report: Report
    models: tuple[tuple[str, Model], ...]
    project: ProjectFile
    files: ProjectFiles

    @property
    def root(self) -> Path:
        """The folder of its project."""
        return self.files.root

    @property
    def file(self) -> str:
        """The name of the report's own file."""
        return self.models[-1][0]


def schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a report, a model or the project file."""
    return TypeAdapter(_KINDS[kind]).json_schema()


def project(files: ProjectFiles) -> ProjectFile:
    """Return the declarations of `ledger.toml`: the folders of a project, its chapters and its language."""
    problems = Problems()
    found = _TomlReader(files, ProjectFile(), problems).read(PROJECT_FILE, ProjectFile)
    if found is not None and found.requires:
        _check_version(found.requires, problems)
    if found is None or problems.found:
        raise located(LedgerError(*problems.found), files.root, ProjectFile())
    return found


def _check_version(requires: str, problems: Problems) -> None:
    """Add a problem if this version is none of those that a project requires."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415  # most projects require none

    place = Place(PROJECT_FILE, keys=("requires",), offset=0)
    try:
        fits = SpecifierSet(requires).contains(VERSION, prereleases=True)
    except InvalidSpecifier:
        problems.add(f"{requires!r} is no range of versions", place, "such as '>=0.2' or '>=0.2,<0.4'")
        return
    if not fits:
        what = f"the project requires Tile Ledger {requires}, this is {VERSION}"
        problems.add(what, place, f"install one that fits: pip install 'tile-ledger{requires}'")


def report_names(files: ProjectFiles, where: ProjectFile) -> tuple[str, ...]:
    """Return the names of the project's reports, sorted."""
    return tuple(sorted(path.stem for path in files.matching(where.reports, "*.toml")))


def chosen(
    files: ProjectFiles, where: ProjectFile, names: Sequence[str], problems: Problems
) -> tuple[str, ...]:
    """Return the named reports, all if none is named; one that there is not is a problem, and so is none."""
    known = report_names(files, where)
    for name in names:
        if name not in known:
            problems.add(f"unknown report {name!r}", Place(where.reports), near(name, known))
    if not known:
        problems.add("no reports", Place(where.reports), f"write {where.reports}/NAME.toml")
    return tuple(name for name in dict.fromkeys(names or known) if name in known)


def load(
    files: ProjectFiles, where: ProjectFile, names: Iterable[str], problems: Problems
) -> tuple[Declared, ...]:
    """Return the named reports without those that something is wrong with; each notes what it reads."""
    found = [_TomlReader(files.apart(), where, problems).declared(name) for name in names]
    return tuple(each for each in found if each is not None)


def find(root: Path, name: str, where: ProjectFile, is_file: Callable[[Path], bool] = Path.is_file) -> Path:
    """Return the path of the file `name`; that of the package's model if the project has no such model."""
    path = root / name
    models = f"{where.models}/"
    if name.startswith(models) and not is_file(path):
        return packaged("models") / name.removeprefix(models)
    return path


def located(error: LedgerError, root: Path, where: ProjectFile) -> LedgerError:
    """Return `error` with line and column for every place that names keys of a TOML file."""
    seen: dict[str, Positions | None] = {}
    return LedgerError(
        *(
            replace(problem, place=problem.place and located_place(problem.place, root, where, seen))
            for problem in error.problems
        )
    )


def located_place(
    place: Place, root: Path, where: ProjectFile, seen: dict[str, Positions | None] | None = None
) -> Place:
    """Return a place that names keys of a TOML file by line and column; `seen` has the files read so far."""
    if place.line or not place.keys:
        return place
    seen = {} if seen is None else seen
    if place.file not in seen:
        path = find(root, place.file, where)
        seen[place.file] = Positions(path.read_text(encoding="utf-8-sig")) if path.is_file() else None
    positions = seen[place.file]
    return place if positions is None else Place(place.file, *positions.locate(place.keys, place.offset))


@dataclass(frozen=True, slots=True)
class _TomlReader:
    """Reads the files of a project, whose folders are `where`."""

    files: ProjectFiles
    where: ProjectFile
    problems: Problems

    def declared(self, name: str) -> Declared | None:
        """Return a report with its models, None if one of the files cannot be used."""
        before = len(self.problems.found)
        file = f"{self.where.reports}/{name}.toml"
        report = self.read(file, Report)
        if report is None:
            return None
        models: dict[str, Model] = {}
        self.collect(placed(report.uses, Place(file, keys=("uses",))), models)
        self.collect(placed(report.models, Place(file, keys=("models",))), models)
        if len(self.problems.found) > before:
            return None
        return Declared(name, report, (*models.items(), (file, report)), self.where, self.files)

    def collect(self, wanted: Iterable[tuple[str, Place]], models: dict[str, Model]) -> None:
        """Put the wanted models into `models`, what they use before them."""
        for name, place in wanted:
            file = f"{self.where.models}/{name}.toml"
            if file in models:
                continue
            if not self.path(file).is_file():
                folders = (self.files.root / self.where.models, packaged("models"))
                known = {path.stem for folder in folders for path in folder.glob("*.toml") if path.is_file()}
                self.problems.add(f"unknown model {name!r}", place, near(name, known))
                continue
            model = self.read(file, Model)
            if model is not None:
                models[file] = model  # before its uses, so that a circle of uses ends
                self.collect(placed(model.uses, Place(file, keys=("uses",))), models)
                models[file] = models.pop(file)

    def path(self, file: str) -> Path:
        """Return the path of a file, that of the package's if the project has no such model."""
        return find(self.files.root, file, self.where, self.files.has)

    def read(self, file: str, kind: type[T]) -> T | None:
        """Return what a TOML file declares, None if it cannot be used."""
        try:
            data = self.files.content(self.path(file))
            text = data.decode().removeprefix("\ufeff")
            content = tomllib.loads(text, parse_float=_number)
        except OSError as error:
            self.problems.add(f"cannot be read: {error.strerror}", Place(file))
        except UnicodeDecodeError as error:
            before = data[: error.start].decode(errors="replace").removeprefix("\ufeff")
            place = Place(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
            what = f"byte 0x{data[error.start]:02X} at offset {error.start} is not valid UTF-8"
            self.problems.add(what, place, "save the file as UTF-8")
        except tomllib.TOMLDecodeError as error:
            self.problems.add(*_not_toml(str(error), text, file))
        # A number of 5,000 digits, a list in a list in a list …
        except (ValueError, RecursionError) as error:
            self.problems.add(f"not TOML that can be read: {error}", Place(file))
        else:
            return self.declaration(content, kind, file)
        return None

    def declaration(self, content: object, kind: type[T], file: str) -> T | None:
        """Return the declaration that a file's `content` makes, None if anything is wrong with it."""
        unwritable = list(_unwritable(content, Place(file)))
        self.problems.found += unwritable
        if unwritable:
            return None
        try:
            return TypeAdapter(kind).validate_python(content)
        except ValidationError as error:
            self.problems.found += _mistakes(error, content, kind, file)
            return None


def _number(text: str) -> float:
    """Return a number of TOML; one that Python takes for 0 becomes its least one, which is refused later."""
    return math.ulp(0.0) if float(text) == 0 and is_too_small(text) else float(text)


def _not_toml(message: str, text: str, file: str) -> tuple[str, Place]:
    """Return tomllib's message without the place in it, and that place, else the end of the text."""
    match = _AT.search(message)
    what = f"not TOML: {_AT.sub('', message)}"
    if match and match[1]:
        return what, Place(file, int(match[1]), int(match[2]))
    return what, Place(file, text.count("\n") + 1, 1)


def _unwritable(content: object, place: Place) -> Iterator[Problem]:
    """Yield a problem for each text with a character that no workbook can hold."""
    match content:
        case str():
            if found := UNWRITABLE.search(content):
                what = f"the character U+{ord(found[0]):04X} cannot stand in a workbook"
                yield Problem(what, place, "delete it")
        case dict():
            for key, value in content.items():
                yield from _unwritable(value, place.inside(key))
        case list():
            for number, value in enumerate(content):
                yield from _unwritable(value, place.inside(number))


def _mistakes(error: ValidationError, content: object, kind: type[Any], file: str) -> list[Problem]:
    """Return one problem for each key; an error inside one of several choices replaces the choice's own."""
    found: dict[Keys, list[Problem]] = {}
    for each in error.errors(include_url=False):
        keys, value = _walk(each["loc"], content)
        place, known = Place(file, keys=keys or ("",)), _known_keys(each["loc"], kind)
        found.setdefault(keys, []).append(_problem(dict(each), value, known, place))
    outer = {keys for keys in found for other in found if other != keys and other[: len(keys)] == keys}
    return [_merged(problems) for keys, problems in found.items() if keys not in outer]


def _walk(loc: Sequence[str | int], content: object) -> tuple[Keys, object]:
    """Return the part of `loc` that is in the file (pydantic adds the names of choices), and its value."""
    keys: list[str | int] = []
    for part in loc:
        match content:
            case dict() if part in content:
                content = content[part]
            case list() if isinstance(part, int):
                content = content[part]
            case _:
                continue
        keys.append(part)
    return tuple(keys), content


def _known_keys(loc: Sequence[str | int], kind: type[Any]) -> tuple[str, ...]:
    """Return the keys that the declaration around `loc` has, in a file of this kind."""
    # Every other part of `loc` is the name or the number of a declaration.
    owners = [kind, *(_OWNERS[part] for part in loc[:-1:2] if part in _OWNERS)]
    owner = ViewColumn if "ViewColumn" in loc else owners[-1]
    return tuple(TypeAdapter(owner).json_schema()["properties"])


def _problem(error: Mapping[str, Any], value: object, known: Iterable[str], key: Place) -> Problem:
    """Return one of pydantic's errors as a problem at the key, or at its value if that is what is wrong."""
    name, at_value = str(key.keys[-1]), replace(key, offset=0)
    match error["type"]:
        case "unexpected_keyword_argument":
            return Problem(f"unknown key {name!r}", key, near(name, known))
        case "missing":
            return Problem(f"the key {error['loc'][-1]!r} is missing", key)
        case "string_pattern_mismatch" if "[key]" in error["loc"]:
            return Problem(f"{name!r} {_NO_NAME}", key)
        case "string_pattern_mismatch":
            return Problem(f"{value!r} {_NO_NAME}", at_value)
        case "literal_error":
            return Problem(f"{_excerpt(value)} is not one of {error['ctx']['expected']}", at_value)
    wanted = _WANTED.get(error["type"], error["msg"].removeprefix("Input should be "))
    return Problem(f"{_excerpt(value)} should be {wanted}", at_value)


def _excerpt(value: object) -> str:
    """Return a value as TOML writes it, cut where it is long."""
    text = repr(value) if isinstance(value, str | list | dict) else str(value)
    text = text.lower() if isinstance(value, bool) else text
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _merged(problems: list[Problem]) -> Problem:
    """Return one problem for all that is wrong with one value: each choice that it could have been."""
    first = problems[0]
    parts = [problem.what.partition(" should be ") for problem in problems]
    if not all(should for _, should, _ in parts):
        return next(each for each, (_, should, _) in zip(problems, parts, strict=True) if not should)
    wanted = dict.fromkeys(choice for _, _, choice in parts)
    return replace(first, what=f"{parts[0][0]} should be {' or '.join(wanted)}")
