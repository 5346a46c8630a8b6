"""Addresses of what the dialects state."""

import re
from collections import defaultdict
from typing import Any

import pytest
from support.portal import SOURCE

from specvino.document.loading import dialect_file, dialects, load
from specvino.portal.source import Field
from specvino.upstream.description import read, read_fields
from specvino.upstream.evidence import Evidence, evidence

FIELDS = SOURCE.fields
CHAT = [field for field in FIELDS if field.endpoint == "chat"]


def version(system: str) -> dict[str, Any]:
    described: dict[str, Any] = load(dialect_file(system))["x-dialect"]["version"]
    return described


def of(system: str) -> Evidence:
    return evidence(system, version(system))


def beside(field: Field) -> tuple[str, str, str]:
    return field.endpoint, field.part, field.path.rpartition(".")[0]


ADDRESSES = {system: of(system) for system in dialects() if "@" not in system}


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
    _, described = read(system)
    named = [{"": described.quoted}, described.places]
    lines = {
        f"{name} {where.partition(' ')[0]}"
        for several in named
        for places in several.values()
        for read, names in places.items()
        if file.endswith(read)
        for name, where in names.items()
    }
    assert any(re.match(rf"{path} {first.partition('-')[0]}\b", line) for line in lines)


@pytest.mark.parametrize("system", ["vllm", "openai", "mlc-llm"])
def test_a_field_that_the_system_lacks_leads_to_the_fields_beside_it(system: str) -> None:
    described = read_fields(system)
    assert described
    lines_beside: dict[tuple[str, str, str], set[tuple[str, int]]] = defaultdict(set)
    for field in CHAT:
        for place in described.places(field.endpoint, field.part, field.path):
            file, _, numbers = place.partition(" ")[0].rpartition(":")
            lines_beside[beside(field)] |= {(file, int(number)) for number in re.findall(r"\d+", numbers)}
    lacking = 0
    for field in CHAT:
        lines = described.lines(field.endpoint, field.part, field.path)
        if lines and not lines.has_field and lines_beside[beside(field)]:
            lacking += 1
            first, _, last = lines.lines.partition("-")
            shown = range(int(first), int(last or first) + 1)
            assert any(file == lines.file and line in shown for file, line in lines_beside[beside(field)]), field.name
    assert lacking > 100


@pytest.mark.parametrize(
    ("system", "field", "file"),
    [
        ("vllm", "chat.request.modalities", "/vllm/entrypoints/openai/chat_completion/protocol.py"),
        ("vllm", "responses.response.billing", "/vllm/entrypoints/openai/responses/protocol.py"),
        ("openai", "chat.response.kv_transfer_params", "/src/openai/types/chat/chat_completion.py"),
    ],
)
def test_the_file_is_that_of_the_object_not_of_its_base_class(system: str, field: str, file: str) -> None:
    endpoint, part, path = field.split(".")
    assert of(system)(endpoint, part, path).partition("#")[0].endswith(file)


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


def test_supported_fields_lead_to_lines() -> None:
    addresses = [
        address(field.endpoint, field.part, field.path)
        for system, address in ADDRESSES.items()
        for field in FIELDS
        if system in field.support and field.support[system].level in ("full", "partial")
    ]
    assert len(addresses) > 4000
    assert all(address.startswith("https://github.com/") for address in addresses)
    # The others are of answers that no table names, such as errors and lists of models, and of tools and formats that
    # OVMS passes on without a name of their fields in its sources.
    assert sum("#L" in address for address in addresses) > 0.97 * len(addresses)


def test_fields_of_chat_that_a_system_lacks_lead_to_lines_or_to_a_file() -> None:
    for system, address in ADDRESSES.items():
        lacking = [
            address(field.endpoint, field.part, field.path)
            for field in CHAT
            if system in field.support and field.support[system].level in ("ignored", "refused", "absent")
        ]
        is_new = all(field.support[system].level == "unknown" for field in CHAT if system in field.support)
        assert lacking or is_new
        # Of functions in C++, unlike of classes, the lines that would have a field aren't known.
        is_spread = system in ("llama-cpp", "ovms")
        assert all("/blob/" in url and (is_spread or "#L" in url) for url in lacking), system
