"""Single fields of a CSV replaced: everything else stays as its author wrote it."""

import pytest

from ledger.declarations.scenario import Field, FieldEdit, Source, edited, parsed
from ledger.errors import LedgerError, Problems

FIELDS = (Field("name", "name", "text"), Field("rate", "rate", "number"))


def scenario(data, encoding="utf-8", path=None):
    problems = Problems()
    found = parsed(Source(path, "x.csv", ("id",), encoding, ("*",)), data, FIELDS, problems)
    problems.raise_any()
    return found


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        ("id,name,rate\na,A,1.0\n", (0, "rate", "2"), "id,name,rate\na,A,2\n"),
        ("id,name,rate\na,A,1.0", (0, "rate", "2"), "id,name,rate\na,A,2"),
        ("id,name,rate\r\na,A,1.0\r\n", (0, "name", "B"), "id,name,rate\r\na,B,1.0\r\n"),
        ('id,name,rate\na,"A, or",1.0\n', (0, "name", "B"), 'id,name,rate\na,"B",1.0\n'),
        ("id,name,rate\na,A,1.0\n", (0, "name", "B, C"), 'id,name,rate\na,"B, C",1.0\n'),
        ("id,name,rate\na,A,1.0\n", (0, "name", 'say "B"'), 'id,name,rate\na,"say ""B""",1.0\n'),
        ("id,name,rate\na, A  ,1.0\n", (0, "name", "B"), "id,name,rate\na, B  ,1.0\n"),
        ("id,name,rate\na, A  ,1.0\n", (0, "name", "B,"), 'id,name,rate\na,"B,",1.0\n'),
        ('id,note,name,rate\na,"x\ny,z",A,1\nb,"",B,3\n', (1, "rate", "4"),
         'id,note,name,rate\na,"x\ny,z",A,1\nb,"",B,4\n'),
        ("\ufeffid,name,rate\na,带宽,1.0\n", (0, "rate", "2"), "\ufeffid,name,rate\na,带宽,2\n"),
        ("id,name,rate\n\n,,\na,A,1.0\n\n", (0, "rate", "2"), "id,name,rate\n\n,,\na,A,2\n\n"),
    ],
)  # fmt: skip
def test_only_the_field_changes(before, edit, after):
    data = before.encode()
    assert edited(scenario(data), data, [FieldEdit(*edit)]) == after.encode()


def test_several_fields_of_a_file_change_at_once():
    data = b"id,name,rate\na,A,1.0\nb,B,2.0\n"
    edits = [FieldEdit(0, "rate", "10.5"), FieldEdit(1, "name", "longer"), FieldEdit(0, "name", "")]
    assert edited(scenario(data), data, edits) == b"id,name,rate\na,,10.5\nb,longer,2.0\n"


def test_encoding_is_kept():
    data = "id,name,rate\na,带宽,1.0\n".encode("gb18030")
    wanted = "id,name,rate\na,峰值,1.0\n".encode("gb18030")
    assert edited(scenario(data, "gb18030"), data, [FieldEdit(0, "name", "峰值")]) == wanted


def test_character_that_the_encoding_lacks_is_told():
    data = "id,name,rate\na,A,1.0\n".encode("latin-1")
    with pytest.raises(LedgerError, match="cannot be written as latin-1"):
        edited(scenario(data, "latin-1"), data, [FieldEdit(0, "name", "带")])


def test_bytes_that_would_not_come_back_are_not_edited():
    data = "id,name,rate\na,A,1.0\n".encode("utf-16-be")
    data = b"\xfe\xff" + data
    with pytest.raises(LedgerError, match="cannot be edited in place"):
        edited(scenario(data, "utf-16"), data, [FieldEdit(0, "name", "B")])
