"""The page of a double says what becomes of each field, path and option, and nothing twice."""

import re
from functools import cache

import pytest
from support.portal import SOURCE

from specvino.cli.docs import start_lines
from specvino.cli.system_options.table import read
from specvino.document.loading import DIFFERENCES, load
from specvino.generated.systems import SYSTEMS
from specvino.portal.pages import doubles

FIELDS = {field.name: field for field in SOURCE.fields}


@cache
def pages():
    """The pages by system."""
    drawn = doubles.pages(SOURCE, start_lines())
    return {page.path.removeprefix("doubles/").removesuffix(".md"): page.text for page in drawn}


def below(system: str, title: str) -> str:
    """The part of a page below a heading, up to the next one; nothing, where there is none."""
    match = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", pages()[system], re.DOTALL | re.MULTILINE)
    return match[1] if match else ""


def linked(text: str) -> list[str]:
    return re.findall(r"\(\.\./matrix\.md#([^)]+)\)", text)


def test_there_is_one_for_each_system() -> None:
    assert list(pages()) == list(SYSTEMS)


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_field_stands_where_its_markings_put_it(system) -> None:
    titles = {section: title for section, (title, _) in doubles.SECTIONS.items()} | {"unknown here": "Answers"}
    for section, title in titles.items():
        named = linked(below(system, title))
        assert len(named) == len(set(named))
        assert {doubles.section(FIELDS[name], system) for name in named} <= {section}
    described = set(linked(pages()[system]))
    for field in SOURCE.fields:
        outer, outers = field.around, list[str | None]()
        while outer:
            outers.append(doubles.section(outer, system))
            outer = outer.around
        own = doubles.section(field, system)
        assert (field.name in described) == (own is not None and own not in outers), field.name


@pytest.mark.parametrize(
    ("system", "name", "section"),
    [
        ("vllm", "chat.temperature", "works"),
        ("openai", "chat.user", "natural"),
        ("ovms", "chat.audio", "missing"),
        ("ovms", "completions.echo", "works"),
        ("ovms", "chat.logit_bias", "more"),
        ("mlc-llm", "completions.suffix", "works"),
        ("ollama", "completions.suffix", "partly"),
        ("openai", "chat.top_k", "refused"),
        ("ovms", "chat.reasoning_effort", "more"),
        ("vllm", "chat.response.kv_transfer_params", "unknown here"),
        ("vllm", "chat.response.id", None),
    ],
)
def test_what_becomes_of_a_field(system, name, section) -> None:
    assert doubles.section(FIELDS[name], system) == section


def test_what_is_missing_has_the_reason() -> None:
    lines = below("openai", "What works for some values").splitlines()
    [row] = [line for line in lines if "#completions.suffix" in line]
    assert "not supported here, except an empty text." in row
    assert "Fill-in-the-middle models have a prompt format of their own" in row


@pytest.mark.parametrize("system", SYSTEMS)
def test_paths(system) -> None:
    text, document = below(system, "Paths"), SOURCE.dialect(system)
    for path, item in document["paths"].items():
        assert all(f"- `{method.upper()} {path}`" in text for method in item if method in ("get", "post", "delete"))
    for operation in document["x-dialect"].get("other_operations", ()):
        is_missing = f"| {operation['method']} | {operation['path']} | {operation['purpose']} |" in text
        is_served = f"- `{operation['method']} {operation['path']}` at the root" in text
        assert (is_missing, is_served) == ("served_by" not in operation, "served_by" in operation)


def test_operations_without_a_base_path_are_told() -> None:
    assert "- `POST /tokenize` at the root" in below("vllm", "Paths")
    assert "- `POST /tokenize`\n" in below("ovms", "Paths")


@pytest.mark.parametrize("system", SYSTEMS)
def test_differences_have_their_reasons(system) -> None:
    staying, _, others = below(system, "Known differences").partition("Without `--dialect`")
    known = load(DIFFERENCES).get(system, {})
    for text, emulated in ((staying, True), (others, False)):
        rules = re.findall(r"^\| ([\w-]+) \| \S", text.split("---", 1)[-1], re.MULTILINE)
        assert rules == [name for name, rule in known.items() if rule.get("emulated", False) is emulated]


@pytest.mark.parametrize("system", SYSTEMS)
def test_all_options_are_there_with_their_source(system) -> None:
    text, table = below(system, "How it is started"), read(system)
    if table is None:
        assert "specvino serve MODEL --dialect openai" in text
        return
    assert f"In place of `{table.line}`:" in text
    assert f"specvino serve --dialect {system} " in text
    assert table.note in text
    for file, meanings in table.sources.items():
        assert not meanings or f"`{file}`" in text
        for meaning in meanings:
            assert f"| `{', '.join(meaning.names)}` | " in text
            assert meaning.because is None or f" {meaning.because} |" in text
