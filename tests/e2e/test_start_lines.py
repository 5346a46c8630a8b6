"""Servers started by the lines that the systems' documentation has, with a model of the tests for the one there.

OVMS: docs/llm/quickstart.md, docs/parameters.md; vLLM: docs/getting_started/quickstart.md and the page of tool calling;
MLC-LLM: docs/deploy/rest.rst; FastDeploy: docs/get_started/quick_start.md; SGLang: docs/get_started/install.md and
the page of server arguments; llama.cpp: tools/server/README.md.
"""

import shlex
import shutil

import httpx
import pytest
from support.serving import serving
from support.serving_here import serving_here

HELLO = [{"role": "user", "content": "Hello"}]

SCRIPTED = ("--engine", "scripted")


def chat(url, model, key=None):
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    body = {"messages": HELLO, "max_tokens": 4} | ({"model": model} if model else {})
    return httpx.post(f"{url}/chat/completions", json=body, headers=headers, timeout=300)


@pytest.fixture
def started(tiny_text, tmp_path):
    """Starts a server by a line behind the program's name, in which MODEL is the model and FOLDER one of models."""
    shutil.copytree(tiny_text.path, tmp_path / "org" / "model")

    def start(system, line, *more):
        model = tmp_path / "org" / "model"
        arguments = [part.replace("MODEL", str(model)).replace("FOLDER", str(tmp_path)) for part in shlex.split(line)]
        return serving_here("--dialect", system, *arguments, *more), str(model)

    return start


@pytest.mark.parametrize(
    ("system", "line", "named", "without_effect"),
    [
        ("ovms", "--source_model org/model --model_repository_path FOLDER --rest_port 0", "org/model", 1),
        (
            "ovms",
            "--model_name m --model_path MODEL --rest_port 0 --task text_generation --target_device CPU --cache_size 1 "
            "--max_num_seqs 256 --pipeline_type AUTO --enable_prefix_caching true --kv_cache_precision u8 "
            "--tool_parser hermes3 --log_level DEBUG",
            "m",
            2,
        ),
        ("vllm", "MODEL --max-model-len 2048 --max-num-seqs 8 --dtype auto --gpu-memory-utilization 0.9", "MODEL", 2),
        ("mlc-llm", 'MODEL --mode server --overrides "max_num_sequence=4;prefill_chunk_size=512"', None, 1),
        ("fastdeploy", "--model MODEL --max-model-len 2048 --max-num-seqs 32 --enable-logprob", None, 1),
        ("sglang", "--model-path MODEL --context-length 2048 --mem-fraction-static 0.8 --device cpu", "MODEL", 1),
        ("llama-cpp", "-m MODEL -c 512 -np 2 -t 1 -ngl 99 --jinja", None, 2),
    ],
)
def test_a_model_is_served(started, system, line, named, without_effect) -> None:
    server, model = started(system, line)
    with server as up:
        answer = chat(up.url, model if named == "MODEL" else named)
        assert answer.status_code == 200, answer.text
        assert answer.json()["usage"]["completion_tokens"] > 0
        assert up.output.count(" has no effect here: ") == without_effect, up.output


@pytest.mark.parametrize(
    ("system", "line", "model"),
    [
        ("vllm", "Qwen/Qwen3-8B --enable-auto-tool-choice --tool-call-parser hermes --api-key k", "Qwen/Qwen3-8B"),
        ("vllm", "Qwen/Qwen3-8B --served-model-name a b --reasoning-parser qwen3 --api-key k", "b"),
        ("sglang", "--model-path Qwen/Qwen3-8B --tool-call-parser qwen25 --tp 2 --api-key k", "Qwen/Qwen3-8B"),
        ("llama-cpp", "-hf Qwen/Qwen3-8B-GGUF:Q4_K_M --alias a,b --api-key k", "a"),
        ("fastdeploy", "--model baidu/ERNIE-4.5-0.3B-Paddle --port 0 --metrics-port 0 --api-key k", None),
        ("mlc-llm", "HF://mlc-ai/Llama-3-8B-Instruct-q4f16_1-MLC --device cuda --api-key k", None),
    ],
)
def test_a_double_takes_the_line_and_its_key(system, line, model) -> None:
    with serving_here(*SCRIPTED, "--dialect", system, *shlex.split(line)) as up:
        assert chat(up.url, model).status_code == 401
        assert chat(up.url, model, "k").status_code == 200


def test_a_process_takes_the_line_too() -> None:
    line = shlex.split("Qwen/Qwen3-8B --gpu-memory-utilization 0.9 --tool-call-parser hermes --api-key k")
    with serving(*SCRIPTED, "--dialect", "vllm", *line) as up:
        assert up.output.count(" has no effect here: ") == 1, up.output
        assert chat(up.url, "Qwen/Qwen3-8B").status_code == 401
        assert chat(up.url, "Qwen/Qwen3-8B", "k").status_code == 200
