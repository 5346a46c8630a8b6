"""The way of vocabularies without a byte table where each token's text is wanted."""

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from openvino_genai import Tokenizer

from specvino.engine.models import ModelSource
from specvino.engine.openvino.client import detokenizers
from specvino.engine.openvino.client.detokenizers import WindowDetokenizer
from specvino.engine.output.detokenizer import ByteTableDetokenizer, Detokenizer


def pieces(detokenizer: Detokenizer, ids: list[int]) -> list[str]:
    return [*(detokenizer.push([id]) for id in ids), detokenizer.finish()]


@settings(max_examples=50)
@given(text=st.text(st.sampled_from("ab \n.é你🎉"), max_size=20))
def test_each_token_s_text_comes_at_once(table: list[bytes], tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text, add_special_tokens=False).input_ids.data[0].tolist()
    assert pieces(WindowDetokenizer(tokenizer), ids) == pieces(ByteTableDetokenizer(table), ids)


def test_special_tokens_may_be_shown(tiny_text: ModelSource) -> None:
    make = detokenizers.load(tiny_text.path)
    tokenizer = Tokenizer(tiny_text.path)
    ids = [
        tokenizer.get_eos_token_id(),
        *tokenizer.encode("hello", add_special_tokens=False).input_ids.data[0].tolist(),
    ]
    for per_token in (False, True):
        assert "".join(pieces(make(per_token=per_token), ids)) == "hello"
        assert "".join(pieces(make(per_token=per_token, special=True), ids)) == "<|im_end|>hello"


def test_an_unfinished_character(tiny_text: ModelSource) -> None:
    tokenizer = Tokenizer(tiny_text.path)
    first, *rest = tokenizer.encode("é", add_special_tokens=False).input_ids.data[0].tolist()
    assert rest, "one token is the whole character"
    detokenizer = WindowDetokenizer(tokenizer)
    assert detokenizer.push([first]) == ""
    assert [detokenizer.unfinished, detokenizer.push(rest), detokenizer.unfinished] == [True, "é", False]
    word = tokenizer.encode("a", add_special_tokens=False).input_ids.data[0].tolist()
    assert detokenizer.push([*word, first]) == "a"
    assert [detokenizer.finish(), detokenizer.finish()] == ["", ""]
    assert not detokenizer.unfinished
    assert "".join(pieces(detokenizer, [first, *word])).endswith("\ufffda")


def test_an_unfinished_character_behind_text_in_one_token() -> None:
    class OneToken:
        def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
            return "a\ufffd" * len(ids)

    detokenizer = WindowDetokenizer(OneToken())
    assert detokenizer.push([0]) == ""
    assert [detokenizer.finish(), detokenizer.finish()] == ["a", ""]


def test_it_gives_the_tokenizers_text_in_whole_code_points(tiny_text: ModelSource) -> None:
    text = "你好 🎉👨‍👩‍👧 café!\nline\n"
    ids = Tokenizer(tiny_text.path).encode(text, add_special_tokens=False).input_ids.data[0].tolist()
    detokenizer = detokenizers.load(Path(tiny_text.path))()
    pieces = [*(detokenizer.push([i]) for i in ids), detokenizer.finish()]
    assert "".join(pieces) == text
    assert "\ufffd" not in "".join(pieces)
    assert sum(map(bool, pieces)) > 3


def test_a_character_that_is_never_whole_is_left_out_at_the_end_only(tiny_text: ModelSource) -> None:
    tokenizer = Tokenizer(tiny_text.path)
    word, party = (tokenizer.encode(text, add_special_tokens=False).input_ids.data[0].tolist() for text in ("a", "🎉"))
    assert len(party) > 1, "one token is the whole character"
    make = detokenizers.load(Path(tiny_text.path))

    def read(ids: list[int], **how: Any) -> str:
        detokenizer = make(**how)
        return "".join([*(detokenizer.push([id]) for id in ids), detokenizer.finish()])

    for per_token in (False, True):
        for length in range(1, len(party)):
            assert read([*word, *party[:length]], per_token=per_token) == "a"
            assert read([*party[:length], *word], per_token=per_token) == "\ufffda"


def test_some_special_tokens_can_be_shown(tiny_text: ModelSource) -> None:
    tokenizer = Tokenizer(tiny_text.path)
    ids = tokenizer.encode("<|im_start|>a b<|im_end|>", add_special_tokens=False).input_ids.data[0].tolist()
    special = {ids[0]: "<|im_start|>", ids[-1]: "<|im_end|>"}
    make = detokenizers.load(Path(tiny_text.path), special)

    def read(**how: Any) -> str:
        detokenizer = make(**how)
        return "".join([*(detokenizer.push([id]) for id in ids), detokenizer.finish()])

    for per_token in (False, True):
        assert read(per_token=per_token) == "a b"
        assert read(per_token=per_token, shown=frozenset(["<|im_end|>"])) == "a b<|im_end|>"
        assert read(per_token=per_token, special=True) == "<|im_start|>a b<|im_end|>"
