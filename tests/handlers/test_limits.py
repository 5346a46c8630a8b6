"""What the operator's limits and the engine's kind refuse."""

import pytest

from specvino.engine.protocol import ModelInfo
from specvino.generated.models import CreateChatCompletionRequest, CreateCompletionRequest, CreateResponseRequest
from specvino.handlers.errors import ApiError
from specvino.handlers.limits import Limits

CHAT = (CreateChatCompletionRequest, {"model": "m", "messages": []})
COMPLETION = (CreateCompletionRequest, {"model": "m", "prompt": "a"})
RESPONSE = (CreateResponseRequest, {"model": "m", "input": "a"})
ALL = pytest.mark.parametrize("endpoint", [CHAT, COMPLETION, RESPONSE], ids=["chat", "completions", "responses"])


def refusal(endpoint, limits=None, drafting=None, full_logits=True, **fields):
    """The code and the field of the error, None if there is none."""
    model, minimal = endpoint
    body = model.model_validate({**minimal, **fields})
    try:
        (limits or Limits()).require(body, ModelInfo(100, 50, {}, drafting, full_logits=full_logits))
    except ApiError as error:
        return error.code, error.param
    return None


@pytest.mark.parametrize(
    ("endpoint", "name"),
    [
        (CHAT, "max_tokens"),
        (CHAT, "max_completion_tokens"),
        (COMPLETION, "max_tokens"),
        (RESPONSE, "max_output_tokens"),
    ],
)
def test_the_limit_on_tokens_is_inclusive(endpoint, name) -> None:
    limits = Limits(max_tokens=10)
    assert refusal(endpoint, limits, **{name: 10}) is None
    assert refusal(endpoint, limits, **{name: 11}) == ("integer_above_max_value", name)
    assert refusal(endpoint, limits, **{name: None}) is None
    assert refusal(endpoint, **{name: 2**31 - 1}) is None


@ALL
def test_the_limit_on_candidates_is_inclusive(endpoint) -> None:
    assert refusal(endpoint, Limits(best_of=4), best_of=4) is None
    assert refusal(endpoint, Limits(best_of=4), best_of=5) == ("integer_above_max_value", "best_of")
    assert refusal(endpoint, best_of=20) is None


@ALL
def test_n_is_at_most_best_of_where_that_is_given(endpoint) -> None:
    assert refusal(endpoint, n=3, best_of=2) == ("invalid_value", "n")
    assert refusal(endpoint, n=2, best_of=1) == ("invalid_value", "n")
    assert refusal(endpoint, n=3, best_of=3) is None
    assert refusal(endpoint, n=3, best_of=None) is None
    assert refusal(endpoint, n=3) is None


@pytest.mark.parametrize(
    ("endpoint", "limit"),
    [(CHAT, "max_completion_tokens"), (COMPLETION, "max_tokens"), (RESPONSE, "max_output_tokens")],
)
def test_the_least_tokens_are_at_most_the_most(endpoint, limit) -> None:
    assert refusal(endpoint, min_tokens=5, **{limit: 4}) == ("invalid_value", "min_tokens")
    assert refusal(endpoint, min_tokens=5, **{limit: 5}) is None
    assert refusal(endpoint, min_tokens=5) is None


@ALL
def test_a_search_has_no_least_length(endpoint) -> None:
    assert refusal(endpoint, min_tokens=1, best_of=2) == ("invalid_value", "min_tokens")
    assert refusal(endpoint, min_tokens=0, best_of=2) is None
    assert refusal(endpoint, min_tokens=1, best_of=1) is None


@ALL
@pytest.mark.parametrize(
    ("field", "kinds"),
    [
        ({"num_assistant_tokens": 3}, ("draft_model", "prompt_lookup")),
        ({"assistant_confidence_threshold": 0}, ("draft_model",)),
        ({"max_ngram_size": 2}, ("prompt_lookup",)),
    ],
)
def test_settings_of_drafts_need_an_engine_that_drafts(endpoint, field, kinds) -> None:
    [name] = field
    for drafting in (None, "draft_model", "prompt_lookup"):
        expected = None if drafting in kinds else ("unsupported_parameter", name)
        assert refusal(endpoint, drafting=drafting, **field) == expected
        assert refusal(endpoint, drafting=drafting, **{name: None}) is None


@ALL
def test_an_engine_that_drafts_does_not_search(endpoint) -> None:
    for drafting in ("draft_model", "prompt_lookup"):
        assert refusal(endpoint, drafting=drafting, best_of=2) == ("unsupported_parameter", "best_of")
        assert refusal(endpoint, drafting=drafting, best_of=1) is None
        assert refusal(endpoint, drafting=drafting, min_tokens=1) is None
        least = ("unsupported_parameter", "min_tokens")
        assert refusal(endpoint, drafting=drafting, min_tokens=1, full_logits=False) == least
        assert refusal(endpoint, drafting=drafting, min_tokens=0, full_logits=False) is None
