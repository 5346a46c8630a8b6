"""Tokens of texts and of conversations, and texts of tokens."""

from typing import Any

import httpx
import pytest

from proofs import proves
from proofs.asking import ANSWER, TURN
from proofs.conftest import Run

HELLO = [{"role": "user", "content": "hello"}]
TOOL = {"type": "function", "function": {"name": "now", "description": "Tells", "parameters": {"needle": 1}}}


def answer(http: httpx.Client, path: str = "/tokenize", **fields: Any) -> Any:
    response = http.post(path, json={"model": "m", **fields})
    assert response.status_code == 200, response.text
    return response.json()


def tokens(http: httpx.Client, **fields: Any) -> Any:
    return answer(http, **fields)["tokens"]


def text(http: httpx.Client, tokens: Any, **fields: Any) -> Any:
    return answer(http, "/detokenize", tokens=tokens, **fields)["prompt"]


def rendered(http: httpx.Client, **fields: Any) -> str:
    """The prompt that a conversation becomes."""
    prompt: str = text(http, tokens(http, **fields))
    return prompt


@proves("tokenize.model", "detokenize.model")
def test_another_model_is_not_there(run: Run, http: httpx.Client) -> None:
    endpoint = run.field.partition(".")[0]
    fields: dict[str, Any] = {"text": "a"} if endpoint == "tokenize" else {"tokens": [1]}
    assert http.post(f"/{endpoint}", json={"model": "another", **fields}).status_code == 404


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


@proves("tokenize.prompt")
def test_a_prompt_or_several(http: httpx.Client) -> None:
    alone = tokens(http, prompt="hello")
    assert alone == tokens(http, text="hello")
    both = answer(http, prompt=["hello", "capital"], text="yes")
    assert (both["tokens"][0], both["count"]) == (alone, [len(ids) for ids in both["tokens"]])
    assert tokens(http, prompt=["hello"]) == [alone]


@proves("tokenize.return_token_strs")
def test_the_tokens_texts(http: httpx.Client) -> None:
    result = answer(http, text="hello <|im_end|>", return_token_strs=True)
    assert "".join(result.get("token_strs") or ()) == "hello <|im_end|>"
    assert len(result["token_strs"]) == result["count"] == len(result["tokens"])


@proves("tokenize.messages")
def test_the_conversation_that_chat_reads(http: httpx.Client) -> None:
    result = answer(http, messages=HELLO, text="yes")
    assert text(http, result["tokens"]) == TURN.format(role="user", content="hello") + ANSWER
    usage = http.post("/chat/completions", json={"model": "m", "messages": HELLO}).json()["usage"]
    assert usage["prompt_tokens"] == result["count"] < result["max_model_len"]


@proves("tokenize.add_generation_prompt")
def test_the_answer_s_turn_isn_t_begun(http: httpx.Client) -> None:
    assert rendered(http, messages=HELLO, add_generation_prompt=False) == TURN.format(role="user", content="hello")


@proves("tokenize.continue_final_message")
def test_the_last_turn_is_left_open(http: httpx.Client) -> None:
    assert rendered(http, messages=HELLO, continue_final_message=True) == "<|im_start|>user\nhello"


@proves("tokenize.chat_template_kwargs")
def test_variables_of_the_template(http: httpx.Client) -> None:
    settings = {"add_generation_prompt": False}
    assert not rendered(http, messages=HELLO, chat_template_kwargs=settings).endswith(ANSWER)


@proves("tokenize.chat_template", on="trusting")
def test_a_template_of_the_request_s_own(http: httpx.Client) -> None:
    assert rendered(http, messages=HELLO, chat_template="<{{ messages[0].content }}>") == "<hello>"


@proves("tokenize.chat_template")
def test_a_template_that_nobody_trusts(http: httpx.Client) -> None:
    response = http.post("/tokenize", json={"model": "m", "messages": HELLO, "chat_template": "x"})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "unsupported_parameter"


@proves(
    "tokenize.tools",
    "tokenize.tools[].function",
    "tokenize.tools[].function.name",
    "tokenize.tools[].function.description",
    "tokenize.tools[].function.parameters",
)
def test_the_tools(http: httpx.Client) -> None:
    shown = rendered(http, messages=HELLO, tools=[TOOL])
    assert all(word in shown for word in ("now", "Tells", "needle"))


MESSAGE = "tokenize.messages[]"
CALL = {"id": "needle", "type": "function", "function": {"name": "f", "arguments": '{"x": "y"}'}}
CALLED = {"id": "a", "function": {"name": "needle", "arguments": '{"x": "y"}'}}
GIVEN = {"id": "a", "function": {"name": "f", "arguments": '{"x": "needle"}'}}

# Each of these has its own place in the conversation.
PLACES: dict[str, dict[str, Any]] = {
    f"{MESSAGE}.content": {"role": "user", "content": "needle"},
    f"{MESSAGE}.content[].text": {"role": "user", "content": [{"type": "text", "text": "needle"}]},
    f"{MESSAGE}.name": {"role": "user", "content": "a", "name": "needle"},
    f"{MESSAGE}.reasoning": {"role": "assistant", "content": "a", "reasoning": "needle"},
    f"{MESSAGE}.reasoning_content": {"role": "assistant", "content": "a", "reasoning_content": "needle"},
    f"{MESSAGE}.tool_call_id": {"role": "tool", "content": "a", "tool_call_id": "needle"},
    f"{MESSAGE}.tool_calls": {"role": "assistant", "tool_calls": [CALL]},
    f"{MESSAGE}.tool_calls[].id": {"role": "assistant", "tool_calls": [CALL]},
    f"{MESSAGE}.tool_calls[].function": {"role": "assistant", "tool_calls": [CALLED]},
    f"{MESSAGE}.tool_calls[].function.name": {"role": "assistant", "tool_calls": [CALLED]},
    f"{MESSAGE}.tool_calls[].function.arguments": {"role": "assistant", "tool_calls": [GIVEN]},
}


@proves(*PLACES, on="telling")
def test_the_template_shows_it(run: Run, http: httpx.Client) -> None:
    assert "needle" in rendered(http, messages=[PLACES[run.field]])


@proves(f"{MESSAGE}.role", on="telling")
@pytest.mark.parametrize(
    ("role", "word"),
    [
        ("user", "hello"),
        ("system", "emoji"),
        ("developer", "emoji"),
        ("assistant", "capital"),
        ("tool", "yes"),
        ("function", "yes"),
    ],
)
def test_who_speaks(http: httpx.Client, role: str, word: str) -> None:
    assert word in rendered(http, messages=[{"role": role, "content": "who"}])


@proves("tokenize.add_special_tokens", on="telling")
def test_the_tokens_around_a_conversation(http: httpx.Client) -> None:
    bare = tokens(http, messages=HELLO)
    assert tokens(http, messages=HELLO, add_special_tokens=True)[1:] == bare


@proves("tokenize.content")
def test_texts_with_tokens_between_them(http: httpx.Client) -> None:
    hello, yes = tokens(http, text="hello"), tokens(http, text="yes")
    assert tokens(http, content=["hello", 5, "yes"], text="a") == [*hello, 5, *yes]
    assert tokens(http, content="", text="a") == []
    refused = http.post("/tokenize", json={"model": "m", "content": [123456], "text": "a"})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "content")


@proves("tokenize.add_special", on="telling")
def test_the_token_that_begins_a_text(http: httpx.Client) -> None:
    bare = tokens(http, content=["a", "a"])
    assert tokens(http, content=["a", "a"], add_special=True)[1:] == bare


@proves("tokenize.parse_special")
def test_control_tokens_as_text(http: httpx.Client) -> None:
    ids = tokens(http, content="<|im_start|>a", parse_special=False)
    assert len(ids) > 2
    assert text(http, ids) == "<|im_start|>a"


@proves("tokenize.with_pieces")
def test_each_token_with_its_piece(http: httpx.Client) -> None:
    pieces = tokens(http, content="yes 🎉", with_pieces=True)
    assert all(isinstance(token, dict) for token in pieces)
    spelt = b"".join(
        token["piece"].encode() if isinstance(token["piece"], str) else bytes(token["piece"]) for token in pieces
    )
    assert spelt.decode() == "yes 🎉"
    assert any(isinstance(token["piece"], list) for token in pieces)
    assert [token["id"] for token in pieces] == tokens(http, content="yes 🎉")


@proves("detokenize.tokens")
def test_the_text_of_tokens(http: httpx.Client) -> None:
    hello, capital = tokens(http, text="hello"), tokens(http, text="capital")
    assert text(http, hello) == "hello"
    assert text(http, [hello, capital, []]) == ["hello", "capital", ""]
    refused = http.post("/detokenize", json={"model": "m", "tokens": [123456]})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_value")


@proves("detokenize.skip_special_tokens")
def test_without_control_tokens(http: httpx.Client) -> None:
    ids = tokens(http, text="<|im_start|>hello")
    assert text(http, ids, skip_special_tokens=True) == "hello"


@proves("tokenize.tools")
def test_what_means_nothing_beside_a_text_is_told(http: httpx.Client) -> None:
    response = http.post("/tokenize", json={"model": "m", "prompt": ["a"], "tools": [TOOL], "with_pieces": True})
    assert response.headers["x-unsupported-params"] == "tools, with_pieces"
