"""A problem that a rule finds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """A breach of a rule: the rule's name, the location in the document, and what is wrong or required there."""

    rule: str
    location: str
    fault: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.location}: {self.fault}"
