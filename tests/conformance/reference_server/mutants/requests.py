"""Requests that are read wrongly, at every endpoint."""

from collections.abc import Iterator, Mapping
from typing import Any

from reference_server.http import Call
from reference_server.requests import Requests


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


class TakesResultsWithoutCalls(Requests):
    """A tool result whose call nobody has seen is taken."""

    breaks = {"chat/tools/result-without-call", "responses/tools/result-without-call"}

    def results_without_calls(self, body: Mapping[str, Any]) -> Iterator[str]:
        yield from ()
