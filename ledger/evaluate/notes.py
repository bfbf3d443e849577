"""Notes on single cells of a table, from a CSV beside it: sources, and where sources disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.declarations import scenario
from ledger.declarations.scenario import Field, Scenario
from ledger.errors import Problems, near

if TYPE_CHECKING:
    from ledger.evaluate.lookups import TableRows
    from ledger.plan.plan import PlannedTable

#: The text of each cell that has one, by row and field; an empty field is the row as a whole.
Notes = dict[tuple[str, str], str]

#: The columns of a CSV of notes.
COLUMNS = (
    Field("row", "row", "text"),
    Field("field", "field", "text", optional=True),
    Field("note", "note", "text"),
)


def notes_on(table: PlannedTable, rows: TableRows, read: Scenario, problems: Problems) -> Notes:
    """Return the notes on a table's cells, as `read`; a row or a field that is not there is a problem."""
    found: Notes = {}
    fields = {each.name for each in table.fields}
    columns = (read.typed[each.name].data.tolist() for each in COLUMNS)
    for number, (key, name, note) in enumerate(zip(*columns, strict=True)):
        if key not in rows.numbers:
            place = scenario.place(read, number, "row")
            problems.add(f"table {table.name!r} has no row {key!r}", place, near(key, rows.keys))
        elif name and name not in fields:
            place = scenario.place(read, number, "field")
            problems.add(f"table {table.name!r} has no field {name!r}", place, near(name, fields))
        else:
            found[key, name] = "\n".join(each for each in (found.get((key, name), ""), note) if each)
    return found
