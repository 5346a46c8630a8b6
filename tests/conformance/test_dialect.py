"""What the judge reads of a system's answers in the head of its dialect file."""

import re
from pathlib import Path

import pytest

from specvino.conformance import dialect as module
from specvino.conformance.dialect import CODES, NAMES, Dialect
from specvino.document.loading import WHOLE


def facts(name: str) -> dict[str, object]:
    dialect = Dialect(name)
    return {
        "names_fields": dialect.names_fields,
        "has_unique_ids": dialect.has_unique_ids,
        "has_reliable_calls": dialect.has_reliable_calls,
        "specifies_role_chunks": dialect.specifies_role_chunks,
        "echoes_logprobs": dialect.echoes_logprobs,
        "length of é": dialect.text_length("é"),
        "shown of ' é!'": dialect.logprob_text(" é!"),
        "withheld_tokens": dialect.withheld_tokens("responses"),
    }


OWN = {
    "names_fields": True,
    "has_unique_ids": True,
    "has_reliable_calls": True,
    "specifies_role_chunks": True,
    "echoes_logprobs": True,
    "length of é": 1,
    "shown of ' é!'": " é!",
    "withheld_tokens": 0,
}


@pytest.mark.parametrize(
    ("name", "differences"),
    [
        ("specvino", {}),
        ("openai", {"has_reliable_calls": False, "specifies_role_chunks": False}),
        ("ovms", {"names_fields": False, "has_unique_ids": False, "length of é": 2}),
        ("vllm", {"names_fields": False}),
        ("mlc-llm", {"names_fields": False, "echoes_logprobs": False, "shown of ' é!'": "!"}),
        ("fastdeploy", {"names_fields": False, "echoes_logprobs": False}),
        ("sglang", {"names_fields": False, "withheld_tokens": 2}),
        ("llama-cpp", {"names_fields": False}),
        ("ollama", {"names_fields": False, "has_unique_ids": False}),
    ],
)
def test_the_answers_of_a_system(name, differences) -> None:
    assert facts(name) == OWN | differences


def test_all_systems_are_here() -> None:
    assert WHOLE in NAMES
    assert len(NAMES) == 10
    assert Dialect("sglang").withheld_tokens("chat") == Dialect("sglang").withheld_tokens(None) == 0


FILTERED = {"id": "", "object": "", "created": 0, "model": "", "choices": []}


@pytest.mark.parametrize(
    ("system", "endpoint", "event", "governed"),
    [
        ("openai", "responses", {"type": "keepalive"}, True),
        ("vllm", "responses", {"type": "keepalive"}, False),
        ("openai", "responses", {"type": "odd.limits"}, False),
        ("openai", "responses", {"type": 5}, True),
        ("openai", "responses", {}, True),
        ("openai", "chat", {**FILTERED, "prompt_filter_results": []}, False),
        ("openai", "chat", {**FILTERED, "usage": {"total_tokens": 5}}, True),
        ("openai", "chat", {**FILTERED, "choices": [{"index": 0, "delta": {}}]}, True),
        ("openai", "completions", {**FILTERED, "choices": [{"index": 0, "text": ""}]}, True),
        ("openai", "chat", [], True),
    ],
)
def test_which_events_a_document_governs(system: str, endpoint: str, event: object, governed: bool) -> None:
    assert Dialect(system).governs(endpoint, event) is governed


@pytest.mark.parametrize("name", NAMES)
def test_a_server_follows_only_our_document_in_everything(name: str) -> None:
    dialect = Dialect(name)
    is_ours = name == WHOLE
    assert (dialect.is_exact, dialect.lists_refusals, dialect.lists_error_codes) == (is_ours,) * 3


def test_the_head_of_our_document() -> None:
    dialect = Dialect(WHOLE)
    statuses = {kind: dialect.statuses(kind, "chat") for kind in CODES}
    assert (statuses["json"], statuses["unknown_model"], statuses["method"]) == ((400,), (404,), (405,))
    assert (dialect.terminator("chat"), dialect.terminator("responses")) == ("[DONE]", None)
    assert (dialect.unknown_fields, dialect.unchecked_rules) == ("ignored", {})


def test_no_other_module_asks_for_a_system() -> None:
    folder = Path(module.__file__ or "").parent
    asking = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if re.search(r"\bWHOLE\b|\bdialect\.(name|system) [!=]=", path.read_text("utf-8"))
    }
    assert asking == {"dialect.py"}
