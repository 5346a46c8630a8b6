"""The length of prompts, checked before or during tokenization: a prompt that is too long must not cost more than one
that fits.
"""

from collections.abc import Iterator, Sequence

from specvino.engine.openvino.messages.preprocess import Unit

# Characters per token of the context that are encoded first. Prose has four per token.
_DENSITY = 8

# The last tokens of a prefix may differ from those of the whole text.
MARGIN = 64

# The maximum number of characters of a batch, including padding: its pieces are padded to the longest one.
_BATCH_CHARACTERS = 1 << 20


class TooLong(Exception):
    """The prompt has more tokens than the model or its tokenizer takes, or more characters than allowed. It has `count`
    of its `unit`; with `more` this is a lower bound.
    """

    def __init__(self, count: int, limit: int, unit: Unit = "tokens", *, more: bool = True) -> None:
        super().__init__(count, limit, unit)
        self.count = count
        self.limit = limit
        self.unit = unit
        self.more = more


def beginnings(pieces: Sequence[str], context_length: int | None) -> Iterator[tuple[Sequence[str], bool]]:
    """Yields prefixes of a text, each twice as long as the previous one, and whether it is the whole text. In total
    they have at most twice the length of the text.
    """
    size = sum(map(len, pieces))
    length = size if context_length is None else _DENSITY * context_length
    while length < size:
        yield _beginning(pieces, length), False
        length *= 2
    yield pieces, True


def endings(pieces: Sequence[str], tokens: int) -> Iterator[tuple[Sequence[str], bool]]:
    """Yields suffixes of a text, like `beginnings`; the first suffices for most texts of this number of tokens."""
    backwards = [piece[::-1] for piece in reversed(pieces)]
    for ending, complete in beginnings(backwards, tokens):
        yield [piece[::-1] for piece in reversed(ending)], complete


def batches(pieces: Sequence[str]) -> Iterator[list[str]]:
    """Yields the pieces in batches of bounded size, including padding."""
    batch: list[str] = []
    longest = 0
    for piece in pieces:
        longest = max(longest, len(piece))
        if batch and (len(batch) + 1) * longest > _BATCH_CHARACTERS:
            yield batch
            batch, longest = [], len(piece)
        batch.append(piece)
    yield batch


def _beginning(pieces: Sequence[str], length: int) -> list[str]:
    beginning = []
    for piece in pieces:
        beginning.append(piece[:length])
        length -= len(piece)
        if length <= 0:
            break
    return beginning
