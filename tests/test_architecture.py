"""The shape of the engine: layers, doors, sizes, and the words it must not know."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ENGINE = ROOT / "ledger"

# Each module imports only from the lines above its own.
LAYERS = (
    ("errors", "values", "expr", "positions", "words", "packaged", "markers", "usage", "answer", "rules"),
    ("visible", "gitfiles"),
    ("stamp", "root", "drawing", "units", "parse", "model", "records", "targets", "publish", "cellformula"),
    ("parts",),
    ("ladders", "validation", "scenario", "sheetdata", "package", "chapter", "starter", "meaning"),
    ("places", "cells", "formulatree", "reads"),
    (
        "targets.numpy",
        "targets.excel",
        "targets.latex",
        "targets.language",
        "display",
        "kinds",
        "declarations",
        "inject",
    ),
    ("received", "readback", "shell"),
    ("plan", "library", "nodes", "record"),
    ("sheetscope", "printed", "plotted", "findings", "misses", "reading", "pins"),
    ("given", "remarks", "changes", "precedents", "gitconfig"),
    ("edits", "cellrules", "pairs", "booktext"),
    ("outside", "engine"),
    ("cellcopy", "byironcalc", "bylibreoffice"),
    ("stripped", "engines"),
    ("verify",),
    ("verifytold",),
    ("verifier",),
    ("snapshot", "likeness", "formularules"),
    ("printedrules", "bookrules"),
    ("audit",),
    ("audittold",),
    ("auditor",),
    ("evaluate",),
    ("tables", "names", "views", "trace", "fields"),
    ("claims",),
    ("resolve", "render", "layout", "pages", "styles"),
    ("formulas", "displaypage", "choices", "compared"),
    ("ledgerpage", "checklines"),
    ("tablepage", "chartspage", "charts", "printedpage", "definitionspage", "publishedpage", "checkspage"),
    ("aboutpage",),
    ("workbook", "work"),
    ("build", "explain", "frames", "question", "shown", "sources"),
    ("book", "calc", "moved", "whatif"),
    ("review",),
    ("edition",),
    ("causes",),
    ("drift",),
    ("told", "reviewtold", "difftold"),
    ("reviewer",),
    ("cli",),
    ("__main__",),
)
# Where a library may be imported; everyone else goes through these.
DOORS = {
    "jinja2": {"render"},
    "markdown_it": {"markers"},
    "openpyxl": {"workbook", "charts", "styles"},
    "pandas": {"frames"},
    "pydantic": {"model", "validation"},
    "tomllib": {"declarations", "positions"},
    "argparse": {"cli", "usage"},
    "fcntl": {"publish"},
    "ironcalc": {"byironcalc"},
    "multiprocessing": {"byironcalc"},
    "subprocess": {"gitfiles", "bylibreoffice"},
}
GPU_WORDS = re.compile(
    r"(?i)\b(gemm|cuda|gpu|nvidia|amd|warps?|occupancy|smem|sm_\w+|block_[mnk]|roofline|fp\d+|bf16|h100|tensor|hbm)\b"
)
LONGEST_MODULE, LONGEST_FUNCTION, MOST_PARAMETERS = 300, 30, 6


def modules():
    for path in sorted(ENGINE.rglob("*.py")):
        name = ".".join(path.relative_to(ENGINE).with_suffix("").parts)
        yield name.removesuffix(".__init__").removesuffix("__init__"), path


MODULES = {name: path for name, path in modules() if name}


def imports(path):
    """Yield every dotted name that a module imports, those for type checking too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (
                f"{node.module}.{alias.name}"
                if node.module in {"ledger", "ledger.targets"}
                else str(node.module)
                for alias in node.names
            )


def engine_imports(path):
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
def test_modules_and_functions_are_short(name):
    text = MODULES[name].read_text(encoding="utf-8")
    long = [f"{name}: {len(text.splitlines())} lines"] if len(text.splitlines()) > LONGEST_MODULE else []
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
