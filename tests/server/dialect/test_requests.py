"""Requests are read as the system reads them."""

import pytest

from specvino.generated.handlers import OPERATIONS
from specvino.handlers.errors import ApiError
from specvino.server.dialect import System

CHAT = OPERATIONS["create_chat_completion"]
MESSAGES = [{"role": "user", "content": "Hi"}]


def read(name, **body):
    requests = System(name, ("own", "alias"), {}).requests(CHAT)
    assert requests is not None
    return requests.read({"messages": MESSAGES, **body})


@pytest.mark.parametrize(
    ("name", "model", "expected"),
    [
        ("mlc-llm", "any path/or name", "own"),
        ("mlc-llm", None, "own"),
        ("fastdeploy", "default", "own"),
        ("vllm", None, "own"),
        ("vllm", "alias", "alias"),
        ("vllm", "other", "other"),
        ("ovms", "alias", "alias"),
    ],
)
def test_which_model_is_asked(name, model, expected) -> None:
    assert read(name, model=model)["model"] == expected


@pytest.mark.parametrize(
    ("name", "answered"), [("vllm", True), ("mlc-llm", True), ("fastdeploy", True), ("ovms", False)]
)
def test_a_model_may_be_left_out_as_there(name, answered) -> None:
    if answered:
        assert read(name)["model"] == "own"
        return
    with pytest.raises(ApiError, match="model is required"):
        read(name)


def test_a_model_is_compared_only_where_the_operator_named_it() -> None:
    for named, expected in ((True, "null"), (False, "own")):
        requests = System("fastdeploy", ("own",), {}, named=named).requests(CHAT)
        assert requests is not None
        assert requests.read({"messages": MESSAGES, "model": "null"})["model"] == expected


def test_what_the_system_refuses_is_refused_by_its_document() -> None:
    with pytest.raises(ApiError, match="tool_choice"):
        read("mlc-llm", tool_choice="required")
    assert read("openai", model="own", tools=[], tool_choice="required")["tool_choice"] == "required"


@pytest.mark.parametrize(
    ("name", "body", "param", "code", "message"),
    [
        ("openai", {"top_k": 3}, "top_k", "unknown_parameter", "Unknown parameter: top_k."),
        (
            "openai",
            {"stream_options": {"unknown": 1}},
            "stream_options.unknown",
            "unknown_parameter",
            "Unknown parameter: stream_options.unknown.",
        ),
    ],
)
def test_fields_that_the_system_refuses(name, body, param, code, message) -> None:
    with pytest.raises(ApiError) as caught:
        read(name, model="own", **body)
    assert (caught.value.param, caught.value.code, caught.value.message) == (param, code, message)


def test_a_bound_of_a_rule_between_fields() -> None:
    with pytest.raises(ApiError, match=r"prompt_logprobs is 21, .* at most 20") as caught:
        read("vllm", model="own", prompt_logprobs=21)
    assert caught.value.code == "integer_above_max_value"


@pytest.mark.parametrize(
    ("name", "message", "accepted"),
    [
        ("ollama", {"content": None}, "messages.0.content is null, but must be a string or a list."),
        ("ollama", {"content": "Hi", "name": 5}, "messages.0.name is 5, but must be a string or null."),
        ("vllm", {"content": None}, "messages.0.content is null, but must be anything but null."),
        ("fastdeploy", {"content": {}}, "messages.0.content is {}, but must be a string or a list or null."),
    ],
)
def test_what_is_accepted_is_told_once_of_unions_and_conditions(name, message, accepted) -> None:
    with pytest.raises(ApiError) as caught:
        read(name, model="own", messages=[{"role": "user", **message}])
    assert caught.value.message == accepted


def test_a_message_of_an_answer_may_be_sent_back() -> None:
    answered: dict[str, object] = {"role": "assistant", "content": "Hello", "refusal": None, "annotations": []}
    assert read("openai", model="own", messages=[*MESSAGES, answered])["messages"][-1] == answered


def test_a_body_that_is_nested_too_deeply_is_refused() -> None:
    nested: list[object] = []
    for _ in range(400):
        nested = [nested]
    with pytest.raises(ApiError) as caught:
        read("ovms", model=nested)
    assert caught.value.code == "invalid_json"


def test_a_field_whose_every_value_is_refused() -> None:
    requests = System("ovms", ("own",), {}).requests(OPERATIONS["create_response"])
    assert requests is not None
    with pytest.raises(ApiError, match="stream_options is null, but must be absent"):
        requests.read({"model": "own", "input": "Hi", "stream_options": None})


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ([], "invalid_json"),
        ({"messages": MESSAGES}, "invalid_json"),
        ({"messages": MESSAGES, "model": 5}, "invalid_json"),
        ({"messages": MESSAGES, "model": "own", "stream": None}, "invalid_json"),
        ({"messages": 5, "model": "own"}, "invalid_type"),
    ],
)
def test_what_ovms_checks_as_it_parses_a_body_is_as_bad_as_no_json(body, code) -> None:
    requests = System("ovms", ("own",), {}).requests(CHAT)
    assert requests is not None
    with pytest.raises(ApiError) as caught:
        requests.read(body)
    assert caught.value.code == code


def test_what_the_system_does_not_read_has_no_effect() -> None:
    body = {"model": "own", "reasoning_effort": "odd", "top_logprobs": 3}
    assert not read("ovms", **body).keys() & {"reasoning_effort", "top_logprobs"}
    requests = System("ovms", ("own",), {}).requests(OPERATIONS["create_completion"])
    assert requests is not None
    assert "response_format" not in requests.read({"model": "own", "prompt": "Hi", "response_format": 5})


def test_null_is_left_out_where_only_the_system_takes_it() -> None:
    assert "model" in read("vllm", model=None)
    assert read("vllm", temperature=None)["temperature"] is None


def test_what_takes_no_body_has_no_reader() -> None:
    assert System("vllm", ("own",), {}).requests(OPERATIONS["list_models"]) is None


def test_a_model_that_the_system_does_not_read() -> None:
    requests = System("llama-cpp", ("own", "alias"), {}).requests(OPERATIONS["tokenize"])
    assert requests is not None
    assert requests.read({"content": "Hi", "model": "other"})["model"] == "own"


@pytest.mark.parametrize(("name", "skips"), [("sglang", True), ("vllm", None)])
def test_a_switch_that_is_on_there_unless_a_request_says(name, skips) -> None:
    requests = System(name, ("own",), {}).requests(OPERATIONS["detokenize"])
    assert requests is not None
    assert requests.read({"tokens": [1]}).get("skip_special_tokens") == skips
    assert requests.read({"tokens": [1], "skip_special_tokens": False}).get("skip_special_tokens") == (skips and False)


def test_a_suffix_that_is_appended_is_none_of_the_prompt() -> None:
    for name, suffix in (("mlc-llm", "!"), ("ollama", "")):
        requests = System(name, ("own",), {}).requests(OPERATIONS["create_completion"])
        assert requests is not None
        body = {"model": "own", "prompt": "Hi", "suffix": "!"}
        assert requests.suffix(body) == suffix
        assert ("suffix" in requests.read(body)) is not bool(suffix)


def test_what_ovms_checks_first() -> None:
    """The depth before all else, then the model, then the other fields."""
    deep: list[object] = []
    for _ in range(98):
        deep = [deep]
    requests = System("ovms", ("own",), {}).requests(CHAT)
    assert requests is not None
    wrong = {"messages": "odd", "model": "nope"}
    for body, code in (
        ({**wrong, "odd": [[deep]]}, "invalid_json"),
        ({**wrong, "odd": deep}, "model_not_found"),
        ({**wrong, "model": ""}, "model_not_found"),
        ({**wrong, "model": "own"}, "invalid_type"),
    ):
        with pytest.raises(ApiError) as caught:
            requests.read(body)
        assert caught.value.code == code


@pytest.mark.parametrize(
    ("operation", "facts", "fields", "refused"),
    [
        ("create_chat_completion", {"max_tokens": 100}, {"max_tokens": 100}, True),
        ("create_chat_completion", {"max_tokens": 100}, {"max_tokens": 99}, False),
        ("create_chat_completion", {"max_tokens": 100}, {"max_completion_tokens": 100}, False),
        ("create_chat_completion", {"best_of": 5}, {"best_of": 5}, True),
        ("create_chat_completion", {"best_of": 5}, {"best_of": 4}, False),
        ("create_completion", {"vision": True}, {"prompt": "Hi"}, True),
        ("create_completion", {"vision": False}, {"prompt": "Hi"}, False),
        (
            "create_chat_completion",
            {"vision": True},
            {"messages": [{**MESSAGES[0], "content": "<ov_genai_image_0>"}]},
            True,
        ),
        (
            "create_chat_completion",
            {"vision": False},
            {"messages": [{**MESSAGES[0], "content": "<ov_genai_image_0>"}]},
            False,
        ),
    ],
)
def test_conditions_of_ovms_about_the_server(operation, facts, fields, refused) -> None:
    requests = System("ovms", ("own",), {}, facts=lambda _: facts).requests(OPERATIONS[operation])
    assert requests is not None
    body = {"model": "own", **({"messages": MESSAGES} if operation == "create_chat_completion" else {}), **fields}
    if refused:
        with pytest.raises(ApiError):
            requests.read(body)
    else:
        requests.read(body)
