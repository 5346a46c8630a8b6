"""The admission of a prompt: what every engine asks of it before it begins to answer."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from specvino.engine.errors import ContextLengthExceeded, PromptError


def room(prompt_tokens: int, max_tokens: int | None, context_length: int) -> int:
    """Tells how many tokens fit behind the prompt.

    Raises PromptError if it is empty or leaves no room for what is asked.
    """
    if not prompt_tokens:
        raise PromptError("The prompt is empty: the model needs at least one token to begin with.")
    left = context_length - prompt_tokens
    if left < 0:
        raise ContextLengthExceeded(prompt_tokens, None, context_length)
    wanted = 1 if max_tokens is None else max_tokens
    if left < wanted:
        raise ContextLengthExceeded(prompt_tokens, wanted, context_length)
    return left


def check_ids(ids: Sequence[int], vocabulary_size: int) -> None:
    """Raises PromptError if there is an id that the model doesn't have.

    It would be fatal for everybody: the model reads some other token, or none, and a repetition penalty makes the
    pipeline's step raise.
    """
    if ids and (min(ids) < 0 or max(ids) >= vocabulary_size):
        wrong = next(id for id in ids if not 0 <= id < vocabulary_size)
        raise PromptError(f"The model has no token {wrong}: its token ids are 0 to {vocabulary_size - 1}.")


def check_length(what: str, characters: int, most: int) -> None:
    """Raises PromptError for a text that is too long to be tokenized: other requests wait meanwhile."""
    if characters > most:
        raise PromptError(f"{what} has {characters} characters; at most {most} are tokenized at a time.")


@contextmanager
def numbered(what: str, index: int, count: int) -> Iterator[None]:
    """Makes a PromptError say which one of several it is about, as in "Prompt 2: ..."."""
    try:
        yield
    except PromptError as error:
        if count > 1:
            error.args = (f"{what} {index + 1}: {error}",)
        raise
