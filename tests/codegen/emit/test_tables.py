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


def test_handling_and_shapes(real, run) -> None:
    table = run(tables.support(real.document))
    shapes = table.SHAPES
    request = shapes["CreateChatCompletionRequest"].fields
    assert request["user"].handling == "accepted"
    assert request["vllm_xargs"].supported_values == {"maxProperties": 0}
    assert request["messages"].shape == "Message"
    assert request["metadata"].shape is None, "free-form maps are not searched"
    assert table.UNIONS["Message"].select == "role"
    assert table.UNIONS["Message"].variants["tool"] == ("ToolMessage",)
    assert shapes["SystemMessage"].fields["content"].shape == "TextPart", "through a union with a list in it"
    assert "ChatCompletion" not in shapes


def test_a_query_is_an_object(real, run) -> None:
    shape = run(tables.support(real.document)).SHAPES["retrieve_response.query"]
    assert shape.fields["stream"].handling == "supported"
    assert (shape.fields["include_obfuscation"].handling, shape.fields["include_obfuscation"].supported_values) == (
        "unsupported",
        {"const": False},
    )


def test_defaults(real, run) -> None:
    defaults = run(tables.support(real.document)).DEFAULTS
    assert defaults["CreateChatCompletionRequest"]["top_k"] == 40
    assert "seed" not in defaults["CreateChatCompletionRequest"]


def test_operations(real, run) -> None:
    handlers = run(tables.handlers(real.document, real.dialects.values()))
    chat = handlers.OPERATIONS["create_chat_completion"]
    assert (chat.method, chat.path, chat.endpoint, chat.tag) == ("POST", "/chat/completions", "chat", "chat")
    assert (chat.body, chat.terminator, chat.root) == ("CreateChatCompletionRequest", "[DONE]", False)
    assert chat.model.__name__ == "CreateChatCompletionRequest"
    assert handlers.OPERATIONS["retrieve_model"].parameters == ("model",)
    assert handlers.OPERATIONS["get_health"].root
    items = handlers.OPERATIONS["list_input_items"]
    assert (items.parameters, list(items.query)) == (("response_id",), ["after", "limit", "order", "include"])
    assert items.query["limit"] == handlers.QueryParameter("integer", 20)
    assert items.query["after"] == handlers.QueryParameter("string", None)


def test_errors(real, run) -> None:
    errors = run(tables.errors(real.errors))
    assert [code.value for code in errors.ERRORS] == list(real.errors["codes"])
    kind = errors.ERRORS[errors.ErrorCode.ENGINE_RESTARTED]
    assert (kind.status, kind.type, kind.param, kind.retryable) == (503, "server_error", False, True)


def test_a_stream_by_rules(real, run) -> None:
    streams = run(tables.streams(real.document))
    table = streams.STREAMS["chat"]
    assert (table.framing, table.terminator) == ("data", "[DONE]")
    assert table.classify[0] == streams.Rule("role", at=("delta.role",), each="choices", key="index", unless=None)
    usage, error = table.classify[-2:]
    assert usage == streams.Rule("usage", at=("usage",), each=None, key=None, unless="choices")
    assert error == streams.Rule("error", at=("error",), each=None, key=None, unless=None)
    outermost, choice = table.machines
    assert (outermost.inside, outermost.open, outermost.end, outermost.fail) == (None, None, ("usage",), ("error",))
    assert (choice.inside, choice.key, choice.close) == (outermost.name, "index", "finish")
    assert choice.body == ("content", "reasoning", "tool_calls", "function_call")
    assert streams.KeysDense() in table.laws
    assert streams.OneFact(of="choice") in table.laws


def test_a_stream_by_a_field(real, run) -> None:
    streams = run(tables.streams(real.document))
    table = streams.STREAMS["responses"]
    assert (table.framing, table.terminator, table.classify) == ("event", None, "type")
    response, item, part, summary = table.machines
    assert (response.open, response.abort) == ("response.created", ("error",))
    assert [machine.inside for machine in (item, part, summary)] == ["response", "item", "item"]
    assert streams.Consecutive(field="sequence_number", start=0) in table.laws
    assert streams.WholeEqualsPieces(of="part", piece="part", whole="item.content") in table.laws
    assert streams.STREAMS["response"] == table, "one table, which two operations refer to"
    joined = next(law for law in table.laws if isinstance(law, streams.JoinedDeltas))
    assert joined.texts[1] == streams.Text(
        delta="response.refusal.delta", done="response.refusal.done", field="refusal", whole="part.refusal"
    )
