"""Where keys and values stand: tables of cases, then random documents beside tree-sitter and tomllib."""

import contextlib
import datetime as dt
import re
import tomllib
from pathlib import Path
from random import Random

import pytest
import tree_sitter
import tree_sitter_toml
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.declarations.positions import Positions

ROOT = Path(__file__).resolve().parents[2]
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language()))
FIXED = dt.datetime(2024, 2, 29, 7, 32, tzinfo=dt.UTC)


REPORT = """\
title = { zh = "账本", en = 'ledger' }  # a comment
columns.flop.unit = "FLOP"

[sheets.sweep]
set = { machine = "h100", stages = [1, 2, # one and two
  3] }
  "a.b" = 1979-05-27 07:32:00
'c"d' . "\\u4e2d" = "x"

[[view.list]]
kind = "table"
[view.list.cell]
x = 1
[[view.list]]
kind = "record"
columns = ["id", { column = "flop", as = 'f' }, [[1.5], []]]
"""


def locate(text, keys, offset=None):
    return Positions(text).locate(keys, offset)


@pytest.mark.parametrize(
    ("keys", "offset", "expected"),
    [
        ((), None, (1, 1)),
        ((), 0, (1, 1)),
        (("title",), None, (1, 1)),
        (("title",), 0, (1, 9)),
        (("title", "zh"), None, (1, 11)),
        (("title", "zh"), 1, (1, 18)),
        (("title", "zh"), 99, (1, 19)),
        (("title", "en"), None, (1, 22)),
        (("title", "en"), 0, (1, 28)),
        (("title", "fr"), None, (1, 1)),
        (("columns",), None, (2, 1)),
        (("columns", "flop"), 0, (2, 9)),
        (("columns", "flop", "unit"), None, (2, 14)),
        (("columns", "flop", "unit"), 3, (2, 25)),
        (("columns", "flop", "unti"), 3, (2, 9)),
        (("sheets",), None, (4, 2)),
        (("sheets", "sweep"), None, (4, 9)),
        (("sheets", "sweep", "set", "stages"), 7, (5, 36)),
        (("sheets", "sweep", "set", "stages", 1), None, (5, 40)),
        (("sheets", "sweep", "set", "stages", 2), None, (6, 3)),
        (("sheets", "sweep", "set", "stages", 3), None, (5, 27)),
        (("sheets", "sweep", "a.b"), None, (7, 3)),
        (("sheets", "sweep", "a.b"), 0, (7, 11)),
        (("sheets", "sweep", 'c"d', "中"), None, (8, 9)),
        (("sheets", "sweep", 'c"d', "中"), 0, (8, 21)),
        (("view", "list"), None, (10, 8)),
        (("view", "list", 0), None, (10, 8)),
        (("view", "list", 0, "kind"), 1, (11, 10)),
        (("view", "list", 0, "cell", "x"), None, (13, 1)),
        (("view", "list", 1), None, (14, 8)),
        (("view", "list", 1, "cell", "x"), None, (14, 8)),
        (("view", "list", 1, "columns", 0), None, (16, 12)),
        (("view", "list", 1, "columns", 1, "as"), 0, (16, 43)),
        (("view", "list", 1, "columns", 2, 0, 0), None, (16, 51)),
        (("view", "list", 1, "columns", 2, 1), None, (16, 57)),
        (("view", "list", 2), None, (10, 8)),
        (("nothing",), None, (1, 1)),
        (("nothing",), 4, (1, 1)),
    ],
)
def test_keys_lead_to_a_place(keys, offset, expected):
    assert expected == locate(REPORT, keys, offset)


@pytest.mark.parametrize(
    ("value", "offset", "expected"),
    [
        ('"a b"', 2, (1, 8)),
        ('""', 0, (1, 6)),
        (r'"\t\\\"x"', 3, (1, 12)),
        (r'"\u4e2d\U0001F600x"', 1, (1, 12)),
        (r'"\u4e2d\U0001F600x"', 2, (1, 22)),
        ("'\\t'", 1, (1, 7)),
        ("'中文x'", 2, (1, 8)),
        ('"""ab"""', 1, (1, 9)),
        ('"""\nab"""', 1, (2, 2)),
        ('"""\r\nab"""', 1, (2, 2)),
        ('"""\n\nab"""', 0, (2, 1)),
        ('"""a\r\nb"""', 1, (1, 9)),
        ('"""a\r\nb"""', 2, (2, 1)),
        ('"""a \\\n   \n  b"""', 2, (3, 3)),
        ('"""a \\  \r\n\r\n  b"""', 2, (3, 3)),
        ('"""a""b"""""', 3, (1, 11)),
        ('"""a""b"""""', 5, (1, 13)),
        ('"""a""b"""""', 6, (1, 14)),
        ('""""""', 0, (1, 8)),
        ("'''\n'a\\\nb'''''", 1, (2, 2)),
        ("'''\n'a\\\nb'''''", 4, (3, 1)),
        ("'''\n'a\\\nb'''''", 6, (3, 3)),
        ("2024-02-29 07:32:00Z", 5, (1, 5)),
        ("[ 'x' ]", 1, (1, 5)),
    ],
)
def test_an_offset_counts_decoded_characters(value, offset, expected):
    text = f"k = {value}\nnext = 1"
    assert expected == locate(text, ["k"], offset)
    assert (text.count("\n") + 1, 1) == locate(text, ["next"])


@pytest.mark.parametrize(
    ("text", "keys", "expected"),
    [
        ("[a.b]\n[a]\n", ("a",), (2, 2)),
        ("[a.b]\n[a]\nc.d = 1\n", ("a", "c"), (3, 1)),
        ("[[a]]\n[[a.b]]\n[a.b.c]\nx=1\n[[a]]\n[[a.b]]\n[[a.b]]\ny=1", ("a", 0, "b", 0, "c", "x"), (4, 1)),
        ("[[a]]\n[[a.b]]\n[a.b.c]\nx=1\n[[a]]\n[[a.b]]\n[[a.b]]\ny=1", ("a", 1, "b", 1, "y"), (8, 1)),
        ("\ufeff[ a . 'b' ]\n", ("a", "b"), (1, 7)),
        ("\ufeffa=1", ("a",), (1, 1)),
        ("# 1\r\n\r\n a = 1 # 2\r\nb=2\r\n", ("b",), (4, 1)),
        ("a = ['#', \"]\", '''\n]''', 1]#\nb=2", ("b",), (3, 1)),
        ("1.2 = 3", ("1", "2"), (1, 3)),
        ('["a b"]', ("a b",), (1, 2)),
        ("a = [{b=1}, {b=2}]", ("a", 1, "b"), (1, 14)),
    ],
)
def test_layouts(text, keys, expected):
    assert expected == locate(text, keys)


def test_a_quoted_header_is_no_value():
    assert locate('["a b"]', ["a b"], 2) == (1, 2)


def test_text_that_is_no_toml_is_an_error():
    with pytest.raises(ValueError, match="not TOML: '= 1'"):
        locate("= 1", ["a"])


# Oracle: tree-sitter's syntax tree of the same text.


def name_of(node):
    (name,) = tomllib.loads(f"{node.text.decode()} = 0")
    return name


def is_key(node):
    return node.type in {"bare_key", "quoted_key", "dotted_key"}


def read_key(node):
    """The names of a key with their start bytes; a quoted key has children of its own in the tree."""
    if node.type != "dotted_key":
        return [(name_of(node), node.start_byte)]
    return [part for child in node.children if is_key(child) for part in read_key(child)]


class Oracle:
    """Start bytes of every key and value, from tree-sitter's tree."""

    def __init__(self, text):
        self.source = text.encode()
        self.keys, self.values, self.lengths = {}, {}, {}
        # tree-sitter-toml 0.7.0 refuses blanks between a backslash and its line end; TOML allows them.
        lenient = re.sub(rb"\\[ \t]+(?=\r?\n)", lambda match: b"\\".ljust(len(match[0]), b"n"), self.source)
        tree = PARSER.parse(lenient).root_node
        assert not tree.has_error
        for node in tree.children:
            if node.type == "pair":
                self.pair((), node)
            elif node.type in {"table", "table_array_element"}:
                self.table(node)

    def table(self, node):
        parts = read_key(next(child for child in node.children if is_key(child)))
        path = ()
        for name, at in parts[:-1]:
            path += (name,)
            self.keys.setdefault(path, at)
            path += (self.lengths[path] - 1,) if path in self.lengths else ()
        name, at = parts[-1]
        path += (name,)
        if node.type == "table_array_element":
            self.keys.setdefault(path, at)
            self.lengths[path] = self.lengths.get(path, 0) + 1
            path += (self.lengths[path] - 1,)
        self.keys[path] = at
        for child in node.children:
            if child.type == "pair":
                self.pair(path, child)

    def pair(self, path, node):
        key, value = (child for child in node.children if child.type not in {"=", "comment"})
        for name, at in read_key(key):
            path += (name,)
            self.keys.setdefault(path, at)
        self.value(path, value)

    def value(self, path, node):
        self.values[path] = node.start_byte
        if node.type == "inline_table":
            for child in node.children:
                if child.type == "pair":
                    self.pair(path, child)
        if node.type == "array":
            elements = [child for child in node.children if child.is_named and child.type != "comment"]
            for index, child in enumerate(elements):
                self.keys[(*path, index)] = child.start_byte
                self.value((*path, index), child)

    def place(self, at):
        before = self.source[:at].decode()
        return before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1


def paths_of(value, path=()):
    """Every path of the data that tomllib reads."""
    if path:
        yield path, value
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in pairs:
        yield from paths_of(below, (*path, key))


def assert_places_agree(text):
    oracle = Oracle(text)
    for path, value in paths_of(tomllib.loads(text)):
        assert oracle.place(oracle.keys[path]) == locate(text, path), path
        start = oracle.place(oracle.values.get(path, oracle.keys[path]))
        if not isinstance(value, str):
            assert start == locate(text, path, 1), path


# Random documents, whose layout varies.

names = st.text("ab1-_ .\"'#=[]\\\n\t中é😀", max_size=3) | st.sampled_from(["a", "b", "c"])
strings = st.text("ab \"'\\\n\r\t\x00\x7f#=,]}中é😀", max_size=12)
scalars = st.one_of(
    strings, st.integers(-9, 999), st.floats(-1, 1), st.booleans(), st.just(FIXED), st.just(FIXED.date())
)
values = st.recursive(
    scalars, lambda each: st.lists(each, max_size=3) | st.dictionaries(names, each, max_size=3), max_leaves=12
)
documents = st.dictionaries(names, values, max_size=5)


class Emitter:
    """Writes data as TOML, and notes where each character of each string was put."""

    def __init__(self, random: Random):
        self.random = random
        self.end_of_line = random.choice(["\n", "\r\n"])
        self.text = ""
        self.characters = {}

    def write(self, *texts):
        self.text += self.random.choice(texts)

    def blank(self):
        self.write("", " ", "\t ")

    def end_line(self):
        self.blank()
        self.write("", "", "# [x] 'y' = \"中")
        self.text += self.end_of_line
        self.write("", "", self.end_of_line, f"  # more{self.end_of_line}", "  ")

    def gap(self):
        """What may stand between the elements of an array."""
        if self.random.random() < 0.3:
            self.end_line()
        self.blank()

    def key(self, name):
        plain = name.isascii() and name.replace("-", "a").replace("_", "a").isalnum()
        if plain and self.random.random() < 0.7:
            self.text += name
        else:
            self.string(name, long=False)

    def keys(self, names):
        for index, name in enumerate(names):
            if index:
                self.blank()
                self.text += "."
                self.blank()
            self.key(name)

    def escape(self, character):
        code = ord(character)
        short = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
        long = [f"\\U{code:08x}", *([f"\\u{code:04X}"] if code < 2**16 else [])]
        self.write(*long, *([short[character]] if character in short else []))

    def quotes(self, value, *, long):
        """One of the ways to quote `value`."""
        kinds = ['"', '"""'] if long else ['"']
        if not set(value) & set("\r\x00\x7f"):
            kinds += ["'"] if "'" not in value and "\n" not in value else []
            kinds += ["'''"] if long and "'''" not in value else []
        return self.random.choice(kinds)

    def string(self, value, *, long=True):
        """Returns the place of each character of `value`, and that of the end."""
        quotes = self.quotes(value, long=long)
        self.text += quotes
        if len(quotes) == 3 and (value.startswith("\n") or self.random.random() < 0.3):
            self.text += self.end_of_line
        places = []
        content = len(self.text)
        for character in value:
            trimmed = quotes == '"""' and self.random.random() < 0.15 and self.trim_line()
            places.append(len(self.text))
            self.character(character, quotes, content, trimmed=trimmed)
        places.append(len(self.text))
        self.text += quotes
        return places

    def character(self, character, quotes, content, *, trimmed):
        """Writes one character as it is, or escaped where it has to be and sometimes where not."""
        literal = "'" in quotes
        raw = character not in '\r\x00\x7f\\"\n' and not (trimmed and character in " \t")
        if quotes == '"""' and character == '"':
            raw = not self.text[content:].endswith('""')
        if quotes == '"""' and character == "\n":
            raw = not trimmed
        if literal or (raw and self.random.random() < 0.8):
            self.text += self.end_of_line if character == "\n" else character
        else:
            self.escape(character)

    def trim_line(self):
        """Writes a backslash that takes the line's end, and all blanks after it, out of the string."""
        self.text += "\\"
        self.blank()
        self.text += self.end_of_line
        self.write("", "  ", f" {self.end_of_line}\t")
        return True

    def value(self, path, value):
        match value:
            case bool():
                self.text += str(value).lower()
            case str():
                self.characters[path] = self.string(value)
            case dict():
                self.inline_table(path, value)
            case list():
                self.text += "["
                for index, each in enumerate(value):
                    self.gap()
                    self.value((*path, index), each)
                    self.gap()
                    if index < len(value) - 1 or self.random.random() < 0.3:
                        self.text += ","
                self.gap()
                self.text += "]"
            case dt.date():
                self.write(str(value), value.isoformat())
            case _:
                self.text += repr(value)

    def inline_table(self, path, table):
        self.text += "{"
        for index, (name, value) in enumerate(table.items()):
            self.text += "," if index else ""
            self.blank()
            self.pair(path, [name], value)
        self.text += "}"

    def pair(self, path, names, value):
        """Writes `value`, or each of its pairs behind a dotted key."""
        self.keys(names)
        self.blank()
        self.text += "="
        self.blank()
        self.value((*path, *names), value)
        self.blank()

    def dotted_pairs(self, path, names, value):
        if isinstance(value, dict) and value and self.random.random() < 0.4:
            for name, each in value.items():
                self.dotted_pairs(path, [*names, name], each)
        else:
            self.pair(path, names, value)
            self.end_line()

    def header(self, written, brackets):
        self.text += "[" * brackets
        self.blank()
        self.keys(written)
        self.blank()
        self.text += "]" * brackets
        self.end_line()

    def table(self, path, written, table, header=0):
        """Writes a table below its header; the tables in it may have headers of their own."""
        below = {
            name: value
            for name, value in table.items()
            if self.random.random() < 0.6
            and (
                isinstance(value, dict)
                or (value and isinstance(value, list) and all(isinstance(e, dict) for e in value))
            )
        }
        pairs = {name: value for name, value in table.items() if name not in below}
        late = header == 1 and below and self.random.random() < 0.3
        implied = late and not pairs
        if header and not late:
            self.header(written, header)
        if not late:
            self.pairs(path, pairs)
        for name, value in below.items():
            inside, words = (*path, name), [*written, name]
            if isinstance(value, dict):
                self.table(inside, words, value, 1)
            else:
                for index, each in enumerate(value):
                    self.table((*inside, index), words, each, 2)
        if late and not implied:
            self.header(written, header)
            self.pairs(path, pairs)

    def pairs(self, path, pairs):
        for name, value in pairs.items():
            self.dotted_pairs(path, [name], value)


@pytest.mark.slow
@settings(deadline=None)
@given(documents, st.randoms(use_true_random=False))
def test_places_are_those_of_tree_sitter(document, random):
    emitter = Emitter(random)
    emitter.table((), [], document)
    text = emitter.text
    assert document == tomllib.loads(text)
    assert_places_agree(text)
    for path, places in emitter.characters.items():
        for offset, at in enumerate(places):
            line = text.count("\n", 0, at) + 1
            assert (line, at - text.rfind("\n", 0, at)) == locate(text, path, offset), (path, offset)


def toml_files():
    """Every TOML file of the project that tomllib accepts: an example of a mistake has no places."""
    for file in sorted(ROOT.rglob("*.toml")):
        name = file.relative_to(ROOT)
        if not any(part.startswith(".") or part == "node_modules" for part in name.parts):
            with contextlib.suppress(tomllib.TOMLDecodeError):
                tomllib.loads(file.read_text(encoding="utf-8"))
                yield str(name)


@pytest.mark.slow
@pytest.mark.parametrize("file", list(toml_files()))
def test_places_in_the_files_of_the_project(file):
    assert_places_agree((ROOT / file).read_text(encoding="utf-8"))
