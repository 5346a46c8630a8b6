"""Onyx's messages, by their recipient: `self` is reasoning, `user` the answer, any other a tool.

     to=f<|message|><atem:function_calls><atem:invoke name="f"><atem:parameter name="k">v</atem:parameter></atem:invoke>
    </atem:function_calls><|eom|>

The outer element is optional, and the name in `invoke` is the tool's. The format isn't derived because calls and
reasoning are separate messages.
"""

import re
from collections.abc import Sequence

from specvino.engine.grammar import TagFormat, tag, tags
from specvino.engine.output_parsers.call_format import NAME, CallFormat, Elements, Tool, Tools
from specvino.engine.output_parsers.call_grammar import call_grammar
from specvino.engine.output_parsers.call_reading import CallReader
from specvino.engine.output_parsers.message_framing import FramedCalls, Header, MessageFraming
from specvino.engine.output_parsers.text_source import Step, TextSource

TO = re.compile(r"\bto=([^\s<]+)")
WRAPPER = "<atem:function_calls>"
WRAPPER_END = "</atem:function_calls>"

_INVOKE = CallFormat(
    Elements(('<atem:parameter name="', '">'), "</atem:parameter>"),
    head=f'<atem:invoke name="{NAME}">',
    tail="</atem:invoke>",
)


def _read(header: str) -> Header:
    recipient = TO.search(header)
    match recipient and recipient[1]:
        case "self":
            return Header(thinking=True)
        case None | "user":
            return Header()
        case name:
            return Header(recipient=name)


def _call(source: TextSource, tools: Tools, recipient: str) -> Step[bool]:
    called = False
    yield from source.blank()
    yield from source.literal(WRAPPER)
    yield from source.blank()
    reader = CallReader(_INVOKE, tools)
    while (yield from reader.call(source)):
        called = True
        yield from source.blank()
    source.at = 0
    if called:
        yield from source.closing(WRAPPER_END)
    return called


FRAMING = MessageFraming(
    starts=("<|start|>",),
    body="<|message|>",
    ends=("<|eom|>", "<|eot|>"),
    thinking=" to=self<|message|>",
    answer=" to=user<|message|>",
    after_thinking="<|eom|><|start|>assistant",
    read=_read,
    call=_call,
)


def _grammar(tools: Sequence[Tool]) -> TagFormat:
    """Returns the structural tag of one call, in a message to its tool: the token that ends the message also ends the
    output.
    """
    calls = [
        tag(f" to={tool.name}<|message|>{WRAPPER}", call_grammar(_INVOKE, [tool], many=False), WRAPPER_END)
        for tool in tools
    ]
    return tags(calls, "", many=False)


CALLS = FramedCalls(FRAMING, _grammar, one_by_one=True)
