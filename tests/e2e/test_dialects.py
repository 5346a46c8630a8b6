"""A server that speaks as another system is one, as far as the judge can tell."""

import json

import httpx
import pytest
from support.exhaustive import sampled
from support.judging import failure_lines, judge
from support.serving_here import serving_here

from specvino.document.loading import systems

KEY = "sk-dialect"

# The systems whose clients are to run here unchanged. They are judged with a model, by which every rule passes that
# passes with a script; but not as OpenAI, where four rules for responses that are cut off or cancelled need the script.
DOUBLES = ("openai", "ovms", "vllm", "mlc-llm", "fastdeploy")
SCRIPTED = [name for name in systems() if name == "openai" or name not in DOUBLES]


def broken(report, *, advice=True):
    # Ollama's ids have three digits: two answers may have the same one.
    alike = "transport/at_once/answers:" if report.header.dialect == "ollama" else None
    return [fault for fault in failure_lines(report, advice=advice) if alike is None or alike not in fault]


@pytest.mark.parametrize("name", SCRIPTED)
def test_the_judge_finds_nothing_in_a_scripted_one(name) -> None:
    options = ("--engine", "scripted", "--served-model-name", "m")  # FastDeploy compares names that were given alone
    with serving_here(*options, "--dialect", name, env={"SPECVINO_API_KEY": KEY}) as server:
        report = judge(server.url, key=KEY, dialect=name)
    assert broken(report, advice=False) == []  # a script heeds no sampling


@pytest.mark.parametrize("name", sampled(DOUBLES, "ovms"))
def test_the_judge_finds_nothing_in_one_with_a_model(tiny_text, name) -> None:
    options = (str(tiny_text.path), "--served-model-name", "m")
    with serving_here(*options, "--dialect", name, env={"SPECVINO_API_KEY": KEY}) as server:
        assert server.url.endswith("/v3") is (name == "ovms")
        report = judge(server.url, key=KEY, dialect=name)
    assert broken(report) == []


@pytest.mark.parametrize("name", sampled(DOUBLES, "vllm"))
def test_generated_requests_find_nothing(name) -> None:
    """Some of them: `tests/whole` sends them all."""
    options = ("--engine", "scripted", "--served-model-name", "m")
    with serving_here(*options, "--dialect", name, env={"SPECVINO_API_KEY": KEY}) as server:
        report = judge(server.url, key=KEY, dialect=name, profile="core", layers=("fuzz",))
    assert broken(report, advice=False) == []
    assert {line.rule for line in report.lines} >= {f"{endpoint}/fuzz/requests" for endpoint in ("chat", "completions")}


def test_a_path_that_the_system_lacks_is_not_there() -> None:
    with serving_here("--engine", "scripted", "--dialect", "mlc-llm") as server:
        for path in ("/responses", "/tokenize"):
            assert httpx.post(f"{server.url}{path}", json={}).status_code == 404
        assert httpx.get(f"{server.url.removesuffix('/v1')}/health").status_code == 200


def test_what_ended_a_text_as_vllm_tells_it(tiny_text) -> None:
    asked = {"messages": [{"role": "user", "content": "count"}], "temperature": 0, "stop": ["9", ", 4"]}
    with serving_here(str(tiny_text.path), "--served-model-name", "m", "--dialect", "vllm") as server:
        answer = httpx.post(f"{server.url}/chat/completions", json={"model": "m", **asked}).json()
        assert [choice["stop_reason"] for choice in answer["choices"]] == [", 4"]


def test_a_suffix_stands_behind_each_text_as_mlc_llm_has_it() -> None:
    asked = {"prompt": "a b", "suffix": " the end", "n": 2, "temperature": 0}
    with serving_here("--engine", "scripted", "--dialect", "mlc-llm") as server:
        answer = httpx.post(f"{server.url}/completions", json=asked)
        assert [choice["text"] for choice in answer.json()["choices"]] == ["a b the end"] * 2
        assert "x-unsupported-params" not in answer.headers
        stream = httpx.post(f"{server.url}/completions", json={**asked, "stream": True}).text
        *chunks, done, _ = stream.split("\n\n")
        assert done == "data: [DONE]"
        last = json.loads(chunks[-1].removeprefix("data: "))
        assert [(choice["text"], choice["finish_reason"]) for choice in last["choices"]] == [(" the end", "stop")] * 2


def test_tokens_without_messages_are_a_prompt_as_in_fastdeploy() -> None:
    with serving_here("--engine", "scripted", "--dialect", "fastdeploy") as server:
        bodies: tuple[dict[str, list[int]], ...] = ({"prompt_token_ids": [1, 2, 3]}, {"prompt_token_ids": []}, {})
        answers = [httpx.post(f"{server.url}/chat/completions", json={"messages": [], **body}) for body in bodies]
    assert [answer.status_code for answer in answers] == [200, 400, 400]
    assert answers[0].json()["usage"]["prompt_tokens"] == 3


def test_pieces_of_a_stream_have_their_times_as_fastdeploy_tells_them() -> None:
    asked = {"messages": [{"role": "user", "content": "a b c"}], "stream": True}
    with serving_here("--engine", "scripted", "--served-model-name", "m", "--dialect", "fastdeploy") as server:
        chat = httpx.post(f"{server.url}/chat/completions", json={"model": "m", **asked}).text
        completion = httpx.post(
            f"{server.url}/completions", json={"model": "m", "prompt": "a b c", "stream": True}
        ).text
    for stream in (chat, completion):
        chunks = [json.loads(event.removeprefix("data: ")) for event in stream.split("\n\n")[:-2]]
        times = [choice["arrival_time"] for chunk in chunks for choice in chunk["choices"]]
        assert len(times) > 3
        assert times == sorted(times)
        assert times[0] >= 0
