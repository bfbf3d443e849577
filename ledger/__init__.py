"""Tile Ledger: formulas declared once, by name, evaluated and written everywhere the same.

>>> from ledger import Project
>>> frame = Project("ledger/brought/book").report("loans").sheet("costs").frame()
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ledger.errors import LedgerError
    from ledger.project.project import Project

    __version__: str

__all__ = ("LedgerError", "Project", "__version__")


def __getattr__(name: str) -> object:
    """Return what a user of Python works with; nothing is imported before it is asked for."""
    if name == "Project":
        from ledger.project.project import Project  # noqa: PLC0415  # an import of the package is light

        return Project
    if name == "LedgerError":
        from ledger.errors import LedgerError  # noqa: PLC0415  # the same

        return LedgerError
    if name == "__version__":
        from ledger.declarations.project import VERSION  # noqa: PLC0415  # the same

        return VERSION
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
