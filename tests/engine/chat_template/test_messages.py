"""What templates get of a conversation, and what is made up for."""

import json
from typing import Any, Literal

import pytest
from support import chat_templates as templates

from specvino.engine.chat_template.capabilities import Capabilities
from specvino.engine.chat_template.chat_template import ChatTemplate
from specvino.engine.chat_template.messages import arguments, hidden, missing, turns
from specvino.engine.request import Conversation, Image, Message, PlacedImage, Tool, ToolCall

PARIS, ROME = ToolCall("c1", "f", '{"city": "Paris"}'), ToolCall("c2", "g", '{"city": "Rome"}')
USER = Message("user", "u")


def plain(*messages: Message, **otherwise: Any) -> list[dict[str, Any]]:
    return turns(Conversation(messages), Capabilities(**otherwise))


def written(template: str, *messages: Message) -> str:
    return ChatTemplate(template).render(Conversation(messages), str, "\ue000", "<{}>".format)


def lacking(template: str) -> tuple[str, ...]:
    return missing(ChatTemplate(template).capabilities)


def hides(template: str, *messages: Message, tools: tuple[Tool, ...] = ()) -> tuple[str, ...]:
    return hidden(ChatTemplate(template).capabilities, Conversation(messages, tools))


def test_developer_becomes_system_where_the_template_lacks_it() -> None:
    message = Message("developer", "Be brief.")
    assert plain(message) == [{"role": "system", "content": "Be brief."}]
    assert plain(message, developer=True) == [{"role": "developer", "content": "Be brief."}]


def test_tool_turns() -> None:
    calls = (PARIS, ToolCall("c2", "g", "not json"))
    assert plain(Message("assistant", "", tool_calls=calls), Message("tool", "sunny", tool_call_id="c1")) == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"city": "Paris"}}},
                {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "not json"}},
            ],
        },
        {"role": "tool", "content": "sunny", "tool_call_id": "c1"},
    ]


@pytest.mark.parametrize("form", ["object", "text"])
def test_every_text_is_marked(form: Literal["object", "text"]) -> None:
    call = ToolCall("id", "f", '{"k": ["v", {"k2": "v2"}], "n": 1}')
    message = Message("assistant", "text", name="ann", tool_calls=(call,), tool_call_id="tid", reasoning="why")
    [turn] = turns(Conversation((message,)), Capabilities(arguments=form), lambda text: text + "!")
    given = {"k!": ["v!", {"k2!": "v2!"}], "n!": 1}
    assert turn == {
        "role": "assistant",
        "content": "text!",
        "name": "ann!",
        "tool_call_id": "tid!",
        "reasoning_content": "why!",
        "tool_calls": [
            {
                "id": "id!",
                "type": "function",
                "function": {"name": "f!", "arguments": given if form == "object" else json.dumps(given)},
            }
        ],
    }


def test_reasoning_is_an_assistants_and_may_be_empty() -> None:
    assert plain(Message("assistant", "a", reasoning="")) == [
        {"role": "assistant", "content": "a", "reasoning_content": ""}
    ]
    assert plain(Message("assistant", "a", reasoning="b"), reasoning="thinking")[0]["thinking"] == "b"
    assert plain(Message("user", "a", reasoning="b")) == [{"role": "user", "content": "a"}]
    assert hides(templates.PLAIN, Message("assistant", "a", reasoning="b")) == ("reasoning",)


@pytest.mark.parametrize("text", ["null", "[1]", '"s"', "{", '{"a": NaN}', "[" * 100_000])
def test_arguments_that_are_no_object_stay_text(text: str) -> None:
    assert arguments(ToolCall("c", "f", text)) == text


def test_no_text_is_no_arguments() -> None:
    called = Message("assistant", "", tool_calls=(ToolCall("c", "f", ""),))
    assert written(templates.PLAIN, USER, called).endswith("[f({})]<assistant>")
    assert written(templates.AS_TEXT, USER, called).endswith("[f{}]")


def test_arguments_are_what_the_template_takes() -> None:
    calls = tuple(ToolCall(f"c{number}", "f", text) for number, text in enumerate(('{"a": "é"}', "no json", "[1]")))
    called = Message("assistant", "", tool_calls=calls)
    assert written(templates.AS_TEXT, called) == '<assistant>[f{"a": "é"}][fno json][f[1]]'
    assert written(templates.PLAIN, called).startswith('<assistant>[f({"a": "é"})][f("no json")][f("[1]")]')
    assert written(templates.BY_MEMBERS, called) == "<assistant>[f a=é][f][f]"
    assert hides(templates.BY_MEMBERS, called) == ("arguments",)


def test_a_system_s_text_begins_the_user_s_where_it_has_no_place() -> None:
    messages = (Message("system", "s"), Message("developer", "d"), USER)
    assert written(templates.STRICT, *messages) == "<user>s\n\nd\n\nu"
    assert written(templates.STRICT, Message("system", "s")) == "<user>s"
    later = (USER, Message("assistant", "a"), Message("system", "s"), USER)
    assert written(templates.STRICT, *later) == "<user>u<assistant>a<user>s\n\nu"
    assert "it has no system role: system messages are prepended to user messages" in lacking(templates.STRICT)


def test_systems_are_one_where_only_the_first_has_a_place() -> None:
    messages = (Message("system", "s"), USER, Message("developer", "d"), Message("user", "v"))
    assert written(templates.FIRST_SYSTEM, *messages) == "<system>s\n\nd<user>u<user>v"
    notice = "it renders one system message, at the beginning: all are joined there"
    assert notice in lacking(templates.FIRST_SYSTEM)


def test_who_may_not_speak_twice_speaks_once() -> None:
    messages = (USER, Message("user", "v"), Message("assistant", "a"), Message("assistant", "b"), USER)
    assert written(templates.STRICT, *messages) == "<user>u\n\nv<assistant>a\n\nb<user>u"
    assert "it accepts no consecutive user messages: they are joined" in lacking(templates.STRICT)


def test_calls_and_results_that_have_no_place_are_texts() -> None:
    called = Message("assistant", "Well.", tool_calls=(PARIS,))
    result, other = Message("tool", 'a "b"', tool_call_id="c1"), Message("tool", "c")
    assert written(templates.STRICT, USER, called, result, other) == (
        '<user>u<assistant>Well.\n{"name": "f", "arguments": {"city": "Paris"}}'
        '<user>{"tool_response": {"name": "f", "content": "a \\"b\\""}}\n\n'
        '{"tool_response": {"name": null, "content": "c"}}'
    )
    assert hides(templates.STRICT, USER, called, result, tools=(Tool("f"),)) == ("tools",)


def test_a_call_may_be_written_as_the_model_writes_it() -> None:
    prompt = Conversation((Message("assistant", "Well.", tool_calls=(PARIS, ROME)),))
    made = turns(
        prompt, Capabilities(calls=False), str.upper, write_call=lambda call: f"<{call.name} {call.arguments}>"
    )
    assert made == [
        {"role": "assistant", "content": 'WELL.\n<F {"CITY": "PARIS"}>\n<G {"CITY": "ROME"}>'},
    ]


def test_one_call_in_a_turn() -> None:
    called = Message("assistant", "", tool_calls=(PARIS, ROME))
    results = (Message("tool", "rainy", tool_call_id="c2"), Message("tool", "sunny", tool_call_id="c1"))
    ordered = '<user>u<assistant>[f{"city": "Paris"}]<tool>sunny<assistant>[g{"city": "Rome"}]<tool>rainy'
    assert written(templates.ONE_CALL, USER, called, *results) == ordered
    nameless = (Message("tool", "sunny"), Message("tool", "rainy"))
    assert written(templates.ONE_CALL, USER, called, *nameless) == ordered
    assert "it renders one call per turn: further calls become separate turns" in lacking(templates.ONE_CALL)


def test_content_beside_calls() -> None:
    called = Message("assistant", "Well.", tool_calls=(PARIS,))
    assert hides(templates.ONE_CALL, called) == ("content",)
    assert written(templates.NULL_CONTENT, called) == '<assistant>Well.\n{"name": "f", "arguments": {"city": "Paris"}}'
    assert "it renders no calls next to content: they are written into it" in lacking(templates.NULL_CONTENT)
    assert hides(templates.NULL_CONTENT, called) == ()
    bare = Message("assistant", "", tool_calls=(PARIS,))
    assert written(templates.NULL_CONTENT, bare) == '<assistant>[f{"city": "Paris"}]'


def test_ids_that_have_to_be_short() -> None:
    called = Message(
        "assistant", "", tool_calls=(ToolCall("call_of_a_client", "f", "{}"), ToolCall("abc123XYZ", "g", ""))
    )
    results = (Message("tool", "a", tool_call_id="call_of_a_client"), Message("tool", "b"))
    text = written(templates.SHORT_IDS, called, *results)
    [short] = {text[len("<assistant>[") :][:9]}
    assert text == f"<assistant>[{short}:f{{}}][abc123XYZ:g{{}}]<tool>a({short})<tool>b(abc123XYZ)"


def test_a_result_is_named_where_the_template_needs_it() -> None:
    called = Message("assistant", "", tool_calls=(PARIS, ROME))
    results = (Message("tool", "a", tool_call_id="c2"), Message("tool", "b"), Message("tool", "c", name="own"))
    text = written(templates.NAMED_RESULTS, called, *results)
    assert text.endswith("<tool g>a<tool f>b<tool own>c")


def test_contents_that_are_parts() -> None:
    images = (PlacedImage(1, Image(1, 1, b"")),)
    prompt = Conversation((Message("user", "ab", images=images), Message("assistant", ""), Message("user", "c")))
    [first, empty, _] = turns(prompt, Capabilities(content="parts"), image="<{}>".format)
    assert first["content"] == [{"type": "text", "text": "a<0>b"}]
    assert empty["content"] == [{"type": "text", "text": ""}]


@pytest.mark.parametrize("template", [templates.PARTS, templates.PLAIN])
def test_a_message_that_is_continued(template: str) -> None:
    prompt = Conversation((USER, Message("assistant", "Well")), continue_final_message=True)
    assert ChatTemplate(template).render(prompt, str, "\ue000", "<{}>".format) == "<user>u<assistant>Well"


def test_what_is_not_needed_is_not_told() -> None:
    assert hides(templates.STRICT, USER) == ()


def test_a_lark_grammar_is_in_the_description_alone() -> None:
    input = {"type": "string", "x-specvino-lark": 'start: "a"'}
    parameters = {"type": "object", "properties": {"input": input, "any": True}, "required": ["input"]}
    prompt = Conversation((Message("user", "go"),), (Tool("f", "d", parameters),))
    template = ChatTemplate("{{ tools[0].function.parameters.properties | tojson }}")
    shown = template.render(prompt, str, "\ue000", "<{}>".format)
    assert json.loads(shown) == {"input": {"type": "string"}, "any": True}
