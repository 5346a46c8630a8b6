"""Token ids: what tokens are called that gave nothing to a text, and lists of ids brought to a length."""

from collections.abc import Mapping, Sequence

from specvino.engine.protocol import PaddingSide
from specvino.engine.segments import TopToken


class TokenNames:
    """Names tokens by their bytes in the `table`, `special` ones by their texts, and those that have neither by their
    ids."""

    def __init__(self, table: Sequence[bytes] | None, special: Mapping[int, str]) -> None:
        self._table = table
        self._special = special

    def likeliest(
        self, chosen: Sequence[int], found: Sequence[Sequence[tuple[int, float]]] | None
    ) -> list[tuple[TopToken, ...]]:
        """Returns the likeliest tokens at the places of the chosen ones, as they were `found` by their ids; nothing
        where they weren't."""
        return [
            tuple(self._named(id, logprob, id == own) for id, logprob in top)
            for own, top in zip(chosen, found or (), strict=False)
        ]

    def text(self, id: int) -> str:
        """Returns what a token is called."""
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
    """Keeps the first `max_length` ids, and fills fewer up to it on the side `pad`, unless that is None.

    The own truncation of OpenVINO Tokenizers 2026.4.1 depends on the model: tokenizers exported for text generation
    keep the last ids, and those made from GGUF ignore the length. Here all models do the same.
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
