"""The Python client of each system reads what the system sends."""

import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from dialects.recorded import SYSTEMS, Answer, answers
from pydantic import ValidationError
from sdk.python.scripted import Answer as Sent
from sdk.python.scripted import Scripted
from support.exhaustive import sampled

from specvino.document.operations import LINES

MODEL = "m"


def came(client: Any, answer: Answer) -> list[Any]:
    """What a client gives for the request of an answer, which may have fields that the system refuses: the answer, or
    the events of a stream."""
    body = dict(answer.request or {})
    places = [MODEL if name == "{model}" else "an_id" for name in re.findall(r"{\w+}", answer.operation.path)]
    if body.pop("stream", answer.media == LINES):
        return list(getattr(client, f"{answer.operation.id}_stream")(*places, extra_body=body))
    return [getattr(client, answer.operation.id)(*places, extra_body=body)]


def outcome(module: ModuleType, client: Any, answer: Answer) -> str:
    """`read`, or which error of the API; else what the client could not read, or isn't of the types that it says."""
    try:
        objects = came(client, answer)
        for each in objects:
            try:
                type(each).model_validate(each.model_dump(by_alias=True))
            except ValidationError as error:
                return str(error)
            if "UnknownKind(" in repr(each) and type(each).__name__ != "UnknownKind":
                return repr(each)
        return "read" if objects else "nothing"
    except module.ApiError as error:
        return f"error {error.status}"
    except module.ClientError as error:
        return repr(error)


def expected(answer: Answer) -> tuple[str, ...]:
    """An error of the API within a stream has no status; in some systems it is an event as others are."""
    if answer.status >= 400:
        return (f"error {answer.status}",)
    if any("breaks off" in why for why in answer.said.get("unjudged", {}).values()):
        end = "its [DONE]" if answer.endpoint in ("chat", "completions") else "its last event"
        return (f"ConnectionFailed('the stream broke off before {end}')",)
    return ("error None", "read") if answer.name in ("a stream that fails", "it fails later") else ("read",)


@pytest.fixture(scope="module")
def scripted() -> Iterator[Scripted]:
    with Scripted() as server:
        yield server


@pytest.mark.parametrize("system", sampled(SYSTEMS, "ovms", "vllm"))
def test_reads_the_derived_answers(system: str, imported: Callable[[str], ModuleType], scripted: Scripted) -> None:
    module = imported(system)
    with module.Client(scripted.url, retries=0) as client:
        for answer in [recorded for recorded in answers() if recorded.system == system]:
            scripted.says(Sent(answer.content.decode(), answer.status, answer.media))
            assert outcome(module, client, answer) in expected(answer), answer
