"""Responses that are kept: what is kept, how it goes on, and how it is read."""

from typing import Any

import httpx
import pytest
from support.streams import judged

from proofs import proves
from proofs.asking import Ask


@proves("responses.store")
def test_one_that_must_not_be_kept_is_not(ask: Ask) -> None:
    answer = ask("hello", store=False)
    assert answer.body["store"] is False
    assert ask.http.get(f"/responses/{answer.body['id']}").status_code == 404


@proves("responses.previous_response_id")
def test_a_response_goes_on_from_an_earlier_one(ask: Ask) -> None:
    first = ask("count")
    chained = ask("hello", previous_response_id=first.body["id"])
    assert chained.prompt_tokens == ask("count", first.text, "hello").prompt_tokens


@proves("responses.background")
def test_one_in_the_background_is_queued_first(ask: Ask) -> None:
    answer = ask("hello", background=True)
    assert answer.body["background"] is True
    assert (answer.events[1]["type"] == "response.queued") if ask.streamed else (answer.body["status"] == "queued")


@proves("responses.truncation")
def test_the_oldest_turns_are_left_out(ask: Ask) -> None:
    answer = ask("the " * 5000, "yes", "hello", truncation="auto")
    assert answer.text == "Hello! How can I help you today?"


@pytest.fixture
def stored(http: httpx.Client) -> str:
    """The address of a response."""
    items = [{"role": "user", "content": word} for word in ("a", "b", "hello")]
    return f"/responses/{http.post('/responses', json={'model': 'm', 'input': items, 'temperature': 0}).json()['id']}"


@proves("response.query.stream")
def test_its_events(http: httpx.Client, stored: str) -> None:
    response = http.get(stored, params={"stream": "true"})
    assert response.headers["content-type"].startswith("text/event-stream")
    assert judged("responses", response)[-1]["response"] == http.get(stored).json()


@proves("response.query.starting_after")
def test_its_later_events(http: httpx.Client, stored: str) -> None:
    all = judged("responses", http.get(stored, params={"stream": "true"}))
    later = http.get(stored, params={"stream": "true", "starting_after": 3}).text
    assert later.count("event: ") == len(all) - 4


def words(http: httpx.Client, stored: str, **query: Any) -> list[str]:
    """What the items of the input say."""
    return [item["content"][0]["text"] for item in items(http, stored, **query)]


def items(http: httpx.Client, stored: str, **query: Any) -> list[dict[str, Any]]:
    response = http.get(f"{stored}/input_items", params=query)
    assert response.status_code == 200, response.text
    data: list[dict[str, Any]] = response.json()["data"]
    return data


@proves("response_input_items.query.order")
def test_its_input_in_order(http: httpx.Client, stored: str) -> None:
    assert words(http, stored, order="asc") == ["a", "b", "hello"]


@proves("response_input_items.query.limit")
def test_a_part_of_its_input(http: httpx.Client, stored: str) -> None:
    assert words(http, stored, limit=2) == ["hello", "b"]


@proves("response_input_items.query.after")
def test_the_rest_of_its_input(http: httpx.Client, stored: str) -> None:
    assert words(http, stored, after=items(http, stored)[0]["id"]) == ["b", "a"]
