"""Tokens of texts."""

from typing import Any

import httpx

from proofs import proves


def tokens(http: httpx.Client, **fields: Any) -> Any:
    response = http.post("/tokenize", json={"model": "m", **fields})
    assert response.status_code == 200, response.text
    return response.json()["tokens"]


@proves("tokenize.model")
def test_another_model_is_not_there(http: httpx.Client) -> None:
    assert http.post("/tokenize", json={"model": "another", "text": "a"}).status_code == 404


@proves("tokenize.text")
def test_a_text_or_several(http: httpx.Client) -> None:
    one, other = tokens(http, text="hello"), tokens(http, text="capital")
    assert tokens(http, text=["hello", "capital"]) == [one, other]
    assert len(one) > 1


@proves("tokenize.max_length")
def test_cut(http: httpx.Client) -> None:
    assert len(tokens(http, text="hello", max_length=2)) == 2


@proves("tokenize.pad_to_max_length", "tokenize.padding_side")
def test_filled(http: httpx.Client) -> None:
    left, right = (
        tokens(http, text="a", max_length=3, pad_to_max_length=True, padding_side=s) for s in ("left", "right")
    )
    (token,) = tokens(http, text="a")
    assert (left.index(token), right.index(token), len(left)) == (2, 0, 3)


@proves("tokenize.add_special_tokens", on="telling")
def test_without_the_token_that_begins_a_text(http: httpx.Client) -> None:
    whole, bare = tokens(http, text="a"), tokens(http, text="a", add_special_tokens=False)
    assert (whole[1:], len(whole)) == (bare, 2)
