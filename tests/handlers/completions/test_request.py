"""What the engine is asked, prompt by prompt."""

import pytest

from specvino.engine.request import TextPrompt, TokenPrompt
from specvino.generated.models import CreateCompletionRequest
from specvino.handlers.completions.request import request_fields, to_prompts
from specvino.handlers.sampling import sampling


def body(prompt, **fields):
    return CreateCompletionRequest.model_validate({"model": "m", "prompt": prompt, **fields})


@pytest.mark.parametrize(
    ("prompt", "prompts"),
    [
        ("a", (TextPrompt("a"),)),
        (["a"], (TextPrompt("a"),)),
        (["a", "b"], (TextPrompt("a"), TextPrompt("b"))),
        ([1, 2], (TokenPrompt((1, 2)),)),
        ([[1, 2], [3]], (TokenPrompt((1, 2)), TokenPrompt((3,)))),
    ],
)
def test_forms_of_prompts(prompt, prompts) -> None:
    assert to_prompts(body(prompt)) == prompts


def test_settings() -> None:
    fields = request_fields(body("a", n=3, max_tokens=5, temperature=0))
    assert (fields.n, fields.max_tokens, fields.prompt_param) == (3, 5, "prompt")
    assert sampling(fields.body, fields.max_tokens, {}).temperature == 0
    assert (request_fields(body("a", n=None)).n, request_fields(body("a", max_tokens=None)).max_tokens) == (1, None)
