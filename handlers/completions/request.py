"""A completion request's body -> what the engine is asked."""

from collections.abc import Mapping

from specvino.engine.request import GenerationRequest, Prompt, TextPrompt, TokenPrompt
from specvino.generated import models
from specvino.handlers.given import given
from specvino.handlers.sampling import sampling


def to_generation_request(body: models.CreateCompletionRequest, model: Mapping[str, float | int]) -> GenerationRequest:
    """`model` holds the settings of the model's generation_config.json."""
    return GenerationRequest(
        prompts=_prompts(body.prompt),
        sampling=sampling(body, given(body.max_tokens), model),
        n=given(body.n) or 1,
        echo=given(body.echo) or False,
        logprobs=given(body.logprobs) is not None,
    )


def _prompts(prompt: str | list[str] | list[int] | list[list[int]]) -> tuple[Prompt, ...]:
    if isinstance(prompt, str):
        return (TextPrompt(prompt),)
    if isinstance(prompt[0], int):
        return (TokenPrompt(tuple(prompt)),)
    return tuple(TextPrompt(each) if isinstance(each, str) else TokenPrompt(tuple(each)) for each in prompt)
