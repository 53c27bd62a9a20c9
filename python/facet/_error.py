"""The exception of the package."""
from __future__ import annotations


class Error(Exception):
    """What Facet says when something is wrong: one line, `str(error)`, and its kind, `code`.

    A file's failure names the file and the field, what was expected and what was found; a wrong
    name names the known ones.
    """

    code: str
    """"bad argument", "bad file", "not found", …: the kinds of facet/status.h."""

    def __init__(self, line: str, code: str = "bad argument") -> None:
        super().__init__(line)
        self.code = code
