"""The tables say what the document says."""

import importlib
import sys

import pytest

from specvino.codegen.emit import tables


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Imports the text of a generated file."""

    def load(text):
        (tmp_path / "rendered_table.py").write_text(text)
        monkeypatch.delitem(sys.modules, "rendered_table", raising=False)
        importlib.invalidate_caches()
        return importlib.import_module("rendered_table")

    monkeypatch.syspath_prepend(tmp_path)
    return load


def test_fates_and_shapes(real, run):
    shapes = run(tables.support(real.document)).SHAPES
    request = shapes["CreateChatCompletionRequest"].fields
    assert request["user"].fate == "noted"
    assert request["logit_bias"].honours == {"maxProperties": 0}
    assert request["messages"].shape == "Message"
    assert request["metadata"].shape is None, "free-form maps are not searched"
    assert shapes["Message"].select == "role"
    assert shapes["Message"].variants["tool"] == "ToolMessage"
    assert shapes["UserMessage"].fields["content"].shape == "TextPart", "through a union with a list in it"
    assert "ChatCompletion" not in shapes


def test_defaults(real, run):
    defaults = run(tables.support(real.document)).DEFAULTS
    assert defaults["CreateChatCompletionRequest"]["top_k"] == 40
    assert "seed" not in defaults["CreateChatCompletionRequest"]


def test_operations(real, run):
    handlers = run(tables.handlers(real.document))
    chat = handlers.OPERATIONS["create_chat_completion"]
    assert (chat.method, chat.path, chat.endpoint, chat.tag) == ("POST", "/chat/completions", "chat", "chat")
    assert (chat.body, chat.terminator, chat.root) == ("CreateChatCompletionRequest", "[DONE]", False)
    assert chat.model.__name__ == "CreateChatCompletionRequest"
    assert handlers.OPERATIONS["retrieve_model"].parameters == ("model",)
    assert handlers.OPERATIONS["get_health"].root


def test_errors(real, run):
    errors = run(tables.errors(real.errors))
    assert [code.value for code in errors.ERRORS] == list(real.errors["codes"])
    kind = errors.ERRORS[errors.ErrorCode.ENGINE_RESTARTED]
    assert (kind.status, kind.type, kind.param, kind.retryable) == (503, "server_error", False, True)


@pytest.mark.parametrize("law", ["keys dense", {"law": "one fact", "of": "choice"}])
def test_streams(chat, spec, law, run):
    chat["x-stream"]["laws"] = [law]
    table = run(tables.streams(spec.document)).STREAMS["chat"]
    assert table.terminator == "[DONE]"
    assert table.machines[1].inside == table.machines[0].name
    assert (table.laws[0].name, table.laws[0].of) == (
        ("keys dense", None) if isinstance(law, str) else ("one fact", "choice")
    )
    assert (table.classify[0].fact, table.classify[0].each) == ("role", "choices")
