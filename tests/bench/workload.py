"""The load that both sides carry: conversations of about 300 tokens, 64 new tokens each, greedy."""

from dataclasses import dataclass

NEW_TOKENS = 64

_TEXT = """
the river runs past an old mill where people of the town meet to talk about weather bread prices and letters from abroad
while children play near the bridge and count boats that carry wood stone and wool to the sea
"""
_WORDS = _TEXT.split()


@dataclass(frozen=True, slots=True)
class Load:
    """`streams` requests at a time, `rounds` times; the prompts differ, so that no prefix cache helps."""

    streams: int
    rounds: int

    def prompts(self, salt: int) -> list[list[str]]:
        """A prompt for each stream and round, other ones for every salt."""
        return [
            [_prompt(salt * 1000 + stream * 100 + round_) for round_ in range(self.rounds)]
            for stream in range(self.streams)
        ]


LOADS = (Load(1, 6), Load(4, 4), Load(16, 2))


def _prompt(number: int) -> str:
    words = [_WORDS[(number * 7 + i * (number % 11 + 1)) % len(_WORDS)] for i in range(260)]
    return f"Story {number}: " + " ".join(words)
