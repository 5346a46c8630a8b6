"""`serve`'s options for drafts and limits, on the tiny model."""

from pathlib import Path

import httpx
import pytest
from support.app import error_of
from support.serving_here import serving_here, unserved

MODEL = str(Path(__file__).parents[1] / "models" / "tiny_text")


def chat(url: str, **fields: object) -> httpx.Response:
    body = {"model": "tiny_text", "messages": [{"role": "user", "content": "count"}], "temperature": 0, **fields}
    return httpx.post(f"{url}/chat/completions", json=body, timeout=300)


def content(response: httpx.Response) -> str:
    assert response.status_code == 200, response.text
    return str(response.json()["choices"][0]["message"]["content"])


@pytest.mark.parametrize(
    ("options", "accepted", "refused"),
    [
        (("--draft-model", MODEL), "assistant_confidence_threshold", "max_ngram_size"),
        (("--prompt-lookup",), "max_ngram_size", "assistant_confidence_threshold"),
    ],
)
def test_drafts(options: tuple[str, ...], accepted: str, refused: str) -> None:
    with serving_here(MODEL, *options) as server:
        text = content(chat(server.url))
        assert text.startswith("1, 2, 3")
        assert content(chat(server.url, num_assistant_tokens=2)) == text
        assert content(chat(server.url, **{accepted: 1})) == text
        assert error_of(chat(server.url, **{refused: 1}), 400, "unsupported_parameter")["param"] == refused
        assert error_of(chat(server.url, best_of=2), 400, "unsupported_parameter")["param"] == "best_of"


def test_limits() -> None:
    with serving_here(MODEL, "--max-tokens-limit", "4", "--best-of-limit", "2") as server:
        answer = chat(server.url).json()
        assert answer["usage"]["completion_tokens"] == 4
        assert answer["choices"][0]["finish_reason"] == "length"
        assert chat(server.url, max_tokens=4, best_of=2, n=2).status_code == 200
        assert error_of(chat(server.url, max_tokens=5), 400, "integer_above_max_value")["param"] == "max_tokens"
        assert error_of(chat(server.url, best_of=3), 400, "integer_above_max_value")["param"] == "best_of"


def test_two_ways_to_draft_exclude_each_other() -> None:
    ended = unserved(MODEL, "--draft-model", MODEL, "--prompt-lookup")
    assert ended.exit_code == 2
    assert "--draft-model and --prompt-lookup can't be combined" in ended.output
