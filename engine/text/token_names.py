"""What tokens are called that stand beside the chosen one: they gave nothing to a text."""

from collections.abc import Mapping, Sequence

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
