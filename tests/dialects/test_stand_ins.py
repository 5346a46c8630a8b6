"""Stand-ins answer as the systems do, whichever they are asked, and the judge has nothing against them."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from dialects.recorded import SYSTEMS, Answer, answers
from dialects.stand_ins import KEY, MODEL, serving
from specvino.conformance.http.sse import Decoder

IMITATED = tuple(each for each in answers() if each.said.get("imitated", True))

MAPS = {"arguments", "metadata", "parameters", "prompt_logprobs", "schema", "top_logprobs"}
"""Objects whose names are somebody else's; texts of such that come in parts, of which some are empty."""


@pytest.fixture(scope="module")
def urls() -> Iterator[Callable[[str], str]]:
    """The base URL of a system's stand-in, which is started when it is first asked for."""
    began: dict[str, Any] = {}

    def url(system: str) -> str:
        if system not in began:
            began[system] = serving(system)
            began[system] = (began[system], began[system].__enter__())
        return str(began[system][1])

    yield url
    for stand_in, _ in began.values():
        stand_in.__exit__(None, None, None)


def shape(value: Any, name: str = "") -> Any:
    """What a value looks like: its names, and of what stands there whether it is null, empty, a text or a number."""
    if isinstance(value, dict):
        is_map = name in MAPS and "token" not in value
        return "map" if is_map else {each: shape(inner, each) for each, inner in value.items()}
    if isinstance(value, list):
        return sorted({json.dumps(shape(each, name), sort_keys=True) for each in value})
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return "text" if value or name in MAPS else ""
    return "number"


def shapes(content: bytes, media: str) -> set[str]:
    """Those of a body, or of each kind of event in a stream."""
    if media != "text/event-stream":
        return {json.dumps(shape(json.loads(content)), sort_keys=True)} if content else set()
    events = [event for event in Decoder().feed(content) if not event.data.startswith("[")]
    return {json.dumps([event.event, shape(json.loads(event.data))], sort_keys=True) for event in events}


@pytest.mark.parametrize("answer", IMITATED, ids=str)
def test_answers_in_the_same_form(answer: Answer, urls: Callable[[str], str]) -> None:
    asked = answer.request
    if isinstance(asked, dict) and asked.get("model") not in (None, "gpt-9"):
        asked = {**asked, "model": MODEL}
    keys = {} if answer.name == "no key" else {"authorization": f"Bearer {KEY}"}
    url = urls(answer.system) + answer.path.replace("{model}", MODEL)
    came = httpx.request(answer.method, url, json=asked, headers=keys) if asked else httpx.request(answer.method, url, headers=keys)
    assert came.status_code == answer.status
    media = came.headers.get("content-type", "").split(";")[0]
    assert media == answer.headers["content-type"].split(";")[0]
    assert shapes(came.content, media) == shapes(answer.content, media)
