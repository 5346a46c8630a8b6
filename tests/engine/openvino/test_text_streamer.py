"""The way of vocabularies without a byte table."""

from pathlib import Path
from typing import Any

from openvino_genai import Tokenizer

from specvino.engine.models import ModelSource
from specvino.engine.openvino import text_streamer


def test_it_gives_the_tokenizers_text_in_whole_code_points(tiny_text: ModelSource) -> None:
    text = "你好 🎉👨‍👩‍👧 café!\nline\n"
    ids = Tokenizer(tiny_text.path).encode(text, add_special_tokens=False).input_ids.data[0].tolist()
    detokenizer = text_streamer.load(Path(tiny_text.path))()
    pieces = [*(detokenizer.push([i]) for i in ids), detokenizer.finish()]
    assert "".join(pieces) == text
    assert "\ufffd" not in "".join(pieces)
    assert sum(map(bool, pieces)) > 3


def test_a_character_that_is_never_whole_is_left_out_at_the_end_only(tiny_text: ModelSource) -> None:
    tokenizer = Tokenizer(tiny_text.path)
    word, party = (tokenizer.encode(text, add_special_tokens=False).input_ids.data[0].tolist() for text in ("a", "🎉"))
    assert len(party) > 1, "one token is the whole character"
    make = text_streamer.load(Path(tiny_text.path))

    def read(ids: list[int], **how: Any) -> str:
        detokenizer = make(**how)
        return "".join([*(detokenizer.push([id]) for id in ids), detokenizer.finish()])

    for each in (False, True):
        for length in range(1, len(party)):
            assert read([*word, *party[:length]], each=each) == "a"
            assert read([*party[:length], *word], each=each) == "\ufffda"


def test_some_special_tokens_can_be_shown(tiny_text: ModelSource) -> None:
    tokenizer = Tokenizer(tiny_text.path)
    ids = tokenizer.encode("<|im_start|>a b<|im_end|>", add_special_tokens=False).input_ids.data[0].tolist()
    special = {ids[0]: "<|im_start|>", ids[-1]: "<|im_end|>"}
    make = text_streamer.load(Path(tiny_text.path), special)

    def read(**how: Any) -> str:
        detokenizer = make(**how)
        return "".join([*(detokenizer.push([id]) for id in ids), detokenizer.finish()])

    for each in (False, True):
        assert read(each=each) == "a b"
        assert read(each=each, shown=frozenset(["<|im_end|>"])) == "a b<|im_end|>"
        assert read(each=each, special=True) == "<|im_start|>a b<|im_end|>"
