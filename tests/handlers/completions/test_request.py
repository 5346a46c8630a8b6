"""What the engine is asked, prompt by prompt."""

import pytest

from specvino.engine.request import TextPrompt, TokenPrompt
from specvino.generated.models import CreateCompletionRequest
from specvino.handlers.completions.request import to_generation_request


def convert(prompt, **fields):
    body = CreateCompletionRequest.model_validate({"model": "m", "prompt": prompt, **fields})
    return to_generation_request(body, {})


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
def test_forms_of_prompts(prompt, prompts):
    assert convert(prompt).prompts == prompts


def test_settings():
    request = convert("a", n=3, max_tokens=5, temperature=0)
    assert (request.n, request.sampling.max_tokens, request.sampling.temperature) == (3, 5, 0)
    assert (convert("a", n=None).n, convert("a", max_tokens=None).sampling.max_tokens) == (1, None)
