"""Checks of prompts before generation, for all engines."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from specvino.engine.errors import ContextLengthExceeded, EmptyPrompt, PromptError, TextTooLong


def room(prompt_tokens: int, max_tokens: int | None, context_length: int) -> int:
    """Returns how many tokens fit after the prompt. Raises EmptyPrompt, and ContextLengthExceeded without room for
    `max_tokens`.
    """
    if not prompt_tokens:
        raise EmptyPrompt("The prompt is empty: the model needs at least one token to begin with.")
    left = context_length - prompt_tokens
    if left < 0:
        raise ContextLengthExceeded(prompt_tokens, None, context_length)
    needed = 1 if max_tokens is None else max_tokens
    if left < needed:
        raise ContextLengthExceeded(prompt_tokens, needed, context_length)
    return left


def check_ids(ids: Sequence[int], vocabulary_size: int) -> None:
    """Raises PromptError for ids outside the model's vocabulary. They would be read as another token or none, and with
    a repetition penalty the pipeline's step would raise, which ends all requests.
    """
    if ids and (min(ids) < 0 or max(ids) >= vocabulary_size):
        unknown = next(id for id in ids if not 0 <= id < vocabulary_size)
        raise PromptError(f"The model has no token {unknown}: its token ids are 0 to {vocabulary_size - 1}.")


def check_length(name: str, characters: int, most: int) -> None:
    """Raises TextTooLong for a text that is too long to be tokenized, since other requests wait during tokenization.
    `name` begins the message.
    """
    if characters > most:
        raise TextTooLong(f"{name} has {characters} characters; at most {most} are tokenized at a time.")


@contextmanager
def numbered(name: str, index: int, count: int) -> Iterator[None]:
    """Prefixes a PromptError's message with the number of one of several texts, as in "Prompt 2: ..."."""
    try:
        yield
    except PromptError as error:
        if count > 1:
            error.args = (f"{name} {index + 1}: {error}",)
        raise
