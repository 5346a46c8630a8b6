"""What servers draw at temperature 0, too, and whatever the seed: OpenAI promises no more than its best effort.

Each draw depends on the request, and on how often that has come, so that a test always sees the same draws.
"""

import random
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, ClassVar

from reference_server.chat import Chat
from reference_server.generation import Asked, Generation, Output, Segment
from reference_server.http import Event
from reference_server.part import Part

if TYPE_CHECKING:
    from reference_server.server import ReferenceServer


class _Draws(Part):
    """Draws something, whatever the request."""

    lot: ClassVar = 0
    """Another one gives other draws."""


class _DrawsByRequest(_Draws, Generation):
    """Draws something anew for each request."""

    def __init__(self, server: "ReferenceServer") -> None:
        super().__init__(server)
        self._came = Counter[str]()

    def drawn(self, body: Mapping[str, Any]) -> random.Random:
        request = repr(sorted(body.items()))
        self._came[request] += 1
        return random.Random(zlib.crc32(repr((request, self._came[request], self.lot)).encode()))


class DrawsAlways(_DrawsByRequest):
    """Every answer is drawn, with its length, at temperature 0 and with the same seed, too."""

    advised: ClassVar = True

    def seed(self, body: Mapping[str, Any], choice: int) -> int | None:
        return self.drawn(body).getrandbits(32)


class DrawsStreams(_DrawsByRequest):
    """Streams are drawn, and other answers aren't, as where a gateway caches only the latter."""

    def seed(self, body: Mapping[str, Any], choice: int) -> int | None:
        return self.drawn(body).getrandbits(32) if body.get("stream") else super().seed(body, choice)


class DrawsLengths(_DrawsByRequest):
    """Answers begin alike, but end anywhere."""

    advised: ClassVar = True

    def length(self, asked: Asked, draw: random.Random, budget: int) -> int:
        if asked.body.get("ignore_eos"):
            return super().length(asked, draw, budget)
        return self.drawn(asked.body).randint(6, 40)


class DrawsOneOfTwo(_DrawsByRequest):
    """A request has one of two answers, whatever its temperature."""

    advised: ClassVar = True

    def seed(self, body: Mapping[str, Any], choice: int) -> int | None:
        return self.drawn(body).randrange(2)


class DrawsEnds(_DrawsByRequest):
    """Answers end after a few words, or not before their limit."""

    advised: ClassVar = True

    def length(self, asked: Asked, draw: random.Random, budget: int) -> int:
        if asked.body.get("ignore_eos"):
            return super().length(asked, draw, budget)
        return self.drawn(asked.body).choice((2, budget + 1))


class DrawsThoughts(_DrawsByRequest):
    """The model thinks before its answer, or doesn't."""

    advised: ClassVar = True

    def thinks(self, body: Mapping[str, Any]) -> bool:
        return super().thinks(body) or self.drawn(body).random() < 0.5


class DrawsCalls(_DrawsByRequest):
    """The model calls a function that it may call, or writes a text; it makes one call or several."""

    def wants_call(self, asked: Asked) -> bool:
        return self.drawn(asked.body).random() < 0.5

    def calls(self, asked: Asked) -> Iterator[Segment]:
        calls = [*super().calls(asked)]
        most = len(calls) + 1 if asked.offer.several else 1
        yield from (calls * 2)[: self.drawn(asked.body).randint(1, most)]


class AnswersInTurn(_Draws, Generation):
    """Answers come in turn, as those of two replicas of a model, or those that a mock has prepared."""

    advised: ClassVar = True

    def __init__(self, server: "ReferenceServer") -> None:
        super().__init__(server)
        self._turns = cycle((1, 2) if self.lot % 2 else (2, 1))

    def seed(self, body: Mapping[str, Any], choice: int) -> int | None:
        return next(self._turns)


class DrawsVersions(_Draws, Chat):
    """An answer names one of two versions of the model, as where a gateway chooses between them."""

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return super().chat_completion(self.versioned(head), asked, outputs)

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        return super().chat_events(self.versioned(head), asked, outputs)

    def versioned(self, head: Mapping[str, Any]) -> dict[str, Any]:
        version = random.Random(zlib.crc32(repr((head["id"], self.lot)).encode())).randint(1, 2)
        return {**head, "model": f"{head['model']}-{version}"}
