"""The waiting queue of a scheduler: requests and keys share its slots fairly, however many sequences they have."""

from collections import Counter, deque
from collections.abc import Collection, Iterator
from typing import TypeVar

from specvino.engine.openvino.messages.worker import Generate

_Key = TypeVar("_Key")

# A request, and a key, may hold this many times the number of free slots. So some slots are always free, and a new
# request needn't wait until a sequence ends: a single request gets three quarters of all slots, and two get three
# sevenths each. (Network switches with shared memory use such dynamic thresholds.)
_TIMES_FREE = 3

# All beam searches together have so many beams at most, or there is a single one: each beam is a row of every step, for
# which all others wait. So one of the API's maximum, 20, runs beside small ones (decision 088).
_MOST_BEAMS = 24

# So many sequences may begin before a beam search that has no room yet. Then nothing begins until it has, but what has
# a lower priority value.
_MOST_OVERTAKING = 16


class FairQueue:
    """The sequences that wait for one of the `slots`, and the number of running ones. A beam search takes a slot for
    each beam, and leaves a sixteenth of them free; one that is wider than that runs alone. Beam searches wait for one
    another if they have too many beams together. The next sequence has the
    lowest priority value; then that of the key with the fewest slots, of its request with the fewest slots, and
    then the oldest. A beam search that doesn't fit yet is overtaken by a few.
    """

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._waiting: dict[int, deque[Generate]] = {}  # by request, the oldest first
        self._requests: dict[int, int] = {}  # of each sequence that waits
        self._overtaken: Counter[int] = Counter()  # by request that waits and had no room when others began
        self._held_by_request: Counter[int] = Counter()
        self._held_by_owner: Counter[str] = Counter()
        self._held = 0
        self._beams = 0  # of running beam searches

    def __len__(self) -> int:
        return len(self._requests)

    def add(self, sequence: Generate) -> None:
        self._waiting.setdefault(sequence.request, deque()).append(sequence)
        self._requests[sequence.id] = sequence.request

    def drop(self, id: int) -> None:
        """Removes a waiting sequence."""
        request = self._requests.pop(id, None)
        if request is not None:
            left = deque(sequence for sequence in self._waiting.pop(request) if sequence.id != id)
            if left:
                self._waiting[request] = left
            else:
                del self._overtaken[request]

    def next(self, passed: Collection[int] = ()) -> Generate | None:
        """Returns the next sequence, None if none may start; requests in `passed` are skipped."""
        waiting = list(self._within_their_shares(passed))
        if late := [one for one in waiting if self._overtaken[one.request] >= _MOST_OVERTAKING]:
            turn = min(late, key=self._rank)
            waiting = [
                one for one in waiting if one is turn or one.priority < turn.priority or not self._delays(one, turn)
            ]
        return min(filter(self._fits, waiting), key=self._rank, default=None)

    def firsts(self) -> list[Generate]:
        """Returns the next sequence of each request that waits, the oldest request first."""
        return [sequences[0] for sequences in self._waiting.values()]

    def begin(self, sequence: Generate) -> None:
        """Assigns slots to a waiting sequence, the first of its request."""
        self._remove_first(sequence)
        for request, sequences in self._waiting.items():
            first = sequences[0]
            if not self._has_slots(first) or (_searched(sequence) and not self._has_beams(first)):
                self._overtaken[request] += 1
        self._held += sequence.beams
        self._beams += _searched(sequence)
        self._held_by_request[sequence.request] += sequence.beams
        self._held_by_owner[sequence.owner] += sequence.beams

    def refuse(self, sequence: Generate) -> None:
        """Removes a waiting sequence, the first of its request."""
        self._remove_first(sequence)

    def end(self, sequence: Generate) -> None:
        """Frees the slots of a running sequence."""
        self._held -= sequence.beams
        self._beams -= _searched(sequence)
        _subtract(self._held_by_request, sequence.request, sequence.beams)
        _subtract(self._held_by_owner, sequence.owner, sequence.beams)

    def _within_their_shares(self, passed: Collection[int]) -> Iterator[Generate]:
        most = _TIMES_FREE * (self._slots - self._held)
        if most <= 0 and self._held:
            return
        for request, sequences in self._waiting.items():
            if request in passed:
                continue
            first = sequences[0]
            holds = self._held_by_request[request]
            if holds and holds + first.beams > most:
                continue
            # Without keys all requests have the same owner.
            holds = self._held_by_owner[first.owner] if first.owner else 0
            if holds and holds + first.beams > most:
                continue
            yield first

    def _rank(self, sequence: Generate) -> tuple[int, int, int]:
        return sequence.priority, self._held_by_owner[sequence.owner], self._held_by_request[sequence.request]

    def _fits(self, sequence: Generate) -> bool:
        return self._has_slots(sequence) and self._has_beams(sequence)

    def _has_slots(self, sequence: Generate) -> bool:
        # So that a small request needn't wait until a beam search ends.
        slots = self._slots - (self._slots // 16 if _searched(sequence) else 0)
        return not self._held or self._held + sequence.beams <= slots

    def _has_beams(self, sequence: Generate) -> bool:
        beams = _searched(sequence)
        return not beams or not self._beams or self._beams + beams <= _MOST_BEAMS

    def _delays(self, sequence: Generate, search: Generate) -> bool:
        """Returns whether a beam search that has no room would wait longer if this sequence began."""
        return bool(_searched(sequence)) or not self._has_slots(search)

    def _remove_first(self, sequence: Generate) -> None:
        sequences = self._waiting[sequence.request]
        sequences.popleft()
        if not sequences:
            del self._waiting[sequence.request]
            del self._overtaken[sequence.request]
        del self._requests[sequence.id]


def _searched(sequence: Generate) -> int:
    """Returns the beams of a beam search, 0 without one."""
    return sequence.beams if sequence.beams > 1 else 0


def _subtract(counts: Counter[_Key], key: _Key, count: int) -> None:
    counts[key] -= count
    if not counts[key]:
        del counts[key]
