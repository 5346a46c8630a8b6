"""Probabilities, repeated prompts and searches through HTTP: a stream and its unary twin say the same."""

import json

import pytest
from support.app import MINIMAL, Client, error_of

from specvino.conformance.streams.fold import fold_chat, fold_completion, fold_response
from specvino.engine.scripted import ScriptedEngine
from specvino.handlers.limits import Limits
from specvino.server.settings import Settings

TEXT = "one two thrée 🎉 four"
CHAT = ("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": TEXT}]})
COMPLETION = ("/v1/completions", {"model": "m", "prompt": TEXT})
RESPONSE = ("/v1/responses", {"model": "m", "input": TEXT})
FOLDS = {CHAT[0]: fold_chat, COMPLETION[0]: fold_completion, RESPONSE[0]: fold_response}
CHANGING = ("id", "created", "created_at", "completed_at")


def unary(endpoint, client=None, **fields):
    path, minimal = endpoint
    response = (client or Client()).ask("POST", path, json={**minimal, "temperature": 0, **fields})
    assert response.status_code == 200, response.text
    return response.json()


def streamed(endpoint, **fields):
    """What an independent fold makes of the stream."""
    path, minimal = endpoint
    body = {**minimal, "temperature": 0, **fields, "stream": True}
    if endpoint is not RESPONSE:
        body["stream_options"] = {"include_usage": True}
    response = Client().ask("POST", path, json=body)
    lines = (line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: "))
    return FOLDS[path]([json.loads(line) for line in lines if line != "[DONE]"])


def steady(value):
    """Without what differs from answer to answer."""
    if isinstance(value, dict):
        return {k: steady(v) for k, v in value.items() if k not in CHANGING}
    return [steady(element) for element in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("endpoint", "fields"),
    [
        (CHAT, {"logprobs": True}),
        (CHAT, {"logprobs": True, "top_logprobs": 3, "n": 2, "stop": "thr"}),
        (CHAT, {"logprobs": True, "stop": ["two"], "include_stop_str_in_output": True}),
        (CHAT, {"logprobs": True, "best_of": 3, "n": 2, "max_tokens": 3}),
        (COMPLETION, {"logprobs": 0}),
        (COMPLETION, {"logprobs": 1, "echo": True, "n": 2}),
        (COMPLETION, {"logprobs": 1, "echo": True, "max_tokens": 0}),
        (COMPLETION, {"echo": True, "prompt": [[1, 2], [3]]}),
        (COMPLETION, {"logprobs": 1, "echo": True, "stop": "four", "best_of": 2}),
        (RESPONSE, {"include": ["message.output_text.logprobs"]}),
        (RESPONSE, {"logprobs": True, "top_logprobs": 2, "stop": "thr"}),
        (RESPONSE, {"top_logprobs": 1, "max_output_tokens": 3}),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else " ".join(value),
)
def test_a_stream_adds_up_to_its_unary_twin(endpoint, fields) -> None:
    one, other = unary(endpoint, **fields), streamed(endpoint, **fields)
    assert steady(one) == steady(other)
    assert "logprob" in json.dumps(one)


def test_chat() -> None:
    [choice] = unary(CHAT, logprobs=True)["choices"]
    tokens = choice["logprobs"]["content"]
    assert [token["token"] for token in tokens] == ["one", " two", " thrée", " 🎉", " four", ""]
    assert [bytes(token["bytes"]).decode() for token in tokens] == [token["token"] for token in tokens]
    assert all(token["logprob"] <= 0 and token["top_logprobs"] == [] for token in tokens)
    assert choice["logprobs"]["refusal"] is None
    assert unary(CHAT)["choices"][0]["logprobs"] is None
    assert unary(CHAT, logprobs=False, top_logprobs=0)["choices"][0]["logprobs"] is None


def test_the_chosen_token_is_the_only_one_known() -> None:
    [choice] = unary(CHAT, logprobs=True, top_logprobs=1)["choices"]
    for token in choice["logprobs"]["content"]:
        assert token["top_logprobs"] == [{name: token[name] for name in ("token", "logprob", "bytes")}]


@pytest.mark.parametrize("fields", [{"top_logprobs": 1}, {"logprobs": False, "top_logprobs": 1}])
def test_likely_tokens_need_logprobs(fields) -> None:
    error = error_of(Client().ask("POST", CHAT[0], json={**CHAT[1], **fields}), 400, "invalid_value")
    assert error["param"] == "top_logprobs"


def test_the_likeliest_tokens_are_shown() -> None:
    [choice] = unary(CHAT, logprobs=True, top_logprobs=3)["choices"]
    for token in choice["logprobs"]["content"]:
        first, *others = token["top_logprobs"]
        assert first == {name: token[name] for name in ("token", "logprob", "bytes")}
        assert len(others) == 2
        assert all(other["logprob"] < first["logprob"] for other in others)
    response = unary(RESPONSE, top_logprobs=20)
    assert response["top_logprobs"] == 20
    [part] = response["output"][0]["content"]
    assert {len(token["top_logprobs"]) for token in part["logprobs"]} == {20}
    [choice] = unary(COMPLETION, logprobs=5)["choices"]
    logprobs = choice["logprobs"]
    assert {len(top) for top in logprobs["top_logprobs"]} == {5}
    for token, logprob, top in zip(
        logprobs["tokens"], logprobs["token_logprobs"], logprobs["top_logprobs"], strict=True
    ):
        assert top[token] == logprob == max(top.values())


@pytest.mark.parametrize(
    ("endpoint", "fields", "logprobs"),
    [
        (CHAT, {"logprobs": True, "top_logprobs": 2}, "top_logprobs"),
        (CHAT, {"logprobs": True, "top_logprobs": 2, "logit_bias": {"1": 1}}, "top_logprobs, logit_bias"),
        (CHAT, {"logit_bias": {"1": 1}}, "logit_bias"),
        (RESPONSE, {"top_logprobs": 2}, "top_logprobs"),
        (COMPLETION, {"logprobs": 2}, "logprobs"),
        (COMPLETION, {"logprobs": 1, "echo": True}, "logprobs"),
        (
            CHAT,
            {"logprobs": True, "logprob_token_ids": [1], "prompt_logprobs": 0},
            "logprob_token_ids, prompt_logprobs",
        ),
        (COMPLETION, {"allowed_token_ids": [1], "bad_words": ["a"]}, "allowed_token_ids, bad_words"),
        (CHAT, {"bad_words_token_ids": [1]}, "bad_words_token_ids"),
    ],
)
def test_beside_a_structure_the_chosen_token_is_shown_alone(endpoint, fields, logprobs) -> None:
    form = {"format": {"type": "json_object"}}
    held = {"text": form} if endpoint is RESPONSE else {"guided_choice": ["yes", "no"]}
    response = Client().ask("POST", endpoint[0], json={**endpoint[1], **fields, **held})
    assert response.headers["x-unsupported-params"] == logprobs
    assert "x-unsupported-params" not in Client().ask("POST", endpoint[0], json={**endpoint[1], **fields}).headers
    if endpoint is RESPONSE:
        assert response.json()["top_logprobs"] == 1
    rejecting = Client(settings=Settings(unsupported_fields="reject"))
    error = error_of(
        rejecting.ask("POST", endpoint[0], json={**endpoint[1], **fields, **held}), 400, "unsupported_parameter"
    )
    assert error["param"] == logprobs.split(", ")[0]


@pytest.mark.parametrize("endpoint", [CHAT, COMPLETION, RESPONSE])
def test_a_bias_of_a_token_that_the_model_lacks_is_refused(endpoint) -> None:
    path, body = endpoint
    response = Client().ask("POST", path, json=body | {"logit_bias": {"5": 1, "32767": 1, "32768": 1}})
    error = error_of(response, 400, "invalid_value")
    assert error["param"] == "logit_bias"
    assert error["message"] == "logit_bias contains 32768, but the model's token ids are 0 to 32767."


@pytest.mark.parametrize("field", ["logprob_token_ids", "allowed_token_ids", "bad_words_token_ids"])
def test_a_token_that_the_model_lacks_is_refused(field) -> None:
    error = error_of(Client().chat(logprobs=True, **{field: [5, 32768]}), 400, "invalid_value")
    assert error["param"] == field
    assert error["message"] == f"{field} contains 32768, but the model's token ids are 0 to 32767."
    assert Client().chat(logprobs=True, **{field: [5, 32767]}).status_code == 200


def test_named_tokens_without_logprobs_have_no_effect() -> None:
    answer = Client().chat(logprob_token_ids=[5])
    assert answer.headers["x-unsupported-params"] == "logprob_token_ids"
    assert answer.json()["choices"][0]["logprobs"] is None


BOUNDS = {-1: "integer_below_min_value", 21: "integer_above_max_value"}


@pytest.mark.parametrize("endpoint", [CHAT, COMPLETION])
@pytest.mark.parametrize("count", BOUNDS)
def test_more_likely_tokens_of_a_prompt_than_are_returned_are_refused(endpoint, count) -> None:
    path, body = endpoint
    error = error_of(Client().ask("POST", path, json=body | {"prompt_logprobs": count}), 400, BOUNDS[count])
    assert error["param"] == "prompt_logprobs"
    assert Client().ask("POST", path, json=body | {"prompt_logprobs": 20}).status_code == 200


def test_completions_say_where_tokens_begin() -> None:
    [choice] = unary(COMPLETION, logprobs=1, echo=True, max_tokens=2)["choices"]
    assert choice["text"] == TEXT + "one two"
    logprobs = choice["logprobs"]
    assert logprobs["tokens"] == ["one", " two", " thrée", " 🎉", " four", "one", " two"]
    assert logprobs["text_offset"] == [0, 3, 7, 13, 15, 20, 23]
    assert all(map(str.startswith, (choice["text"][offset:] for offset in logprobs["text_offset"]), logprobs["tokens"]))
    assert logprobs["token_logprobs"][0] is None
    assert all(logprob <= 0 for logprob in logprobs["token_logprobs"][1:])
    assert logprobs["top_logprobs"][0] is None
    assert logprobs["top_logprobs"][1] == {" two": logprobs["token_logprobs"][1]}
    assert logprobs["token_logprobs"][1] == logprobs["token_logprobs"][6]
    [choice] = unary(COMPLETION, logprobs=0)["choices"]
    assert choice["logprobs"]["top_logprobs"] is None
    assert choice["logprobs"]["text_offset"][0] == 0


def test_a_prompt_alone() -> None:
    answer = unary(COMPLETION, echo=True, max_tokens=0, logprobs=1)
    [choice] = answer["choices"]
    assert (choice["text"], choice["finish_reason"]) == (TEXT, "length")
    assert choice["logprobs"]["tokens"] == ["one", " two", " thrée", " 🎉", " four"]
    assert answer["usage"]["completion_tokens"] == 0
    [choice] = unary(COMPLETION, echo=True, max_tokens=0)["choices"]
    assert (choice["text"], choice["logprobs"]) == (TEXT, None)


@pytest.mark.parametrize("fields", [{}, {"echo": False}, {"echo": None}])
def test_no_tokens_at_all_are_for_echo(fields) -> None:
    error = error_of(
        Client().ask("POST", COMPLETION[0], json={**COMPLETION[1], "max_tokens": 0, **fields}), 400, "invalid_value"
    )
    assert error["param"] == "max_tokens"


def test_responses() -> None:
    response = unary(RESPONSE, include=["message.output_text.logprobs"])
    [part] = response["output"][0]["content"]
    assert "".join(token["token"] for token in part["logprobs"]) == part["text"] == TEXT
    assert response["top_logprobs"] == 0
    response = unary(RESPONSE, top_logprobs=1)
    assert response["top_logprobs"] == 1
    assert response["output"][0]["content"][0]["logprobs"][0]["top_logprobs"][0]["token"] == "one"
    assert unary(RESPONSE)["output"][0]["content"][0]["logprobs"] == []


@pytest.mark.parametrize("endpoint", [CHAT, COMPLETION, RESPONSE], ids=["chat", "completions", "responses"])
@pytest.mark.parametrize("penalty", [{"frequency_penalty": 0.5}, {"presence_penalty": -1}, {"repetition_penalty": 1.1}])
def test_a_search_takes_no_penalties(endpoint, penalty) -> None:
    body = {**endpoint[1], "best_of": 2, **penalty}
    assert error_of(Client().ask("POST", endpoint[0], json=body), 400, "invalid_value")["param"] == "best_of"
    neutral = {"frequency_penalty": 0, "presence_penalty": 0.0, "repetition_penalty": 1}
    unary(endpoint, best_of=2, **neutral)
    unary(endpoint, best_of=1, **penalty)


def test_the_best_texts_differ() -> None:
    first, second = (choice["message"]["content"] for choice in unary(CHAT, best_of=3, n=2)["choices"])
    assert first == TEXT != second


def test_the_operator_s_limits() -> None:
    client = Client(limits=Limits(max_tokens=2, best_of=3), engine=ScriptedEngine(defaults={"max_tokens": 2}))
    assert unary(CHAT, client)["choices"][0]["finish_reason"] == "length"
    assert unary(CHAT, client, max_tokens=2)["usage"]["completion_tokens"] == 2
    assert error_of(client.chat(max_tokens=3), 400, "integer_above_max_value")["param"] == "max_tokens"
    assert error_of(client.chat(best_of=4), 400, "integer_above_max_value")["param"] == "best_of"


def test_settings_of_drafts() -> None:
    plain, drafting = Client(), Client(engine=ScriptedEngine(drafting="draft_model"))
    assert error_of(plain.chat(num_assistant_tokens=3), 400, "unsupported_parameter")["param"] == "num_assistant_tokens"
    assert drafting.chat(num_assistant_tokens=3).status_code == 200
    assert drafting.chat(**MINIMAL, assistant_confidence_threshold=0.5).status_code == 200
    assert error_of(drafting.chat(max_ngram_size=3), 400, "unsupported_parameter")["param"] == "max_ngram_size"
