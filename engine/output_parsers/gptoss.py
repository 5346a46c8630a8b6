"""Harmony, the format of gpt-oss: reasoning is in the channel `analysis`, the answer in `final`; calls are messages
with a recipient.

    <|channel|>commentary to=functions.f <|constrain|>json<|message|>{…}<|call|>

The package openai-harmony isn't used: it parses token ids of its own vocabulary, which it downloads on first use, and
doesn't start without it. The format isn't derived because the recipient of a call may be in either of two positions,
and the template renders only one call per turn.
"""

import re
from collections.abc import Sequence

from specvino.engine.grammar import TagFormat, tag, tags
from specvino.engine.grammar import arguments_object as object_grammar
from specvino.engine.output_parsers.call_format import Tool, Tools
from specvino.engine.output_parsers.json_scanner import json_object
from specvino.engine.output_parsers.message_framing import FramedCalls, Header, MessageFraming
from specvino.engine.output_parsers.pieces import CallEnd, CallStart
from specvino.engine.output_parsers.text_source import Step, TextSource

CHANNEL = re.compile(r"<\|channel\|>\s*(\w*)")
TO = re.compile(r"\bto=([^\s<]+)")


def _read(header: str) -> Header:
    recipient, channel = TO.search(header), CHANNEL.search(header)
    if recipient is not None:
        return Header(recipient=recipient[1])
    return Header(thinking=channel is not None and channel[1] == "analysis")


def _call(source: TextSource, tools: Tools, recipient: str) -> Step[bool]:
    name = recipient.removeprefix("functions.")
    if name not in tools:
        return False
    yield from source.blank()
    if not (yield from source.literal("{")):
        return False
    source.at -= 1
    source.drop()
    yield CallStart(name)
    yield CallEnd((yield from json_object(source)))
    return True


FRAMING = MessageFraming(
    starts=("<|start|>", "<|channel|>"),
    body="<|message|>",
    ends=("<|end|>", "<|return|>", "<|call|>"),
    thinking="<|channel|>analysis<|message|>",
    answer="<|channel|>final<|message|>",
    after_thinking="<|end|><|start|>assistant",
    read=_read,
    call=_call,
    further=("<|constrain|>",),
)


def _grammar(tools: Sequence[Tool]) -> TagFormat:
    """Returns the structural tag of exactly one call: the token that ends it also ends the output."""
    head = "<|channel|>commentary to=functions.{} <|constrain|>json<|message|>"
    return tags([tag(head.format(tool.name), object_grammar(tool.parameters), "") for tool in tools], "", many=False)


CALLS = FramedCalls(FRAMING, _grammar)
