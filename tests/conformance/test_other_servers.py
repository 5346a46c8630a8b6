"""Other correct servers pass, too: the suite accuses nobody for having another model, or less to offer."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatch
from typing import Any, ClassVar

import pytest
from reference_server.bench import judged, message_of
from reference_server.generation import Asked, Generation, Output, Segment
from reference_server.http import Call, Headers, Http
from reference_server.openai_responses import OpenAIResponses
from reference_server.part import Part
from reference_server.refusal import Refusal
from reference_server.requests import Requests
from reference_server.words import BEGIN, Token
from support.exhaustive import sampled

from specvino.conformance.verdict import Verdict
from specvino.generated.errors import ErrorCode

END = Token(BEGIN, "", -0.5)
"""A control token, of which nothing is shown."""


class ThinksAlways(Generation):
    """Its model thinks before each answer, and small limits leave nothing for the answer."""

    def thinks(self, body: Mapping[str, Any]) -> bool:
        return True


class NeverTheSame(Generation):
    """Its model says something else each time. This is nobody's fault but where temperature 0 asks for the same."""

    may_fail: ClassVar = {"chat/sampling/greedy", "completions/settings/coldest"}

    def seed(self, body: Mapping[str, Any], choice: int) -> int | None:
        return self.count()


class CountsEnds(Generation):
    """The token that ends a turn is counted, and has a probability."""

    def output(self, asked: Asked, choice: int) -> Output:
        output = super().output(asked, choice)
        if output.reason == "length" or output.made >= self.budget(asked):
            return output
        return replace(output, rest=(*output.rest, END), made=output.made + 1)


class Laconic(Generation):
    """Its model says no more than a word."""

    def length(self, asked: Asked, draw: random.Random, budget: int) -> int:
        return budget + 1 if asked.body.get("ignore_eos") else 1


class NeverCalls(Generation):
    """Its model calls no function of itself."""

    def wants_call(self, asked: Asked) -> bool:
        return False


class CallsOnce(Generation):
    """Its model calls one function at a time."""

    def calls(self, asked: Asked) -> Iterator[Segment]:
        yield next(super().calls(asked))


class NeedsNoKey(Http):
    """It asks nobody for a key, which is advised where one was given."""

    may_fail: ClassVar = {"transport/capabilities/auth"}

    def authorize(self, call: Call) -> None:
        pass


class WithoutPages(Http):
    """It answers no preflight, and browsers are told nothing."""

    def is_preflight(self, call: Call) -> bool:
        return False

    def origin_headers(self, call: Call) -> Headers:
        return []


class NamesNoAnswers(Http):
    """Its answers have no X-Request-Id, which only our own document requires."""

    may_fail: ClassVar = {"transport/ids/given-back"}

    def common_headers(self, call: Call) -> Headers:
        return [header for header in super().common_headers(call) if header[0] != b"x-request-id"]


class ChatAlone(Requests):
    """It has nothing but chat, of which it refuses what it can't do. That isn't what the whole document says."""

    may_fail: ClassVar = {"chat/edges/taken"}

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        if component != "CreateChatCompletionRequest":
            raise Refusal(ErrorCode.NOT_FOUND, "There is nothing here.")
        body = super().accepted(call, component)
        asked = [name for name in ("tools", "functions", "logprobs", "top_logprobs") if body.get(name)]
        asked += ["response_format"] if body.get("response_format", {"type": "text"})["type"] != "text" else []
        asked += ["n"] if body.get("n", 1) > 1 else []
        for name in asked:
            raise Refusal(ErrorCode.UNSUPPORTED_PARAMETER, f"{name} is not supported.", name)
        return body


SERVERS = (
    ThinksAlways,
    NeverTheSame,
    CountsEnds,
    Laconic,
    NeverCalls,
    CallsOnce,
    NeedsNoKey,
    WithoutPages,
    NamesNoAnswers,
    ChatAlone,
)


def may_fail(server: type[Part], rule: str) -> bool:
    return any(fnmatch(rule, pattern) for pattern in getattr(server, "may_fail", ()))


@pytest.mark.parametrize("by", sampled(["specvino", "openai"], "openai"))
@pytest.mark.parametrize("server", SERVERS)
def test_is_accused_of_nothing(server: type[Part], by: str) -> None:
    results = judged(server, *([OpenAIResponses] if by == "openai" else []), by=by)
    accused = {rule for rule, result in results.items() if result.verdict in (Verdict.FAIL, Verdict.ERROR)}
    assert not {rule: message_of(results[rule]) for rule in accused if not may_fail(server, rule)}
