"""What was sent in a run and what became of it, without the answers themselves."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from soak.ends import End

Who = Literal["honest", "hostile"]

MOST_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Entry:
    """One request. `kind` says what was asked; `first` is when a stream's first text came. Times are in seconds."""

    phase: str
    who: Who
    kind: str
    end: End
    seconds: float
    first: float | None = None


@dataclass
class Journal:
    """`wrong` are the first of the sentences that say what was not as it should be, of which there are `wrongs`.
    `probes` are the seconds that /health took, by phase; `lost_stores` counts deleted databases."""

    phase: str = "warm-up"
    entries: list[Entry] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    wrongs: int = 0
    probes: dict[str, list[float]] = field(default_factory=dict)
    lost_stores: int = 0

    def add(self, who: Who, kind: str, end: End, seconds: float, first: float | None = None) -> None:
        self.entries.append(Entry(self.phase, who, kind, end, seconds, first))
        for sentence in end.wrong:
            self.fault(f"{who} {kind}: {sentence}")

    def fault(self, sentence: str) -> None:
        """Notes what is not as it should be."""
        self.wrongs += 1
        if len(self.wrong) < MOST_SHOWN:
            self.wrong.append(f"[{self.phase}] {sentence}")

    def extend(self, other: "Journal") -> None:
        """Takes over what another one has."""
        self.entries += other.entries
        self.wrongs += other.wrongs
        self.wrong += other.wrong[: MOST_SHOWN - len(self.wrong)]

    def of(self, who: Who, phase: str | None = None) -> Iterator[Entry]:
        return (entry for entry in self.entries if entry.who == who and phase in (None, entry.phase))

    def counts(self, who: Who) -> dict[str, Counter[str]]:
        """Returns by kind how often it ended how: an outcome, or the code of an error."""
        counts: dict[str, Counter[str]] = {}
        for entry in self.of(who):
            counts.setdefault(entry.kind, Counter())[entry.end.code or entry.end.outcome] += 1
        return counts
