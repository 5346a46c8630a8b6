"""Every event of every stream fits the document, and every stream its table: whatever the engine does."""

from typing import Any

import httpx
import pytest
from support.streams import judged

ENDPOINTS = ["chat", "completions", "responses"]

# What the scripted engine can be told to do, and the fields of the request besides.
REPERTOIRE: dict[str, tuple[str, dict[str, Any]]] = {
    "words": ("", {}),
    "nothing": ("", {"text": ""}),
    "white space": ("", {"text": " \n\t "}),
    "pieces of characters": ("token_bytes=1", {}),
    "the token limit": ("", {"limit": 2}),
    "a limit inside a character": ("token_bytes=1", {"limit": 6}),
    "a stop text": ("", {"stop": ["three", "ré"]}),
    "no end": ("", {"ignore_eos": True, "limit": 50}),
    "sampling": ("", {"temperature": 1.5, "seed": 3}),
    "a crash": ("crash_at=3", {}),
    "a crash inside a character": ("token_bytes=1 crash_at=5", {}),
}

TEXT = "une é two 🎉 three 你好 four"


def ask(client, endpoint, model, text, *, limit=None, stop=None, **fields):
    body = {"model": model, "stream": True, "temperature": 0} | fields
    if stop:
        body["stop"] = stop
    if limit:
        body["max_output_tokens" if endpoint == "responses" else "max_tokens"] = limit
    match endpoint:
        case "chat":
            return client.post("/chat/completions", json=body | {"messages": [{"role": "user", "content": text}]})
        case "completions":
            return client.post("/completions", json=body | {"prompt": text or " "})
        case _:
            return client.post("/responses", json=body | {"input": [{"role": "user", "content": text}]})


def failed(event):
    return "error" in event or event.get("type") in ("error", "response.failed")


@pytest.fixture(scope="module")
def scripted(scripted_server):
    with httpx.Client(base_url=scripted_server.url, timeout=300) as client:
        yield client


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize("act", REPERTOIRE)
def test_what_the_scripted_engine_can_do(scripted, endpoint, act) -> None:
    directives, fields = REPERTOIRE[act]
    text = fields.get("text", TEXT)
    rest = {name: value for name, value in fields.items() if name != "text"}
    response = ask(scripted, endpoint, "m", f"script: {directives}\n{text}" if directives else text, **rest)
    events = judged(endpoint, response)
    assert failed(events[-1]) == act.startswith("a crash")
    assert not any(map(failed, events[:-1]))


@pytest.mark.parametrize("endpoint", ["chat", "responses"])
def test_a_crash_before_the_first_token(scripted, endpoint) -> None:
    events = judged(endpoint, ask(scripted, endpoint, "m", "script: crash_at=0\nx"))
    assert failed(events[-1])


def test_completions_have_no_event_before_the_first_token(scripted) -> None:
    assert ask(scripted, "completions", "m", "script: crash_at=0\nx").status_code == 503


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize(("directive", "status"), [("unavailable=1", 503), ("refused=1", 400)])
def test_what_is_known_before_the_first_event_is_a_status(scripted, endpoint, directive, status) -> None:
    assert ask(scripted, endpoint, "m", f"script: {directive}\nx").status_code == status


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
@pytest.mark.parametrize("options", [None, {"include_usage": True}, {"include_usage": False}])
def test_choices_and_usage(scripted, endpoint, options) -> None:
    events = judged(endpoint, ask(scripted, endpoint, "m", TEXT, n=3, stream_options=options))
    choices = {choice["index"] for event in events for choice in event["choices"]}
    assert choices == {0, 1, 2}
    assert ("usage" in events[-1]) == bool(options and options["include_usage"])


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize("fields", [{}, {"limit": 3}, {"stop": [" of"]}, {"temperature": 1, "limit": 20}])
def test_the_default_model(default_server, endpoint, fields) -> None:
    with httpx.Client(base_url=default_server.url, timeout=300) as client:
        fields = {"limit": 40} | fields
        events = judged(endpoint, ask(client, endpoint, "smollm2", "The capital of France is", **fields))
    assert not any(map(failed, events))
    assert len(events) > 3
