"""Requests that are read wrongly, at every endpoint."""

from collections.abc import Iterator, Mapping
from typing import Any

from reference_server.http import Call
from reference_server.refusal import Refusal
from reference_server.requests import Requests
from specvino.generated.errors import ErrorCode

LIMITED = ("CreateChatCompletionRequest", "CreateCompletionRequest", "CreateResponseRequest")
"""The requests whose answers the document doesn't require to have a limit."""


class AnswersAsSomebody(Requests):
    """Every answer is that of another model."""

    breaks = {
        "chat/basics/model-is-known",
        "completions/settings/model-is-known",
        "messages/basics/model-is-known",
        "responses/basics/model-is-known",
    }

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        body = super().accepted(call, component)
        return {**body, "model": "somebody"} if "model" in body else body


class AnswersWithoutName(Requests):
    """The model of every answer has an empty name."""

    breaks = {"chat/basics/model-is-known"}

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        body = super().accepted(call, component)
        return {**body, "model": ""} if "model" in body else body


class RequiresLimit(Requests):
    """A request without a token limit is refused."""

    breaks = {"chat/limits/none", "completions/settings/no-limit", "responses/basics/no-limit"}

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        body = super().accepted(call, component)
        limits = ("max_tokens", "max_completion_tokens", "max_output_tokens")
        if component in LIMITED and not any(name in body for name in limits):
            raise Refusal(ErrorCode.MISSING_REQUIRED_PARAMETER, f"{limits[0]} is required.", limits[0])
        return body


class TakesResultsWithoutCalls(Requests):
    """A tool result whose call nobody has seen is taken."""

    breaks = {"chat/tools/result-without-call", "responses/tools/result-without-call"}

    def results_without_calls(self, body: Mapping[str, Any]) -> Iterator[str]:
        yield from ()


class TakesResultsOfOtherCalls(Requests):
    """A tool result is taken if there is any call before it."""

    breaks = {"chat/tools/result-of-another-call", "responses/tools/result-of-another-call"}

    def results_without_calls(self, body: Mapping[str, Any]) -> Iterator[str]:
        items = body.get("input")
        called = any(message.get("tool_calls") for message in body.get("messages") or ())
        called |= isinstance(items, list) and any(item.get("type") == "function_call" for item in items)
        yield from () if called else super().results_without_calls(body)
