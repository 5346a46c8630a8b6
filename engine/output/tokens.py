"""Token ids: names of tokens that aren't part of a text, and padding and truncation of lists of ids."""

from collections.abc import Mapping, Sequence

from specvino.engine.protocol import PaddingSide
from specvino.engine.segments import TopToken


class TokenNames:
    """Names of tokens: special tokens are named by their texts in `special`, others by their bytes in the `table`, or
    else by their ids.
    """

    def __init__(self, table: Sequence[bytes] | None, special: Mapping[int, str]) -> None:
        self._table = table
        self._special = special

    def most_likely(
        self, chosen: Sequence[int], candidates: Sequence[Sequence[tuple[int, float]]] | None
    ) -> list[tuple[TopToken, ...]]:
        """Returns the most likely tokens at the position of each sampled one, from the ids and logprobs of the
        candidates; an empty list if there are none.
        """
        return [
            tuple(self._named(id, logprob, id == own) for id, logprob in top)
            for own, top in zip(chosen, candidates or (), strict=False)
        ]

    def text(self, id: int) -> str:
        """Returns the name of a token."""
        return self._named(id, 0.0, chosen=False).text

    def _named(self, id: int, logprob: float, chosen: bool) -> TopToken:
        if id in self._special:
            name = self._special[id]
            return TopToken(name, name.encode(), logprob, chosen)
        if self._table is None or id >= len(self._table):
            return TopToken(f"token_id:{id}", None, logprob, chosen)
        bytes = self._table[id]
        return TopToken(bytes.decode(errors="replace"), bytes, logprob, chosen)


def pad_truncate(ids: list[int], max_length: int | None, pad: PaddingSide | None, pad_id: int) -> list[int]:
    """Truncates ids to the first `max_length`, and pads shorter lists to that length on the side `pad` unless it is
    None.

    The truncation of OpenVINO Tokenizers 2026.4.1 depends on the model: tokenizers exported for text generation keep
    the last ids, and those made from GGUF ignore the length. This function treats all models the same.
    """
    if max_length is None:
        return ids
    ids = ids[:max_length]
    padding = [pad_id] * (max_length - len(ids))
    match pad:
        case "left":
            return padding + ids
        case "right":
            return ids + padding
        case None:
            return ids
