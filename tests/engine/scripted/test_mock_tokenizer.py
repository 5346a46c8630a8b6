from hypothesis import given
from hypothesis import strategies as st

from specvino.engine.scripted.mock_tokenizer import VOCABULARY_SIZE, word_ids, words


@given(st.text())
def test_tokens_are_the_text(text: str) -> None:
    assert "".join(words(text)) == text
    assert len(word_ids(text)) == len(words(text))
    assert all(0 <= id < VOCABULARY_SIZE for id in word_ids(text))


def test_a_word_has_the_same_id_everywhere() -> None:
    first, second, third = word_ids("one two two")
    assert first != second == third
