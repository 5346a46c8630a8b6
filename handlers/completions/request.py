"""A completion request's body -> what the pipeline reads, and prompts."""

from specvino.engine.request import Prompt, TextPrompt, TokenPrompt
from specvino.generated import models
from specvino.handlers.or_none import or_none
from specvino.handlers.pipeline import RequestFields


def request_fields(body: models.CreateCompletionRequest) -> RequestFields:
    """Returns the fields as the pipeline names them. A raw prompt is continued without tools and without a template."""
    return RequestFields(
        body=body,
        prompt_param="prompt",
        max_tokens=or_none(body.max_tokens),
        n=or_none(body.n) or 1,
        echo=or_none(body.echo) or False,
        logprobs=or_none(body.logprobs) is not None,
    )


def to_prompts(prompt: str | list[str] | list[int] | list[list[int]]) -> tuple[Prompt, ...]:
    """Returns the prompts of a body: texts, or token ids."""
    if isinstance(prompt, str):
        return (TextPrompt(prompt),)
    if isinstance(prompt[0], int):
        return (TokenPrompt(tuple(prompt)),)
    return tuple(TextPrompt(each) if isinstance(each, str) else TokenPrompt(tuple(each)) for each in prompt)
