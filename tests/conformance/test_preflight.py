"""Checks before a run."""

import json
import re
from collections.abc import AsyncIterator, Callable

import pytest
from reference_server.bench import judged
from reference_server.http import Call, Http, Route
from reference_server.oddities.requests import DrawsAtOneTemperature
from reference_server.openai_responses import OpenAIResponses
from reference_server.refusal import Refusal
from support.conforming import ANSWERS, conform
from support.raw_server import Asked, Pieces, chat, error, raw_server

from specvino.conformance.clients.profile import all_clients
from specvino.conformance.reports import ndjson
from specvino.conformance.verdict import Verdict
from specvino.generated.errors import ErrorCode


def refusing(refusal: Callable[[dict[str, object]], str | None]) -> Callable[[Asked], Pieces]:
    async def answering(asked: Asked) -> AsyncIterator[bytes]:
        try:
            body = json.loads(asked.body)
        except (ValueError, RecursionError):
            body = None
        message = refusal(body) if isinstance(body, dict) else "The body isn't a JSON object."
        yield error("400 Bad Request", message) if message else chat()

    return answering


def without_max_tokens(body: dict[str, object]) -> str | None:
    return "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." if "max_tokens" in body else None


def at_one_temperature(body: dict[str, object]) -> str | None:
    return "'temperature' must be 1 with this model." if body.get("temperature", 1) != 1 else None


def without_both(body: dict[str, object]) -> str | None:
    return without_max_tokens(body) or at_one_temperature(body)


def above_zero(body: dict[str, object]) -> str | None:
    return "'temperature' must be above 0." if body.get("temperature") == 0 else None


def without_a_limit(body: dict[str, object]) -> str | None:
    return "max_tokens is refused." if body.keys() & {"max_tokens", "max_completion_tokens"} else None


def of_two_names(body: dict[str, object]) -> str | None:
    return "temperature and max_tokens are refused." if "temperature" in body else None


def one_of_two(body: dict[str, object]) -> str | None:
    return "top_p isn't accepted here." if {"temperature", "top_p"} <= body.keys() else None


MAX_TOKENS = "the model refuses max_tokens: max_completion_tokens was sent"
TEMPERATURE = "the model refuses temperature: none was sent"


@pytest.mark.parametrize(
    ("refusal", "notes"),
    [
        (without_max_tokens, [MAX_TOKENS]),
        (at_one_temperature, [TEMPERATURE]),
        (without_both, [MAX_TOKENS, TEMPERATURE]),
        (above_zero, []),
        (without_a_limit, []),
        (of_two_names, []),
        (one_of_two, []),
    ],
)
def test_what_a_model_refuses_is_replaced_and_told_once(
    tmp_path, refusal: Callable[[dict[str, object]], str | None], notes: list[str]
) -> None:
    with raw_server(refusing(refusal)) as server:
        run = conform(server.url, *ANSWERS, "--ndjson", tmp_path / "r.ndjson", "--markdown", tmp_path / "r.md")
    told = [found.strip() for found in re.findall(r"the model refuses [^;\n.]*", run.stdout)]
    assert told == notes
    assert all((tmp_path / "r.md").read_text("utf-8").count(note) == 1 for note in notes)
    report = ndjson.read(tmp_path / "r.ndjson")
    assert [*report.header.replaced] == [note.split(":")[0].rpartition(" ")[2] for note in notes]
    # A limit that is refused under both names is a fault; the others don't concern this case.
    assert run.exit_code == (1 if refusal is without_a_limit else 0), run.output


def test_requests_of_clients_stay_as_they_are() -> None:
    requests = all_clients()["opencode"].requests
    recorded = [request.body for request in requests if request.endpoint == "chat" and "max_tokens" in request.body]
    with raw_server(refusing(without_max_tokens)) as server:
        conform(server.url, "--client", "opencode")
    bodies = [asked.body for asked in server.asked]
    assert recorded
    for body in recorded:
        assert json.dumps({**body, "model": "m"}, ensure_ascii=False).encode() in bodies


class WithoutChat(Http):
    def route(self, call: Call) -> Route:
        if call.path.endswith("/chat/completions"):
            raise Refusal(ErrorCode.NOT_FOUND, "There is no chat here.")
        return super().route(call)


def test_without_chat_fields_are_tried_in_a_response() -> None:
    only = {"responses/basics/cut-off", "responses/echo/sampling"}
    parts = (WithoutChat, DrawsAtOneTemperature, OpenAIResponses)
    results = judged(*parts, by="openai", only=only, prepared=True)
    assert results["responses/basics/cut-off"].verdict is Verdict.PASS
    assert results["responses/echo/sampling"].verdict is Verdict.UNSUPPORTED
