"""Tools cross the border between the processes whole, whatever their schemas hold."""

from dataclasses import replace

import msgspec
from support.conversation import conversation

from specvino.engine.openvino.messages.preprocess import Preprocess
from specvino.engine.request import Tool

PARAMETERS = {"properties": {"b": {"const": 10**30}, "a": {"enum": ["\ud800", "ä", 0.1]}}}


def test_tools_arrive_as_they_were_sent() -> None:
    prompt = conversation("hi")
    tools = (Tool("f", "d", PARAMETERS), Tool("g"))
    message = Preprocess.of(1, replace(prompt, tools=tools), as_text=False)
    received = msgspec.msgpack.decode(msgspec.msgpack.encode(message), type=Preprocess)
    assert received.conversation() == replace(prompt, tools=tools)
    assert list(received.conversation().tools[0].parameters["properties"]) == ["b", "a"]
