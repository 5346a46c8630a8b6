"""Stop strings: the text ends at the first one, regardless of how it is split into chunks."""

from collections.abc import Sequence


class StopMatcher:
    """Passes text on, but holds back the longest tail that could begin a stop string.

    The first complete stop string wins; of several that end at the same character, the longest. `keep` leaves it at the
    end of the text. `matched` is the stop string that was found.
    """

    def __init__(self, stops: Sequence[str], *, keep: bool = False) -> None:
        self._stops = stops
        self._keep = keep
        self._held = ""
        self.matched: str | None = None

    def push(self, text: str) -> tuple[str, bool]:
        """Returns the text that needn't be held back, and whether it ends at a stop string."""
        text = self._held + text
        matches = [(start + len(stop), start) for stop in self._stops if (start := text.find(stop)) >= 0]
        if matches:
            self._held = ""
            end, start = min(matches)
            self.matched = text[start:end]
            return text[: end if self._keep else start], True
        free = self._free(text)
        self._held = text[free:]
        return text[:free], False

    def finish(self) -> str:
        """Returns the text that was held back; no more text follows."""
        held, self._held = self._held, ""
        return held

    def _free(self, text: str) -> int:
        """Returns the index of the longest tail that begins a stop string."""
        longest = max(len(stop) for stop in self._stops) - 1
        for start in range(max(0, len(text) - longest), len(text)):
            tail = text[start:]
            if any(stop.startswith(tail) for stop in self._stops):
                return start
        return len(text)
