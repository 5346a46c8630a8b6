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
def test_the_likeliest_token_stands_beside_each(ask: Ask) -> None:
    tokens = ask("hello", logprobs=True, top_logprobs=1).logprobs
    assert [token["top_logprobs"][0]["token"] for token in tokens if token["top_logprobs"]][:2] == ["H", "e"]


@proves("completions.logprobs")
def test_tokens_and_their_places(ask: Ask) -> None:
    logprobs = ask("hello", logprobs=1).logprobs or {"tokens": [], "text_offset": []}
    assert "".join(logprobs["tokens"]) == HELLO
    assert logprobs["text_offset"][:4] == [0, 1, 2, 4]


@proves("completions.echo")
def test_the_prompt_is_repeated(ask: Ask) -> None:
    assert ask(prompt="1, 2, 3", echo=True).text.startswith("1, 2, 3")
