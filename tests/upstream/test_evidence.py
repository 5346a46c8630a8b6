"""Addresses of what the dialects state."""

import json
import re
from typing import Any

import pytest

from specvino.document.loading import dialect_file, dialects, load
from specvino.portal.source import Source
from specvino.upstream.description import FOLDER, read
from specvino.upstream.evidence import Evidence, evidence


def version(system: str) -> dict[str, Any]:
    described: dict[str, Any] = load(dialect_file(system))["x-dialect"]["version"]
    return described


def of(system: str) -> Evidence:
    return evidence(system, version(system))


@pytest.mark.parametrize(
    ("system", "field", "address"),
    [
        ("vllm", "chat.request.temperature", "https://github.com/vllm-project/vllm/blob/v{name}/vllm/"),
        ("vllm@0.29", "chat.request.temperature", "https://github.com/vllm-project/vllm/blob/v{name}/vllm/"),
        ("sglang", "chat.request.min_p", "https://github.com/sgl-project/sglang/blob/v{name}/python/sglang/srt/"),
        ("openai", "chat.request.n", "https://github.com/openai/openai-python/blob/v{package}/src/openai/types/chat/"),
        ("llama-cpp", "completions.request.top_k", "https://github.com/ggml-org/llama.cpp/blob/{name}/tools/server/"),
    ],
)
def test_the_lines_of_a_field_at_the_system_s_version(system: str, field: str, address: str) -> None:
    endpoint, part, path = field.split(".")
    address = address.format(name=version(system)["name"], package=read(system)[0].split()[1])
    url = of(system)(endpoint, part, path)
    assert url.startswith(address)
    file, _, first = url.removeprefix(address.partition("/blob/")[0]).partition("#L")
    described = json.loads((FOLDER / f"{system}.json").read_text())
    named = [{"": described["quoted"]}, described["places"]]
    lines = {
        f"{name} {where.partition(' ')[0]}"
        for several in named
        for places in several.values()
        for read, names in places.items()
        if file.endswith(read)
        for name, where in names.items()
    }
    assert any(re.match(rf"{path} {first.partition('-')[0]}\b", line) for line in lines)


def test_a_field_that_the_system_lacks_leads_to_the_object_without_it() -> None:
    url = of("mlc-llm")("chat", "request", "min_p")
    assert re.search(r"/openai_api_protocol\.py#L\d+-L\d+$", url)


def test_a_file_has_the_commit_that_it_was_read_at() -> None:
    url = of("fastdeploy")("chat", "request", "min_p")
    file = "fastdeploy/entrypoints/openai/protocol.py"
    assert f"/blob/{version('fastdeploy')['commits'][file]}/{file}#L" in url


@pytest.mark.parametrize(
    ("system", "address"),
    [
        ("vllm", "https://github.com/vllm-project/vllm/tree/v{name}"),
        ("ollama", "https://github.com/ollama/ollama/tree/{commit}"),
        ("llama-cpp", "https://github.com/ggml-org/llama.cpp/releases/tag/{name}"),
        ("fastdeploy", "https://github.com/PaddlePaddle/FastDeploy/tree/{name}"),
    ],
)
def test_an_endpoint_that_nobody_read_leads_to_the_version(system: str, address: str) -> None:
    assert of(system)("compact", "request", "model") == address.format(**{"commit": "", **version(system)})


def test_nearly_every_supported_field_leads_to_lines() -> None:
    fields = Source().fields
    addresses = [
        evidence_of(field.endpoint, field.part, field.path)
        for system, evidence_of in {name: of(name) for name in dialects() if "@" not in name}.items()
        for field in fields
        if system in field.support and field.support[system].level in ("full", "partial")
    ]
    assert all(address.startswith("https://github.com/") for address in addresses)
    assert sum("#L" in address for address in addresses) > 0.97 * len(addresses) > 4000
