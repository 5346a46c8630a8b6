"""Several outputs of one response: they are written at once, and a response lists one behind the other."""

from collections import defaultdict
from collections.abc import Iterator

from specvino.engine.segments import Finish, Segment, Started, Usage


class OneByOne:
    """Orders segments by their choice: each choice's come when the choices before it are whole."""

    def __init__(self) -> None:
        self._choice = 0
        self._waiting: defaultdict[int, list[Segment]] = defaultdict(list)

    def feed(self, segment: Segment) -> Iterator[Segment]:
        """Yields what may be shown by now."""
        if isinstance(segment, Started | Usage) or segment.choice == self._choice:
            yield segment
        else:
            self._waiting[segment.choice].append(segment)
        while isinstance(segment, Finish) and segment.choice == self._choice:
            self._choice += 1
            for segment in self._waiting.pop(self._choice, ()):
                yield segment
