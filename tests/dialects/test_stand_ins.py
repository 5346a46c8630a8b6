"""Stand-ins answer in the form that the systems' sources give, and `conform` has nothing against them."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from dialects.recorded import SYSTEMS, Answer, answers
from dialects.stand_ins import KEY, MODEL, serving
from typer.testing import CliRunner

from specvino.cli import main
from specvino.conformance.streams.sse import Decoder
from specvino.document.operations import EVENTS

MAPS = {"arguments", "metadata", "parameters", "prompt_logprobs", "schema", "top_logprobs"}
"""Objects whose names are somebody else's; texts of such that come in pieces, of which some are empty."""

Urls = Callable[[str], str]


@pytest.fixture(scope="module")
def urls() -> Iterator[Urls]:
    """The base URL of a system's stand-in, which is started when it is first asked for."""
    found: dict[str, str] = {}
    with ExitStack() as running:

        def url(system: str) -> str:
            if system not in found:
                found[system] = running.enter_context(serving(system))
            return found[system]

        yield url


@pytest.mark.parametrize("answer", [each for each in answers() if each.said.get("imitated", True)], ids=str)
def test_answers_in_the_form_of_the_system(answer: Answer, urls: Urls) -> None:
    base = urls(answer.system)
    if answer.operation.is_only_at_root:
        base = base.removesuffix("/v1")
    path = answer.operation.path.format(model="gpt-9" if answer.name == "unknown" else MODEL, response_id="resp_1")
    headers = {} if answer.name == "no key" else {"authorization": f"Bearer {KEY}"}
    came = httpx.request(answer.operation.method, base + path, headers=headers, json=renamed(answer.request))
    assert came.status_code == answer.status
    assert came.headers.get("content-type", "") == answer.media
    assert forms(came.content, answer.media) == forms(answer.content, answer.media)


def renamed(body: Any) -> Any:
    """A request of the stand-in's model, where it is one of the system's."""
    return {**body, "model": MODEL} if body and body.get("model") not in (None, "gpt-9") else body


def forms(content: bytes, media: str) -> set[str]:
    """That of a body, or those of the events of a stream."""
    if media != EVENTS:
        return {_written(form(json.loads(content)))} if content else set()
    events = [event for event in Decoder().feed(content) if not event.data.startswith("[")]
    return {_written([event.event, form(json.loads(event.data))]) for event in events}


def form(value: Any, name: str = "") -> Any:
    """What a value looks like: its names, and of what stands there whether it is null, empty, a text or a number."""
    if isinstance(value, dict):
        is_map = name in MAPS and "token" not in value
        return "map" if is_map else {each: form(inner, each) for each, inner in value.items()}
    if isinstance(value, list):
        return sorted({_written(form(each, name)) for each in value})
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return "text" if value or name in MAPS else ""
    return "number"


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_judge_accuses_it_of_nothing(system: str, urls: Urls) -> None:
    command = ["conform", urls(system), "--dialect", system, "-k", KEY, "-m", MODEL]
    run = CliRunner(env={"COLUMNS": "200"}).invoke(main, command)
    assert run.exit_code == 0, run.output
