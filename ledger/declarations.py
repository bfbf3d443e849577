"""The TOML files of a project, read into declarations; every mistake told with its place."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.model import Model, Project, Report
from ledger.positions import locate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

T = TypeVar("T")
PROJECT_FILE = "ledger.toml"
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_KINDS: Mapping[str, type[Any]] = {"report": Report, "model": Model, "project": Project}
_SAID: Mapping[str, str] = {
    "missing": "a required key is missing",
    "unexpected_keyword_argument": "unknown key {key!r}",
    "string_pattern_mismatch": "{value!r} is not a name: letters, digits and _, not a digit first",
    "literal_error": "{value!r} is not one of {expected}",
}


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


def find_root(start: Path) -> Path:
    """Return the folder of the project that `start` lies in."""
    for folder in (start, *start.parents):
        if (folder / PROJECT_FILE).is_file():
            return folder
    hint = f"run it in a project, or write an empty {PROJECT_FILE}"
    raise LedgerError(Problem(f"no {PROJECT_FILE} in {start.name or start} or above it", hint=hint))


def project(root: Path) -> Project:
    """Return what `ledger.toml` says."""
    problems = Problems()
    found = _read(root, PROJECT_FILE, Project, problems)
    problems.raise_any()
    return found or Project()


def report_names(root: Path, where: Project) -> tuple[str, ...]:
    """Return the names of the project's reports, sorted."""
    return tuple(sorted(path.stem for path in (root / where.reports).glob("*.toml")))


def load(root: Path, names: Sequence[str]) -> tuple[Declared, ...]:
    """Return the named reports, all of them if none is named; raise every mistake in every file."""
    where = project(root)
    known = report_names(root, where)
    problems = Problems()
    for name in names:
        if name not in known:
            problems.add(f"unknown report {name!r}", Place(where.reports), near(name, known))
    if not known:
        problems.add("no reports", Place(where.reports), f"write {where.reports}/NAME.toml")
    problems.raise_any()
    found = [_declared(root, where, name, problems) for name in names or known]
    problems.raise_any()
    return tuple(each for each in found if each is not None)


def schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a report, a model or the project file."""
    return TypeAdapter(_KINDS[kind]).json_schema()


def packaged(folder: str) -> Path:
    """Return where the package keeps `folder` ("models", "templates") for projects without their own."""
    return Path(str(resources.files("ledger"))) / "starter" / folder


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
    place = problem.place
    if place is None or place.line or not place.keys:
        return problem
    path = find(root, place.file, where)
    if not path.is_file():
        return problem
    line, column = locate(path.read_text(encoding="utf-8-sig"), place.keys, place.offset)
    return replace(problem, place=Place(place.file, line, column))


def _declared(root: Path, where: Project, name: str, problems: Problems) -> Declared | None:
    file = f"{where.reports}/{name}.toml"
    report = _read(root, file, Report, problems)
    if report is None:
        return None
    models: dict[str, Model] = {}
    wanted = [(each, Place(file, keys=("uses", i))) for i, each in enumerate(report.uses)]
    wanted += [(each, Place(file, keys=("models", i))) for i, each in enumerate(report.models)]
    _collect(root, where, wanted, models, problems)
    return Declared(name, report, (*models.items(), (file, report)), where, root)


def _collect(
    root: Path,
    where: Project,
    wanted: Iterable[tuple[str, Place]],
    models: dict[str, Model],
    problems: Problems,
) -> None:
    """Put the wanted models into `models`, what they use before them."""
    for name, place in wanted:
        file = f"{where.models}/{name}.toml"
        if file in models:
            continue
        if not find(root, file, where).is_file():
            folders = (root / where.models, packaged("models"))
            known = {path.stem for folder in folders for path in folder.glob("*.toml")}
            problems.add(f"unknown model {name!r}", place, near(name, known))
            continue
        model = _read(root, file, Model, problems)
        if model is None:
            continue
        models[file] = model  # before its uses, so that a circle of uses ends
        _collect(
            root,
            where,
            [(each, Place(file, keys=("uses", i))) for i, each in enumerate(model.uses)],
            models,
            problems,
        )
        models[file] = models.pop(file)


def _read(root: Path, file: str, kind: type[T], problems: Problems) -> T | None:
    path = find(root, file, project(root) if file != PROJECT_FILE else Project())
    try:
        text = path.read_bytes().decode("utf-8-sig")
        content = tomllib.loads(text)
    except OSError as error:
        problems.add(f"cannot be read: {error.strerror}", Place(file))
        return None
    except UnicodeDecodeError as error:
        problems.add(f"not UTF-8 at byte {error.start}", Place(file), "save the file as UTF-8")
        return None
    except tomllib.TOMLDecodeError as error:
        problems.add(*_not_toml(str(error), text, file))
        return None
    try:
        return TypeAdapter(kind).validate_python(content)
    except ValidationError as error:
        for problem in _told(error, content, file):
            problems.add(problem.what, problem.place, problem.hint)
        return None


def _not_toml(message: str, text: str, file: str) -> tuple[str, Place]:
    match = _AT.search(message)
    what = f"not TOML: {_AT.sub('', message)}"
    if match and match[1]:
        return what, Place(file, int(match[1]), int(match[2]))
    return what, Place(file, text.count("\n") + 1, 1)


def _told(error: ValidationError, content: object, file: str) -> list[Problem]:
    """Return pydantic's errors as problems at real keys; an error inside a choice replaces the choice's own."""
    found: dict[tuple[str | int, ...], list[Problem]] = {}
    for each in error.errors(include_url=False):
        keys, value = _walk(each["loc"], content)
        found.setdefault(keys, []).append(_problem(dict(each), keys, value, file))
    deepest = [
        keys for keys in found if not any(len(o) > len(keys) and o[: len(keys)] == keys for o in found)
    ]
    return [_merged(found[keys]) for keys in deepest]


def _walk(loc: Sequence[str | int], content: object) -> tuple[tuple[str | int, ...], object]:
    """Return the part of `loc` that is in the file (pydantic adds the names of choices), and its value."""
    keys: list[str | int] = []
    for part in loc:
        inside = isinstance(content, dict) and part in content
        if inside or (isinstance(content, list) and isinstance(part, int)):
            content = content[part]  # type: ignore[index]  # narrowed by the line above
            keys.append(part)
    return tuple(keys), content


def _problem(error: dict[str, Any], keys: tuple[str | int, ...], value: object, file: str) -> Problem:
    key = str(keys[-1]) if keys else ""
    shown = key if "[key]" in error["loc"] else value
    context = error.get("ctx") or {}
    text = _SAID.get(error["type"], error["msg"].replace("Input should be", "{value!r} should be"))
    what = text.format(key=key, value=shown, expected=context.get("expected", ""))
    hint = ""
    if error["type"] == "unexpected_keyword_argument":
        hint = near(key, _known_keys(error["loc"]))
    if error["type"] == "missing":
        what = f"the key {error['loc'][-1]!r} is missing"
    return Problem(what, Place(file, keys=keys or ("",)), hint)


def _merged(problems: list[Problem]) -> Problem:
    """Return one problem for all that is wrong with one value."""
    first = problems[0]
    rest = [problem.what.split(" should be ")[-1] for problem in problems[1:]]
    return replace(first, what=" or ".join(dict.fromkeys([first.what, *rest])))


def _known_keys(loc: Sequence[str | int]) -> tuple[str, ...]:
    """Return the keys that the declaration around `loc` has, by the schema."""
    whole = schema("report")
    parts = {name: tuple(part.get("properties", ())) for name, part in whole.get("$defs", {}).items()}
    owner = {
        "tables": "Table", "fields": "TableField", "inputs": "Input", "lookups": "Lookup", "columns": "Column",
        "sheets": "Sheet", "views": "View", "calc": "Calc",
    }  # fmt: skip
    if "ViewColumn" in loc:
        return parts["ViewColumn"]
    named = [owner[str(part)] for part in loc[:-1] if str(part) in owner]
    return parts[named[-1]] if named else tuple(whole["properties"])
