"""The shape of the engine: rooms on floors, doors, what a class may do, and the words it must not know."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ENGINE = ROOT / "ledger"

# Floors from the ground up: a room imports only from the floors below its own, and from itself.
FLOORS = (
    {"errors", "values"},
    {"language"},
    {"display", "xlsx"},
    {"declarations"},
    {"plan"},
    {"evaluate"},
    {"book", "workbook"},
    {"project"},
    {"review"},
    {"cli"},
)
# Where a library may be imported; everyone else goes through these.
DOORS = {
    "jinja2": {"book.render", "book.sandbox"},
    "markdown_it": {"book.markers"},
    "openpyxl": {"workbook.drawing", "workbook.styles", "workbook.write"},
    "pandas": {"project.frames", "project.project"},  # the second names its types
    "pydantic": {"declarations.model", "declarations.toml"},
    "tomllib": {"declarations.positions", "declarations.toml"},
    "argparse": {"cli", "cli.usage"},
    "fcntl": {"project.publish"},
    "msvcrt": {"project.publish"},
    "packaging": {"declarations.toml"},
    "ironcalc": {"review.verify.engines"},
    "multiprocessing": {"review.verify.engines"},
    "subprocess": {"review.diff.git", "review.verify.engines"},
}
GPU_WORDS = re.compile(
    r"(?i)\b(gemm|cuda|gpu|nvidia|amd|warps?|occupancy|smem|sm_\w+|block_[mnk]|roofline|fp\d+|bf16|h100|tensor|hbm)\b"
)
LONGEST_FUNCTION, MOST_PARAMETERS = 30, 6
ACCUMULATING = re.compile(r"\b(list|dict|set)\b")


def dotted(path):
    """Return the name of a module inside the engine: `plan.names`, and `plan` for a package."""
    return ".".join(path.relative_to(ENGINE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


SOURCES = {dotted(path): path.read_text(encoding="utf-8") for path in sorted(ENGINE.rglob("*.py"))}
TREES = {name: ast.parse(text) for name, text in SOURCES.items()}
MODULES = [name for name in TREES if name]
ROOMS = sorted(path.parent.name for path in ENGINE.glob("*/__init__.py"))
FLOOR_OF = {room: number for number, floor in enumerate(FLOORS) for room in floor}


def imports(name):
    """Yield every dotted name that a module imports, those for type checking too."""
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def engine_imports(name):
    """Yield the engine's modules that a module imports: itself, or something that is defined in it."""
    for each in imports(name):
        if each.startswith("ledger."):
            inner = each.removeprefix("ledger.")
            yield inner if inner in TREES else inner.rpartition(".")[0]


def classes(name):
    return [node for node in ast.walk(TREES[name]) if isinstance(node, ast.ClassDef)]


def test_there_are_eleven_rooms_on_ten_floors_at_most():
    assert sorted(FLOOR_OF) == sorted({*ROOMS, "errors", "values"})
    assert (len(ROOMS), len(FLOORS) <= 10) == (11, True)


def test_four_modules_at_most_lie_directly_in_the_engine():
    assert sorted(path.stem for path in ENGINE.glob("*.py")) == ["__init__", "__main__", "errors", "values"]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_it_knows_and_what_not(room):
    said = ast.get_docstring(TREES[room])
    assert re.search(r"It must not know\b", said), said


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_down(name):
    own = name.split(".")[0]
    others = {other.split(".")[0] for other in engine_imports(name)} - {own}
    allowed = set(FLOOR_OF) if own == "__main__" else {r for r in FLOOR_OF if FLOOR_OF[r] < FLOOR_OF[own]}
    assert others <= allowed


def test_no_module_reads_itself_through_others():
    left = {name: {other for other in engine_imports(name) if other != name} for name in TREES}
    while ready := {name for name, reads in left.items() if not reads & left.keys()}:
        left = {name: reads for name, reads in left.items() if name not in ready}
    assert left == {}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_does_more_than_pass_on(name):
    body = TREES[name].body[1:]
    passes = (ast.Import, ast.ImportFrom)
    assert not body or name == "__main__" or not all(isinstance(node, passes) for node in body)


@pytest.mark.parametrize("name", MODULES)
def test_a_library_has_one_door(name):
    used = {each.split(".")[0] for each in imports(name)}
    assert {library for library in used if name not in DOORS.get(library, {name})} == set()


@pytest.mark.parametrize("name", MODULES)
def test_functions_are_short(name):
    long = []
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = (body[-1].end_lineno - body[0].lineno + 1) if body else 0
            many = len(node.args.args) - (node.args.args[:1] != [] and node.args.args[0].arg == "self")
            if lines > LONGEST_FUNCTION or many > MOST_PARAMETERS:
                long.append(f"{name}.{node.name}: {lines} lines, {many} parameters")
    assert long == []


def test_no_class_has_the_name_of_another():
    seen = {}
    for name in TREES:
        for node in classes(name):
            seen.setdefault(node.name, []).append(name)
    assert {each: where for each, where in seen.items() if len(where) > 1} == {}


@pytest.mark.parametrize("name", MODULES)
def test_a_frozen_class_holds_nothing_that_changes(name):
    """What accumulates is a plain class, and says so."""
    wrong = []
    for node in classes(name):
        frozen = any("frozen=True" in ast.unparse(each) for each in node.decorator_list)
        # What an author declares is read from TOML, and nothing adds to it.
        if frozen and name != "declarations.model":
            wrong += [
                f"{node.name}.{each.target.id}"
                for each in node.body
                if isinstance(each, ast.AnnAssign) and ACCUMULATING.match(ast.unparse(each.annotation))
            ]
    assert wrong == []


@pytest.mark.parametrize("name", MODULES)
def test_the_engine_knows_no_gpu_word(name):
    assert [line for line in SOURCES[name].splitlines() if GPU_WORDS.search(line)] == []


def test_only_the_command_line_prints_or_exits():
    calls = {
        name
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"print", "exit"}
    }
    assert calls <= {"cli"}


def test_an_import_of_the_command_line_is_light():
    """`--help` must not wait for pandas."""
    heavy = {"pandas", "numpy", "openpyxl", "jinja2", "pydantic"}
    top = {node.module or "" for node in TREES["cli"].body if isinstance(node, ast.ImportFrom)}
    assert not heavy & {name.split(".")[0] for name in top}
    # `usage` is data.
    assert {name for name in top if name.startswith("ledger")} == {"ledger.cli"}


def test_templates_hold_no_number_and_no_arithmetic():
    """Numbers are formatted by display rules; a template only places text."""
    arithmetic = re.compile(r"\{[{%][^}]*(?<![\w\"'.])\d+(?:\.\d+)?\s*[-+*/]|\|\s*(round|int|float|format)\b")
    wrong = [
        f"{path.name}: {line}"
        for path in sorted((ROOT / "templates").glob("*.j2"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if arithmetic.search(line)
    ]
    assert wrong == []
