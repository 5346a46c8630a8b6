"""Names of tokens beside the chosen one, and lists of token ids of a given length."""

import pytest

from specvino.engine.output.tokens import TokenNames, pad_truncate
from specvino.engine.protocol import PaddingSide
from specvino.engine.segments import TopToken


def test_tokens_are_their_bytes_and_special_ones_their_names() -> None:
    names = TokenNames([b" a", b"\xf0", b""], {2: "<end>"})
    assert names.most_likely([1], [[(0, -0.1), (1, -0.2), (2, -0.3), (3, -0.4)]]) == [
        (
            TopToken(" a", b" a", -0.1),
            TopToken("\ufffd", b"\xf0", -0.2, chosen=True),
            TopToken("<end>", b"<end>", -0.3),
            TopToken("token_id:3", None, -0.4),
        )
    ]
    assert names.most_likely([1], None) == []


def test_where_the_vocabulary_tells_no_bytes_they_are_ids() -> None:
    names = TokenNames(None, {2: "<end>"})
    assert names.most_likely([7], [[(2, -1), (7, -2)]]) == [
        (TopToken("<end>", b"<end>", -1), TopToken("token_id:7", None, -2, chosen=True))
    ]


@pytest.mark.parametrize(
    ("max_length", "pad", "expected"),
    [
        (None, None, [1, 2, 3]),
        (None, "left", [1, 2, 3]),
        (3, "left", [1, 2, 3]),
        (2, None, [1, 2]),
        (2, "left", [1, 2]),
        (2, "right", [1, 2]),
        (5, None, [1, 2, 3]),
        (5, "left", [0, 0, 1, 2, 3]),
        (5, "right", [1, 2, 3, 0, 0]),
    ],
)
def test_lengths(max_length: int | None, pad: PaddingSide | None, expected: list[int]) -> None:
    assert pad_truncate([1, 2, 3], max_length, pad, pad_id=0) == expected
