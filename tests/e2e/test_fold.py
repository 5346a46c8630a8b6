"""A stream adds up to the unary answer, whatever supported fields a request has: on the tiny model, by an own fold."""

import re
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.streams import judged

from specvino.conformance.streams.fold import (
    fold_chat,
    fold_completion,
    fold_ollama_chat,
    fold_ollama_generate,
    fold_response,
)
from specvino.document.loading import whole

pick = st.sampled_from

WORDS = ["hello", "capital", "count", "emoji", "json", "list", "yes", "please", "é", "🎉"]
TEXTS = st.lists(pick(WORDS), min_size=1, max_size=4).map(" ".join)
TOLD = pick(["weather Paris", "both Rome", "think", "hello"])

CITY = {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"]}
FUNCTIONS = [{"name": name, "parameters": CITY} for name in ("get_weather", "get_time")]
TOOLS = [{"type": "function", "function": function} for function in FUNCTIONS]
FLAT_TOOLS = [{"type": "function", **function} for function in FUNCTIONS]
FORMS = [
    {"type": "text"},
    {"type": "json_object"},
    {"type": "json_schema", "json_schema": {"name": "c", "schema": CITY}},
]
FLAT_FORMS = [{"type": "text"}, {"type": "json_object"}, {"type": "json_schema", "name": "c", "schema": CITY}]
STRUCTURED: dict[str, Any] = {
    "structured_outputs": pick(
        [{"json": CITY}, {"regex": "[a-e]{2,9}"}, {"choice": ["no", "é 🎉"]}, {"json_object": True}, {"choice": None}]
    )
}
SCHEMA: dict[str, Any] = {"json_schema": st.just(CITY)}
GRAMMAR: dict[str, Any] = {"grammar": st.just('root ::= "a" [b-e]+')}
GUIDED: list[dict[str, Any]] = [
    {"guided_json": st.just(CITY)},
    {"guided_regex": st.just("[a-e]{2,9}")},
    {"guided_choice": st.just(["no", "é 🎉"])},
    {"guided_grammar": st.just('root ::= "a" [b-e]+')},
    {"regex": st.just("[a-e]{2,9}")},
    {"ebnf": st.just('root ::= "a" [b-e]+')},
]
TAG: dict[str, Any] = {
    "structural_tag": st.just('{"structures": [{"begin": "1,", "schema": {}, "end": "!"}], "triggers": ["1"]}')
}

SEED = {"seed": st.integers(-(2**63), 2**63 - 1)}
DRAWN = {
    "temperature": pick([0, 0.5, 1, 2]),
    "top_p": pick([0, 0.3, 1]),
    "top_k": pick([-1, 1, 5, 40]),
    "min_p": pick([0, 0.1]),
}
ENDED = {
    "stop": pick(["e", ",", "ll", "\n"]) | st.lists(st.text(min_size=1, max_size=3), max_size=3),
    "include_stop_str_in_output": st.booleans(),
    "skip_special_tokens": st.booleans(),
    "stop_token_ids": st.lists(st.integers(0, 999), max_size=64),
    "min_tokens": st.integers(0, 20),
    "ignore_eos": st.booleans(),
}
PENALTIES = {
    "frequency_penalty": pick([-2, 0, 1]),
    "presence_penalty": pick([-1, 0, 2]),
    "repetition_penalty": pick([0.5, 1, 1.5]),
    "logit_bias": pick([{}, {"40": 5, "50": -100}]),
}
SCORES = {
    "prompt_logprobs": pick([0, 2]),
    "logprob_token_ids": st.lists(st.integers(0, 999), max_size=3),
    "allowed_token_ids": st.lists(st.integers(0, 999), min_size=1, max_size=99),
    "bad_words": st.lists(pick(["", "e", " How", "1, 2"]), max_size=2),
    "bad_words_token_ids": st.lists(st.integers(0, 999), max_size=99),
}
BEAMS = {"best_of": st.integers(2, 3), "length_penalty": pick([-1, 0, 2])}
N = {"n": st.integers(1, 2)}
PROMPT = {
    "return_token_ids": st.booleans(),
    "truncate_prompt_tokens": pick([-1, 1, 5, 100]),
    "truncation_side": pick(["left", "right"]),
    "add_special_tokens": st.booleans(),
}
RENDERING = {
    "add_generation_prompt": st.booleans(),
    "disable_chat_template": st.booleans(),
    "echo": st.booleans(),
    "prompt_token_ids": st.lists(st.integers(0, 999), max_size=5),
    "input_ids": st.lists(st.integers(0, 999), max_size=5),
}
OPEN = {"continue_final_message": st.booleans(), "echo": st.booleans()}
ORDER: dict[str, Any] = {"priority": st.integers(-3, 3)}
NAMED: dict[str, Any] = ORDER | {"request_id": pick(["", "é 1", "chatcmpl-1", "cmpl-1"])}
REASONING: dict[str, Any] = {"include_reasoning": st.booleans()}
BUDGETS: dict[str, Any] = {name: st.integers(-1, 8) for name in ("reasoning_budget_tokens", "thinking_budget_tokens")}
BUDGETS["reasoning_budget_message"] = pick(["", "é 🎉."])
CHAT_BUDGETS: dict[str, Any] = BUDGETS | {
    "thinking_token_budget": st.integers(-1, 8),
    "reasoning_max_tokens": st.integers(0, 8),
}
CALLS = {"parallel_tool_calls": st.booleans(), "chat_template_kwargs": pick([{}, {"enable_thinking": False}])}
CHAT_LOGPROBS = {"logprobs": st.booleans(), "top_logprobs": pick([0, 1, 3])}
RESPONSE_LOGPROBS = {
    **CHAT_LOGPROBS,
    "include": pick([[], ["message.output_text.logprobs"], ["reasoning.encrypted_content"]]),
}

OPTIONS = st.fixed_dictionaries(
    {"seed": st.integers(0, 2**63 - 1), "num_predict": st.integers(1, 60)},
    optional={
        **{name: DRAWN[name] for name in ("temperature", "top_p", "min_p")},
        **{name: PENALTIES[name] for name in ("frequency_penalty", "presence_penalty")},
        "top_k": pick([0, 1, 40]),
        "repeat_penalty": pick([0.5, 1, 1.5]),
        "stop": st.lists(st.text(min_size=1, max_size=3), max_size=3),
    },
)
OLLAMA_SETTINGS = {"think": pick([True, False, "low"]), "truncate": st.booleans(), **CHAT_LOGPROBS}
OLLAMA_FORM = {"format": pick(["", "json", CITY])}

# By endpoint several kinds of requests: what the text is drawn from, the fields that are given and those that may be.
KINDS: dict[str, list[tuple[Any, dict[str, Any], dict[str, Any]]]] = {
    "chat": [
        (TEXTS, {"max_tokens": st.integers(1, 40)}, DRAWN | ENDED | PENALTIES | N | NAMED | CHAT_LOGPROBS),
        (TEXTS, {"max_tokens": st.integers(1, 20)}, DRAWN | ENDED | SCORES | N | CHAT_LOGPROBS),
        (TEXTS, {"max_completion_tokens": st.integers(1, 20)}, BEAMS | N | CHAT_LOGPROBS | PROMPT),
        (TEXTS, {"max_tokens": st.integers(1, 20)}, DRAWN | ENDED | N | CHAT_LOGPROBS | PROMPT | RENDERING),
        (TOLD, {"tools": st.just(TOOLS), "max_tokens": st.integers(1, 40)}, PROMPT | OPEN | CHAT_LOGPROBS),
        (TEXTS, {"max_tokens": st.integers(1, 60), "response_format": pick(FORMS)}, DRAWN | N | CHAT_LOGPROBS),
        *(
            (TEXTS, {"max_tokens": st.integers(1, 40)}, form | DRAWN | N | CHAT_LOGPROBS)
            for form in (STRUCTURED, SCHEMA, GRAMMAR, TAG, *GUIDED)
        ),
        (TOLD, {"max_tokens": st.integers(1, 60)}, CHAT_BUDGETS | DRAWN | N | REASONING | CHAT_LOGPROBS),
        (
            TOLD,
            {"tools": st.just(TOOLS), "max_tokens": st.integers(1, 90)},
            CALLS
            | {
                "tool_choice": pick(
                    ["none", "auto", "required", {"type": "function", "function": {"name": "get_time"}}]
                )
            }
            | {"reasoning_effort": pick(["none", "low", "high"])}
            | REASONING
            | CHAT_LOGPROBS,
        ),
        (
            TOLD,
            {"functions": st.just(FUNCTIONS), "max_tokens": st.integers(1, 90)},
            {"function_call": pick(["none", "auto", {"name": "get_time"}])},
        ),
    ],
    "completions": [
        (
            TEXTS,
            {"max_tokens": st.integers(1, 40)},
            DRAWN | ENDED | PENALTIES | N | NAMED | {"echo": st.booleans(), "logprobs": pick([0, 1, 3])},
        ),
        (
            TEXTS,
            {"max_tokens": st.integers(1, 20)},
            DRAWN | ENDED | SCORES | N | {"echo": st.booleans(), "logprobs": pick([0, 1, 3])},
        ),
        (TEXTS, {"max_tokens": st.integers(1, 20)}, BEAMS | N),
        (
            TEXTS,
            {"max_tokens": st.integers(1, 20)},
            DRAWN
            | ENDED
            | N
            | PROMPT
            | {
                "echo": st.booleans(),
                "logprobs": pick([0, 1, 3]),
                "prompt_token_ids": st.lists(st.integers(0, 999), max_size=5),
            },
        ),
        *(
            (TEXTS, {"max_tokens": st.integers(1, 40)}, form | DRAWN | N | {"echo": st.booleans()})
            for form in (STRUCTURED, SCHEMA, GRAMMAR, *GUIDED)
        ),
    ],
    "responses": [
        (
            TEXTS,
            {"max_output_tokens": st.integers(1, 40)},
            DRAWN
            | ENDED
            | PENALTIES
            | N
            | RESPONSE_LOGPROBS
            | ORDER
            | {
                "instructions": pick([None, "be brief"]),
                "truncation": pick(["auto", "disabled"]),
                "store": st.booleans(),
            },
        ),
        (TEXTS, {"max_output_tokens": st.integers(1, 20)}, BEAMS | N),
        (
            TEXTS,
            {"max_output_tokens": st.integers(1, 60)},
            {"text": st.fixed_dictionaries({"format": pick(FLAT_FORMS)})},
        ),
        (TEXTS, {"max_output_tokens": st.integers(1, 60)}, {"response_format": pick(FORMS)}),
        *((TEXTS, {"max_output_tokens": st.integers(1, 40)}, form | DRAWN) for form in (STRUCTURED, SCHEMA, GRAMMAR)),
        (TOLD, {"max_output_tokens": st.integers(1, 60)}, BUDGETS | DRAWN | REASONING),
        (
            TOLD,
            {"tools": st.just(FLAT_TOOLS), "max_output_tokens": st.integers(1, 90)},
            CALLS
            | N
            | {"tool_choice": pick(["none", "auto", "required", {"type": "function", "name": "get_time"}])}
            | {"reasoning": pick([{"effort": "none"}, {"summary": "auto"}, {}])}
            | REASONING
            | RESPONSE_LOGPROBS,
        ),
    ],
    "ollama_chat": [
        (TEXTS, {"options": OPTIONS}, OLLAMA_SETTINGS | OLLAMA_FORM),
        (TOLD, {"options": OPTIONS, "tools": st.just(TOOLS)}, OLLAMA_SETTINGS),
    ],
    "ollama_generate": [
        (TEXTS, {"options": OPTIONS}, OLLAMA_SETTINGS | OLLAMA_FORM | {"raw": st.booleans()}),
        (TEXTS, {"options": OPTIONS}, {"system": pick(["", "be brief"])}),
    ],
}

# What a request is about, what makes it a stream, and what needs another server or an earlier answer (tests/proofs).
ELSEWHERE = {
    *("model", "messages", "prompt", "input", "images", "stream", "stream_options"),
    *("num_assistant_tokens", "assistant_confidence_threshold", "max_ngram_size"),
    *("conversation", "previous_response_id", "background"),
    "context_management",  # two generations: test_compaction.py
    "chat_template",
}
BODIES = {
    "chat": ("/chat/completions", "CreateChatCompletionRequest", fold_chat),
    "completions": ("/completions", "CreateCompletionRequest", fold_completion),
    "responses": ("/responses", "CreateResponseRequest", fold_response),
    "ollama_chat": ("/api/chat", "OllamaChatRequest", fold_ollama_chat),
    "ollama_generate": ("/api/generate", "OllamaGenerateRequest", fold_ollama_generate),
}
OLLAMA = ("ollama_chat", "ollama_generate")  # whose settings are in an object


@pytest.fixture(scope="module")
def client(tiny_server):
    with httpx.Client(base_url=tiny_server.url, timeout=300) as client:
        yield client


@st.composite
def requests(draw, endpoint):
    text, given_fields, optional = draw(pick(KINDS[endpoint]))
    fields = draw(st.fixed_dictionaries(seed_of(endpoint) | given_fields, optional=optional))
    about = {
        "chat": {"messages": [{"role": "user", "content": draw(text)}]},
        "completions": {"prompt": draw(text)},
        "responses": {"input": draw(text)},
        "ollama_chat": {"messages": [{"role": "user", "content": draw(text)}]},
        "ollama_generate": {"prompt": draw(text)},
    }
    unary = {"stream": False} if endpoint in OLLAMA else {"temperature": 0}
    return {"model": "tiny"} | unary | about[endpoint] | fields


def seed_of(endpoint):
    return {} if endpoint in OLLAMA else SEED


# The choices of a request with `n` go to the pipeline one by one, so that it depends on the machine's load which steps
# they share. That changes the last bits of sums (decision 050), and the 8-bit cache can turn those into a thousandth
# of a logprob, or where two tokens are about as likely into another text. So for these alone the stream has to equal
# one of as many unary answers; a wrong fold stays wrong. One choice is computed alone, as nothing else is asked
# meanwhile, and all beams of a search share each step: those must be the same at once.
TRIES = 5


def in_parts(body):
    return body.get("n", 1) > 1 and "best_of" not in body


CHANGING = {"id", "call_id", "created", "created_at", "completed_at", "encrypted_content"}
CHANGING |= {"total_duration", "prompt_eval_duration", "eval_duration"}


def same(one, other):
    """Apart from ids and times, and from the last digits of logprobs."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(key in CHANGING or same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) < 1e-3
    return one == other


@pytest.mark.parametrize("endpoint", KINDS)
def test_a_stream_adds_up_to_the_unary_answer(client, endpoint) -> None:
    path, _, fold = BODIES[endpoint]
    options = {"stream_options": {"include_usage": True}} if endpoint in ("chat", "completions") else {}

    @settings(max_examples=60)
    @given(requests(endpoint), st.booleans())
    def check(body, counted):
        # What an earlier prompt left in the prefix cache shows in the first answer alone (decision 050).
        client.post(path, json=body)
        unary = client.post(path, json=body)
        if options:
            options["stream_options"]["continuous_usage_stats"] = counted
        streamed = client.post(path, json=body | {"stream": True} | options)
        if unary.status_code != 200:
            assert (streamed.status_code, re.sub("req_.*", "", streamed.text)) == (unary.status_code, unary.text)
        else:
            folded = fold(judged(endpoint, streamed))
            answers = [unary.json()]
            while not same(folded, answers[-1]):
                assert len(answers) < (TRIES if in_parts(body) else 1), (folded, answers)
                answers.append(client.post(path, json=body).json())

    check()


@pytest.mark.parametrize("endpoint", KINDS)
def test_requests_are_drawn_from_all_supported_fields(endpoint) -> None:
    properties = whole()["components"]["schemas"][BODIES[endpoint][1]]["properties"]
    supported = {name for name, field in properties.items() if field["x-handling"] == "supported"}
    drawn = {name for _, *fields in KINDS[endpoint] for group in fields for name in group} | seed_of(endpoint).keys()
    assert supported - ELSEWHERE == drawn, "KINDS says which values a field gets, ELSEWHERE why it gets none"
