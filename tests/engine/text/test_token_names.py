"""Tokens beside the chosen one have names of their own."""

from specvino.engine.segments import TopToken
from specvino.engine.text.token_names import TokenNames


def test_tokens_are_their_bytes_and_special_ones_their_names() -> None:
    names = TokenNames([b" a", b"\xf0", b""], {2: "<end>"})
    assert names.likeliest([1], [[(0, -0.1), (1, -0.2), (2, -0.3), (3, -0.4)]]) == [
        (
            TopToken(" a", b" a", -0.1),
            TopToken("\ufffd", b"\xf0", -0.2, chosen=True),
            TopToken("<end>", b"<end>", -0.3),
            TopToken("token_id:3", None, -0.4),
        )
    ]
    assert names.likeliest([1], None) == []


def test_where_the_vocabulary_tells_no_bytes_they_are_ids() -> None:
    names = TokenNames(None, {2: "<end>"})
    assert names.likeliest([7], [[(2, -1), (7, -2)]]) == [
        (TopToken("<end>", b"<end>", -1), TopToken("token_id:7", None, -2, chosen=True))
    ]
