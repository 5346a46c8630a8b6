"""How likely the tokens were."""

from proofs import proves
from proofs.asking import Ask

HELLO = "Hello! How can I help you today?"


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
        likely = [each["logprob"] for each in token["top_logprobs"]]
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


@proves("completions.echo")
def test_the_prompt_is_repeated(ask: Ask) -> None:
    assert ask(prompt="1, 2, 3", echo=True).text.startswith("1, 2, 3")
