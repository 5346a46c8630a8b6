"""Stop strings: the text ends at the first one, wherever the pieces of the text are cut."""

from collections.abc import Sequence


class StopMatcher:
    """Passes text on, but holds back the longest tail that could begin a stop string.

    The stop string that is complete first wins; among those complete at the same character, the longest. `keep` leaves
    it at the end of the text. `matched` is the one that was complete.
    """

    def __init__(self, stops: Sequence[str], *, keep: bool = False) -> None:
        self._stops = stops
        self._keep = keep
        self._held = ""
        self.matched: str | None = None

    def push(self, text: str) -> tuple[str, bool]:
        """Returns the text that is free to go, and whether it ends at a stop string: then all is over."""
        text = self._held + text
        found = [(start + len(stop), start) for stop in self._stops if (start := text.find(stop)) >= 0]
        if found:
            self._held = ""
            end, start = min(found)
            self.matched = text[start:end]
            return text[: end if self._keep else start], True
        free = self._free(text)
        self._held = text[free:]
        return text[:free], False

    def finish(self) -> str:
        """Returns the text held back, now that no more comes."""
        held, self._held = self._held, ""
        return held

    def _free(self, text: str) -> int:
        """Returns where the longest tail begins that is the start of a stop string."""
        longest = max(len(stop) for stop in self._stops) - 1
        for start in range(max(0, len(text) - longest), len(text)):
            tail = text[start:]
            if any(stop.startswith(tail) for stop in self._stops):
                return start
        return len(text)
