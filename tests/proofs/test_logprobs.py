"""How likely the tokens were."""

import httpx

from proofs import proves
from proofs.asking import ANSWER, TURN, Ask

HELLO = "Hello! How can I help you today?"


def ids_of(http: httpx.Client, text: str) -> list[int]:
    tokens: list[int] = http.post("/tokenize", json={"model": "m", "text": text}).json()["tokens"]
    return tokens


@proves("chat.logprobs", "responses.logprobs")
def test_each_token_has_its_probability(ask: Ask) -> None:
    tokens = ask("hello", logprobs=True).logprobs or []
    assert "".join(token["token"] for token in tokens) == HELLO
    assert all(-1 < token["logprob"] <= 0 for token in tokens)


@proves("chat.top_logprobs", "responses.top_logprobs")
def test_the_likeliest_tokens_stand_beside_each(ask: Ask) -> None:
    tokens = ask("hello", logprobs=True, top_logprobs=3).logprobs
    assert [token["top_logprobs"][0]["token"] for token in tokens if token["top_logprobs"]][:2] == ["H", "e"]
    assert {len(token["top_logprobs"]) for token in tokens} == {3}
    for token in tokens:
        likely = [candidate["logprob"] for candidate in token["top_logprobs"]]
        assert likely == sorted(likely, reverse=True)
        assert likely[0] == token["logprob"]


@proves("completions.logprobs")
def test_tokens_and_their_places(ask: Ask) -> None:
    logprobs = ask("hello", logprobs=2).logprobs or {"tokens": [], "text_offset": [], "top_logprobs": []}
    assert "".join(logprobs["tokens"]) == HELLO
    assert logprobs["text_offset"][:4] == [0, 1, 2, 4]
    assert [max(top, key=top.get) for top in logprobs["top_logprobs"]] == logprobs["tokens"]
    assert {len(top) for top in logprobs["top_logprobs"]} == {2}


@proves("chat.logit_bias", "completions.logit_bias", "responses.logit_bias")
def test_a_token_is_made_the_only_one(ask: Ask) -> None:
    biased = ask("hello", logit_bias={"40": 100}, **{ask.limit: 4}).text
    assert len(biased) == 4
    assert len(set(biased)) == 1


@proves("chat.logprob_token_ids", "completions.logprob_token_ids")
def test_named_tokens_stand_behind_the_chosen_one(ask: Ask) -> None:
    e, h = ids_of(ask.http, "eH")
    logprobs = ask("hello", logprobs=1 if ask.endpoint == "completions" else True, logprob_token_ids=[e, h]).logprobs
    assert logprobs
    if ask.endpoint == "completions":
        assert [list(candidates) for candidates in logprobs["top_logprobs"]][:3] == [
            ["H", "e"],
            ["e", "H"],
            ["ll", "e", "H"],
        ]
    else:
        named = [[candidate["token"] for candidate in token["top_logprobs"]] for token in logprobs]
        assert named[:3] == [["H", "e"], ["e", "H"], ["ll", "e", "H"]]


@proves("chat.prompt_logprobs", "completions.prompt_logprobs")
def test_how_likely_the_prompt_s_tokens_were(ask: Ask) -> None:
    question = TURN.format(role="user", content="hello") + ANSWER
    answer = ask("hello", prompt_logprobs=2)
    of_prompt = answer.choices[0].get("prompt_logprobs")
    assert of_prompt
    assert of_prompt[0] is None
    assert [next(iter(candidates)) for candidates in of_prompt[1:]] == [
        str(id) for id in ids_of(ask.http, question)[1:]
    ]
    own = [next(iter(candidates.values())) for candidates in of_prompt[1:]]
    assert question.endswith("".join(token["decoded_token"] for token in own))
    for candidates in of_prompt[1:]:
        assert {1, 2} <= {token["rank"] for token in candidates.values()}
        assert len(candidates) <= 3
        ranked = sorted(candidates.values(), key=lambda token: token["rank"])
        assert [token["logprob"] for token in ranked] == sorted((t["logprob"] for t in ranked), reverse=True)
    if ask.endpoint == "chat" and not ask.streamed:
        assert answer.body["prompt_logprobs"] == of_prompt


@proves("chat.allowed_token_ids", "completions.allowed_token_ids")
def test_only_allowed_tokens_are_made(ask: Ask) -> None:
    (e,) = ids_of(ask.http, "e")
    assert ask("hello", allowed_token_ids=[e], **{ask.limit: 5}).text == "eeeee"


@proves("chat.bad_words", "completions.bad_words")
def test_bad_words_are_not_made(ask: Ask) -> None:
    text = ask("hello", bad_words=["How", "help"], **{ask.limit: 12}).text
    assert text.startswith("Hello")
    assert "How" not in text
    assert "help" not in text


@proves("chat.bad_words_token_ids", "completions.bad_words_token_ids")
def test_bad_tokens_are_not_made(ask: Ask) -> None:
    text = ask("hello", bad_words_token_ids=ids_of(ask.http, "H"), **{ask.limit: 12}).text
    assert text
    assert "H" not in text


@proves("completions.echo")
def test_the_prompt_is_repeated(ask: Ask) -> None:
    assert ask(prompt="1, 2, 3", echo=True).text.startswith("1, 2, 3")
