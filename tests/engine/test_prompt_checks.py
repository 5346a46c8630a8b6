import pytest

from specvino.engine.errors import ContextLengthExceeded, EngineUnavailable, PromptError
from specvino.engine.prompt_checks import check_ids, numbered, room


def test_room_is_what_the_context_leaves() -> None:
    assert room(10, None, 64) == room(10, 54, 64) == 54
    assert room(63, None, 64) == 1


@pytest.mark.parametrize(
    ("prompt_tokens", "max_tokens", "words"),
    [
        (65, None, "64 tokens, but the request needs 65 tokens in the prompt."),
        (65, 3, "64 tokens, but the request needs 65 tokens in the prompt."),
        (64, None, r"needs 65 tokens \(64 tokens in the prompt, 1 in the completion\)"),
        (60, 5, r"needs 65 tokens \(60 tokens in the prompt, 5 in the completion\)"),
    ],
)
def test_no_room(prompt_tokens: int, max_tokens: int | None, words: str) -> None:
    with pytest.raises(ContextLengthExceeded, match=words):
        room(prompt_tokens, max_tokens, 64)


def test_nothing_to_begin_with() -> None:
    with pytest.raises(PromptError, match="empty"):
        room(0, None, 64)


@pytest.mark.parametrize(("ids", "wrong"), [((0, 10, 11), 10), ((9, -3), -3), ((2**70,), 2**70)])
def test_ids_outside_the_vocabulary(ids: tuple[int, ...], wrong: int) -> None:
    with pytest.raises(PromptError, match=f"no token {wrong}: its token ids are 0 to 9"):
        check_ids(ids, 10)


def test_ids_of_the_vocabulary() -> None:
    check_ids((), 10)
    check_ids((0, 9), 10)


def test_only_several_are_numbered() -> None:
    with pytest.raises(PromptError, match=r"^why$"), numbered("Prompt", 0, 1):
        raise PromptError("why")
    with pytest.raises(ContextLengthExceeded, match=r"^Prompt 3: This model's") as raised, numbered("Prompt", 2, 3):
        raise ContextLengthExceeded(5, None, 4)
    assert raised.value.prompt_tokens == 5


def test_what_is_nobodys_fault_is_not_numbered() -> None:
    with pytest.raises(EngineUnavailable, match=r"^why$"), numbered("Prompt", 1, 2):
        raise EngineUnavailable("why", retry_after=1)
