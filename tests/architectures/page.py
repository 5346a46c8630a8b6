"""The page docs/architectures.md: `tox run -e architectures -- --write` writes it, after it has seen that all of it is
so."""

import re
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

from architectures.architecture import LOCK, Architecture
from architectures.checks import CHECKS, OF_IMAGES

PAGE = Path(__file__).parents[2] / "docs" / "architectures.md"

_HEAD = """\
# Architectures

Architectures that were tested. Of each one, a tiny model with random weights is exported by optimum-intel
{optimum}, with the real architecture's layout of heads, layers and experts, a real tokenizer and a real chat template,
and served by `specvino serve` on OpenVINO GenAI {genai}. `tox run -e architectures` checks all of this, and
`-- --write` writes this page. Random weights write nonsense, so the checks are about what holds for any text:

- **Text**: a greedy answer is the same again, and as a stream.
- **Tools**: a forced call (`tool_choice: required`) is a valid one, in the format that is derived from the template;
  "as hermes3" if the template has none.
- **Reasoning**: the tags that are derived from the template; "none" if it has none.
- **Structured**: an answer with a JSON Schema has the schema.
- **Logprobs**: each token has one, and with `top_logprobs` they are the same, as OpenVINO computes them without GenAI's
  pipeline. "chosen" is a vision-language model, whose `top_logprobs` aren't supported.
- **Images**: one and two images in a turn are counted as tokens, and the answer depends on each and on their order.
- **Image tags**: tags of images that a user types, this architecture's and others', add no image, and the images beside
  them count as many tokens and matter as before. In a prompt of `/completions`, which may spell control tokens, they
  are refused or text.
- **Prefix cache**: a repeated prompt takes fewer steps, and its answer is the one without the cache.
- **Cancel**: a request ends when its client closes the connection.

"""

_COLUMNS = ("start", *CHECKS)


def page(architectures: Mapping[str, Architecture]) -> str:
    """Returns the page. It has the known failures only: the results are what it says."""
    (optimum,) = re.findall("^optimum-intel==(.+)$", LOCK.read_text("utf-8"), re.MULTILINE)
    head = _HEAD.format(optimum=optimum, genai=version("openvino-genai"))
    return head + "".join(f"{line}\n" for line in [*_table(architectures), *_failures(architectures)])


def _table(architectures: Mapping[str, Architecture]) -> Iterator[str]:
    titles = ["architecture", "transformers", "tokenizer", "template", *_COLUMNS]
    yield _line(titles)
    yield _line(["---"] * len(titles))
    for each in architectures.values():
        template = "ours" if each.ours else each.template
        cells = [_cell(each, check) for check in _COLUMNS]
        yield _line([f"`{each.name}`", each.transformers, each.tokenizer, template, *cells])


def _cell(each: Architecture, check: str) -> str:
    if check in each.fails:
        return "no"
    if each.fails.keys() & {"export", "start"}:
        return "not exported" if check == "start" else ""
    if check in OF_IMAGES and not each.processor:
        return ""
    match check:
        case "logprobs":
            return "chosen" if each.processor else "yes"
        case "reasoning":
            return f"`{each.reasoning}`" if each.reasoning else "none"
        case "tools":
            return "yes" if each.calls else "as hermes3"
    return "yes"


def _failures(architectures: Mapping[str, Architecture]) -> Iterator[str]:
    yield ""
    yield "## What doesn't work"
    yield ""
    yield "| architecture | check | whose fault | error | |"
    yield "| --- | --- | --- | --- | --- |"
    for each in architectures.values():
        for check, failure in each.fails.items():
            yield _line([f"`{each.name}`", check, failure.fault, f"`{failure.error}`", failure.because])


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
