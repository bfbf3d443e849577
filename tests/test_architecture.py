"""The shape of the engine: layers, doors, and the words it must not know."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ENGINE = ROOT / "ledger"

# Each module imports only from the lines above its own.
LAYERS = (
    (
        "answer",
        "auditing.rules",
        "errors",
        "markers",
        "model",
        "positions",
        "returned.cellformula",
        "usage",
        "values",
        "words",
    ),
    (
        "chapter",
        "differing.gitfiles",
        "expr",
        "meaning",
        "publish",
        "records",
        "returned.cells",
        "returned.parts",
        "returned.places",
        "root",
        "targets.numpy",
        "units",
        "workbook.package",
        "workbook.sheetdata",
    ),
    (
        "declarations",
        "differing.gitconfig",
        "display",
        "inject",
        "kinds",
        "pins",
        "returned.formulatree",
        "returned.received",
        "scenario",
        "stamp",
        "starter",
        "targets.excel",
        "targets.language",
        "targets.latex",
        "verifying.stripped",
        "workbook.pages",
    ),
    (
        "auditing.precedents",
        "plan",
        "returned.readback",
        "returned.record",
        "verifying.engines",
        "workbook.charts",
    ),
    (
        "findings",
        "misses",
        "names",
        "plotted",
        "returned.reading",
        "workbook.styles",
    ),
    (
        "claims",
        "printed",
        "remarks",
        "returned.changes",
        "tables",
    ),
    (
        "auditing.cellrules",
        "differing.booktext",
        "differing.pairs",
        "evaluate",
        "resolve",
        "returned.edits",
    ),
    (
        "auditing.formularules",
        "auditing.likeness",
        "reviewing.outdated",
        "trace",
        "verifying.verify",
        "views",
        "workbook.layout",
    ),
    (
        "auditing.bookrules",
        "auditing.printedrules",
        "render",
        "verifying.verifier",
        "workbook.checkspage",
        "workbook.choices",
        "workbook.displaypage",
        "workbook.formulas",
        "workbook.publishedpage",
    ),
    (
        "auditing.audit",
        "book",
        "differing.difftold",
        "frames",
        "moved",
        "reviewing.sources",
        "work",
        "workbook.aboutpage",
        "workbook.chartspage",
        "workbook.ledgerpage",
        "workbook.printedpage",
    ),
    (
        "auditing.auditor",
        "calc",
        "explain",
        "reviewing.whatif",
        "workbook.definitionspage",
        "workbook.tablepage",
    ),
    ("workbook.write",),
    ("build",),
    (
        "causes",
        "reviewing.review",
    ),
    (
        "drift",
        "reviewing.reviewer",
    ),
    ("cli",),
    ("__main__",),
)
# Where a library may be imported; everyone else goes through these.
DOORS = {
    "jinja2": {"render"},
    "markdown_it": {"markers"},
    "openpyxl": {"workbook.write", "workbook.charts", "workbook.styles"},
    "pandas": {"frames"},
    "pydantic": {"model", "declarations"},
    "tomllib": {"declarations", "positions"},
    "argparse": {"cli", "usage"},
    "fcntl": {"publish"},
    "ironcalc": {"verifying.engines"},
    "multiprocessing": {"verifying.engines"},
    "subprocess": {"differing.gitfiles", "verifying.engines"},
}
GPU_WORDS = re.compile(
    r"(?i)\b(gemm|cuda|gpu|nvidia|amd|warps?|occupancy|smem|sm_\w+|block_[mnk]|roofline|fp\d+|bf16|h100|tensor|hbm)\b"
)
LONGEST_FUNCTION, MOST_PARAMETERS = 30, 6


def modules():
    for path in sorted(ENGINE.rglob("*.py")):
        name = ".".join(path.relative_to(ENGINE).with_suffix("").parts)
        name = name.removesuffix(".__init__").removesuffix("__init__")
        # A package that only says what it holds is no module.
        if len(ast.parse(path.read_text(encoding="utf-8")).body) > 1:
            yield name, path


MODULES = {name: path for name, path in modules() if name}


def imports(path):
    """Yield every dotted name that a module imports, those for type checking too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def engine_imports(path):
    """Yield the engine's modules that a module imports: itself, or something that stands in it."""
    for name in imports(path):
        if name.startswith("ledger."):
            inner = name.removeprefix("ledger.")
            yield inner if inner in MODULES else inner.rpartition(".")[0]


def test_every_module_has_a_layer():
    assert sorted(MODULES) == sorted(name for layer in LAYERS for name in layer)


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_one_way(name):
    height = {module: number for number, layer in enumerate(LAYERS) for module in layer}
    wrong = {other for other in engine_imports(MODULES[name]) if height[other] >= height[name]}
    assert wrong == set()


@pytest.mark.parametrize("name", MODULES)
def test_a_library_has_one_door(name):
    used = {each.split(".")[0] for each in imports(MODULES[name])}
    assert {library for library in used if name not in DOORS.get(library, {name})} == set()


@pytest.mark.parametrize("name", MODULES)
def test_functions_are_short(name):
    text = MODULES[name].read_text(encoding="utf-8")
    long = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = (body[-1].end_lineno - body[0].lineno + 1) if body else 0
            many = len(node.args.args) - (node.args.args[:1] != [] and node.args.args[0].arg == "self")
            if lines > LONGEST_FUNCTION or many > MOST_PARAMETERS:
                long.append(f"{name}.{node.name}: {lines} lines, {many} parameters")
    assert long == []


@pytest.mark.parametrize("name", MODULES)
def test_the_engine_knows_no_gpu_word(name):
    found = [
        line for line in MODULES[name].read_text(encoding="utf-8").splitlines() if GPU_WORDS.search(line)
    ]
    assert found == []


def test_only_the_command_line_prints_or_exits():
    calls = {
        f"{name}: {node.func.id}"
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"print", "exit"}
    }
    assert {call.split(":")[0] for call in calls} <= {"cli"}


def test_an_import_of_the_command_line_is_light():
    """`--help` must not wait for pandas."""
    heavy = {"pandas", "numpy", "openpyxl", "jinja2", "pydantic"}
    top = {
        node.module or ""
        for node in ast.parse((ENGINE / "cli.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
    }
    assert not heavy & {name.split(".")[0] for name in top}
    # `ledger` itself, for `usage`, which is data.
    assert {name for name in top if name.startswith("ledger")} == {"ledger"}


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
