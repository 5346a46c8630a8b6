"""Requests that the conditions of openapi/conditions.yaml refuse."""

import pytest

from specvino.engine.protocol import ModelInfo
from specvino.generated.models import CreateChatCompletionRequest, CreateCompletionRequest, CreateResponseRequest
from specvino.handlers.errors import ApiError
from specvino.handlers.limits import Limits, require_consistent, require_supported

CHAT = (CreateChatCompletionRequest, {"model": "m", "messages": []})
COMPLETION = (CreateCompletionRequest, {"model": "m", "prompt": "a"})
RESPONSE = (CreateResponseRequest, {"model": "m", "input": "a"})
ALL = pytest.mark.parametrize("endpoint", [CHAT, COMPLETION, RESPONSE], ids=["chat", "completions", "responses"])


def refusal(endpoint, limits=None, drafting=None, full_logits=True, vision=False, **fields):
    """The code and the field of the error, None if there is none."""
    model, minimal = endpoint
    body = model.model_validate({**minimal, **fields})
    try:
        require_consistent(body)
        require_supported(
            body,
            (limits or Limits()).facts_with(ModelInfo(100, 50, {}, drafting, full_logits=full_logits, vision=vision)),
        )
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


@pytest.mark.parametrize("endpoint", [CHAT, COMPLETION], ids=["chat", "completions"])
@pytest.mark.parametrize("field", ["logprob_token_ids", "allowed_token_ids", "bad_words_token_ids"])
def test_tokens_are_those_of_the_model(endpoint, field) -> None:
    assert refusal(endpoint, **{field: [3, 49]}) is None
    assert refusal(endpoint, **{field: [3, 50]}) == ("invalid_value", field)


@pytest.mark.parametrize(("endpoint", "field"), [(CHAT, "input_ids"), (COMPLETION, "prompt_token_ids")])
def test_prompts_as_token_ids(endpoint, field) -> None:
    assert refusal(endpoint, **{field: [3, 49]}) is None
    assert refusal(endpoint, **{field: [3, 50]}) == ("invalid_value", field)
    assert refusal(endpoint, vision=True, **{field: [3, 49]}) == ("unsupported_parameter", field)
    assert refusal(endpoint, vision=True, **{field: []}) is None


def test_several_prompts() -> None:
    assert refusal(COMPLETION, prompt=[[3], [50]]) == ("invalid_value", "prompt")
    assert refusal(COMPLETION, vision=True, prompt=[[3]]) == ("unsupported_parameter", "prompt")
    assert refusal(COMPLETION, vision=True, prompt=["3", "50"]) is None


def test_a_vision_language_model_does_not_compute_a_prompt_alone() -> None:
    for other in ({"logprobs": 0}, {"max_tokens": 0}):
        assert refusal(COMPLETION, vision=True, echo=True, **other) == ("unsupported_parameter", "echo")
        assert refusal(COMPLETION, echo=True, **other) is None
        assert refusal(COMPLETION, vision=True, **other) is None
    assert refusal(COMPLETION, vision=True, echo=True, max_tokens=1) is None


@ALL
def test_a_beam_search_excludes_penalties(endpoint) -> None:
    assert refusal(endpoint, best_of=2, presence_penalty=0, repetition_penalty=1) is None
    if endpoint is RESPONSE:  # a rule of the schema in the others
        assert refusal(endpoint, best_of=2, presence_penalty=1) == ("invalid_value", "best_of")
        assert refusal(endpoint, best_of=2, repetition_penalty=1.5) == ("invalid_value", "best_of")
    assert refusal(endpoint, best_of=1, presence_penalty=1) is None


@pytest.mark.parametrize("endpoint", [CHAT, RESPONSE], ids=["chat", "responses"])
def test_variables_that_the_server_passes_to_templates(endpoint) -> None:
    tools = {"chat_template_kwargs": {"tools": None}}
    assert refusal(endpoint, **tools) == ("invalid_value", "chat_template_kwargs.tools")
    prompt = "chat_template_kwargs.add_generation_prompt"
    assert refusal(endpoint, chat_template_kwargs={"add_generation_prompt": 1}) == ("invalid_type", prompt)
    assert refusal(endpoint, chat_template_kwargs={"add_generation_prompt": False, "a.b": 1}) is None


def test_chat_templates_of_requests_have_to_be_trusted() -> None:
    refused = ("unsupported_parameter", "chat_template")
    assert refusal(CHAT, chat_template="{{ messages }}") == refused
    assert refusal(CHAT, Limits(trust_request_chat_template=True), chat_template="{{ messages }}") is None


def test_a_response_in_the_background_needs_a_store() -> None:
    assert refusal(RESPONSE, background=True) == ("unsupported_parameter", "background")
    assert refusal(RESPONSE, Limits(stores_responses=True), background=True) is None


def test_messages_name_the_numbers() -> None:
    body = CreateCompletionRequest(model="m", prompt="a", max_tokens=11)
    with pytest.raises(ApiError, match=r"^max_tokens is 11, but this server's limit is 10\.$"):
        require_supported(body, Limits(max_tokens=10).facts)
