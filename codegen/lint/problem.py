"""The problem that a rule finds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """Tells of one breach of a rule: which rule, the place in the document, what is wrong there and what is wanted."""

    rule: str
    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.place}: {self.what}"
