import pytest

from specvino.engine.openvino.preprocess.chat_template import TemplateFeatures, arguments, turns
from specvino.engine.request import Conversation, Message, ToolCall


def plain(*messages: Message, developer: bool = False) -> list[dict[str, object]]:
    return turns(Conversation(messages), TemplateFeatures(developer=developer), lambda text: text)


def test_developer_becomes_system_where_the_template_lacks_it() -> None:
    message = Message("developer", "Be brief.")
    assert plain(message) == [{"role": "system", "content": "Be brief."}]
    assert plain(message, developer=True) == [{"role": "developer", "content": "Be brief."}]


def test_tool_turns() -> None:
    calls = (ToolCall("c1", "f", '{"city": "Paris"}'), ToolCall("c2", "g", "not json"))
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


def test_every_text_is_marked() -> None:
    call = ToolCall("id", "f", '{"k": ["v", {"k2": "v2"}], "n": 1}')
    message = Message("assistant", "text", name="ann", tool_calls=(call,), tool_call_id="tid", reasoning="why")
    [turn] = turns(Conversation((message,)), TemplateFeatures(), lambda text: text + "!")
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
                "function": {"name": "f!", "arguments": {"k!": ["v!", {"k2!": "v2!"}], "n!": 1}},
            }
        ],
    }


def test_reasoning_is_an_assistants_and_may_be_empty() -> None:
    assert plain(Message("assistant", "a", reasoning="")) == [
        {"role": "assistant", "content": "a", "reasoning_content": ""}
    ]
    assert plain(Message("user", "a", reasoning="b")) == [{"role": "user", "content": "a"}]


@pytest.mark.parametrize("text", ["", "null", "[1]", '"s"', "{", '{"a": NaN}', "[" * 100_000])
def test_arguments_that_are_no_object_stay_text(text: str) -> None:
    assert arguments(ToolCall("c", "f", text)) == text
