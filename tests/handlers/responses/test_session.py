"""What a connection remembers of responses that aren't stored."""

import asyncio
from typing import Any

from specvino.handlers.responses.session import Session, Turn

ITEM = {"id": "msg_1", "type": "message"}


def following(turn: Turn, *last: dict[str, Any], previous: str | None = None) -> list[Any]:
    async def events() -> Any:
        for event in last:
            yield event

    async def run() -> list[Any]:
        return [event async for event in turn.following(events(), [ITEM], previous)]

    return asyncio.run(run())


def end(status: str, id: str = "resp_1") -> dict[str, Any]:
    kind = "failed" if status == "cancelled" else status
    response = {"id": id, "status": status, "output": [{"id": "msg_2", "type": "message"}]}
    return {"type": f"response.{kind}", "response": response}


def test_an_ended_response_is_remembered_with_its_conversation() -> None:
    for status in ("completed", "incomplete"):
        session = Session()
        assert following(Turn(session), end(status)) == [end(status)]
        assert [item["id"] for item in session.items("resp_1") or ()] == ["msg_1", "msg_2"]


def test_a_failed_response_ends_the_one_that_it_continues() -> None:
    for status in ("failed", "cancelled"):
        session = Session()
        session.remember("resp_0", [ITEM])
        following(Turn(session), end(status), previous="resp_0")
        assert session.items("resp_0") is session.items("resp_1") is None


def test_only_the_newest_are_remembered() -> None:
    session = Session()
    for number in range(20):
        session.remember(f"resp_{number}", [])
    assert [number for number in range(20) if session.items(f"resp_{number}") is not None] == list(range(4, 20))


def test_what_is_forgotten_need_not_be_there() -> None:
    session = Session()
    session.forget("resp_1")
    session.forget(None)
