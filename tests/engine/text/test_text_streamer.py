"""The way of vocabularies without a byte table."""

from pathlib import Path

from openvino_genai import Tokenizer

from specvino.engine.models import ModelSource
from specvino.engine.text import text_streamer


def test_it_gives_the_tokenizers_text_in_whole_code_points(tiny_text: ModelSource) -> None:
    text = "你好 🎉👨‍👩‍👧 café!\nline\n"
    ids = Tokenizer(tiny_text.path).encode(text, add_special_tokens=False).input_ids.data[0].tolist()
    detokenizer = text_streamer.load(Path(tiny_text.path))()
    pieces = [*(detokenizer.push([i]) for i in ids), detokenizer.finish()]
    assert "".join(pieces) == text
    assert "\ufffd" not in "".join(pieces)
    assert sum(map(bool, pieces)) > 3
