"""A completion request's body -> what the pipeline reads, and prompts."""

from specvino.engine.request import Prompt, TextPrompt, TokenPrompt
from specvino.generated import models
from specvino.handlers.full_logits import logprob_fields
from specvino.handlers.or_none import or_none
from specvino.handlers.pipeline import RequestFields
from specvino.handlers.structured_outputs import FormatFields, constraint_fields
from specvino.handlers.truncation import PARAM as TRUNCATION
from specvino.handlers.truncation import truncation


def request_fields(body: models.CreateCompletionRequest) -> RequestFields:
    """Returns the fields as the pipeline names them. A raw prompt is continued without tools and without a template."""
    cut, count = truncation(body), or_none(body.logprobs)
    return RequestFields(
        body=body,
        prompt_param="prompt_token_ids" if or_none(body.prompt_token_ids) else "prompt",
        max_tokens=or_none(body.max_tokens),
        n=or_none(body.n) or 1,
        echo=or_none(body.echo) or False,
        logprobs=logprob_fields(
            body, wanted=count is not None, top=count or 0, param="logprobs", echoed=or_none(body.echo) or False
        ),
        token_ids=or_none(body.return_token_ids) or False,
        truncation=cut,
        of_tokens=(*((TRUNCATION,) if cut else ()), *(() if _special(body) else ("add_special_tokens",))),
        format=FormatFields(constraints=constraint_fields(body)),
    )


def to_prompts(body: models.CreateCompletionRequest) -> tuple[Prompt, ...]:
    """Returns the prompts of a body: texts, or token ids."""
    prompt: str | list[str] | list[int] | list[list[int]] = or_none(body.prompt_token_ids) or body.prompt
    if isinstance(prompt, str):
        return (TextPrompt(prompt, _special(body)),)
    if isinstance(prompt[0], int):
        return (TokenPrompt(tuple(prompt)),)
    return tuple(
        TextPrompt(each, _special(body)) if isinstance(each, str) else TokenPrompt(tuple(each)) for each in prompt
    )


def _special(body: models.CreateCompletionRequest) -> bool:
    return or_none(body.add_special_tokens) is not False
