"""The costs of grammars as tables, and the page of the portal with them."""

import os
import platform
import statistics
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

from bench.constructs import CONSTRUCTS
from bench.grammars import VOCABULARIES, Cost, Costs, Size, measure, size
from bench.tables import Table
from specvino.engine.request import Constraint

PAGE = Path(__file__).parents[2] / "docs" / "structured-outputs.md"

_BOTH = ("SmolLM2", "Qwen")
"""The vocabularies on which the real schemas are measured; the last is also the one for XGrammar's own reading."""

_HEAD = """\
# Structured outputs

A JSON Schema, a forced tool call or a structural tag is converted to a grammar, and XGrammar constrains the model by
it: after each token it computes which tokens may follow. This page shows what that costs, for single keywords and for
whole schemas, in tool calling and with reasoning first. `tox run -e bench -- grammars --write` measures it and writes
the page.

**What is measured.** CPU time of the process, all threads together, on {cores} shared
cores ({processor}); OpenVINO GenAI {genai}. The pipeline has no model, so that a token costs only the sampler and the
mask. *Compiling* is the first answer of one token, with only the vocabulary cached. *A token* is the cost beyond
that of an unconstrained token, as the mean over three sampled texts of 64 tokens. Each text, and an unconstrained one
beside it, is generated twice, and the quicker run counts; differences of a tenth of a millisecond mean nothing.

An unconstrained token costs {free}. Where few
tokens are allowed, nearly all of the cost is GenAI's own work of applying the mask to the logits, which is the same for
every grammar.

**XGrammar** is XGrammar's own conversion of the same schema or tag, on Qwen's vocabulary. It allows unlimited white
space between the parts of a JSON text and ignores some keywords, so its texts differ. An empty cell means that it has
no conversion: it supports neither lookaheads nor strings without quotes that a schema constrains.

**Rules and places** are the grammar's size, which is the same on every machine. A place is one where most tokens of the
vocabulary are allowed; these positions are slow to compile.

"""


def measured(real: Mapping[str, Constraint], note: Callable[[str], None]) -> Iterator[tuple[str, Costs]]:
    """The costs on each vocabulary."""
    for name, vocabulary in VOCABULARIES.items():
        note(f"{name} …")
        structured_outputs = {**CONSTRUCTS, **(real if name in _BOTH else {})}
        yield name, measure(vocabulary, structured_outputs, structured_outputs if name == _BOTH[-1] else ())


def tables(costs: Mapping[str, Costs], real: Mapping[str, Constraint]) -> list[Table]:
    all_of, two, own = list(costs.values()), [costs[name] for name in _BOTH], costs[_BOTH[-1]]
    heads = [f"{name} {_thousands(cost)}" for name, cost in costs.items()]
    places = {name: size(structured_output) for name, structured_output in {**CONSTRUCTS, **real}.items()}
    return [
        Table(
            "A token under each construct (ms)",
            ["construct", "rules", "places", *heads, "XGrammar"],
            [
                [
                    name,
                    *_size(places[name]),
                    *(_token(record.ours[name]) for record in all_of),
                    _token(own.own.get(name)),
                ]
                for name in CONSTRUCTS
            ],
        ),
        Table(
            "Compiling each construct (s)",
            ["construct", *heads, "XGrammar"],
            [
                [name, *(_compile(record.ours[name]) for record in all_of), _compile(own.own.get(name))]
                for name in CONSTRUCTS
            ],
        ),
        Table(
            "Schemas that applications send",
            [
                "schema",
                "rules",
                "places",
                *(f"{what}, {_thousands(record)}" for what in ("compiling (s)", "a token (ms)") for record in two),
                "XGrammar: compiling (s)",
                "a token (ms)",
            ],
            [
                [
                    name,
                    *_size(places[name]),
                    *(_compile(record.ours[name]) for record in two),
                    *(_token(record.ours[name]) for record in two),
                    _compile(own.own.get(name)),
                    _token(own.own.get(name)),
                ]
                for name in real
            ],
        ),
    ]


def free(costs: Mapping[str, Costs]) -> str:
    """What a token costs without a form."""
    texts = [f"{_free(cost):.2f} ms with {name}'s {_thousands(cost)} tokens" for name, cost in costs.items()]
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def page(costs: Mapping[str, Costs], tables: list[Table]) -> str:
    head = _HEAD.format(cores=os.cpu_count(), processor=_processor(), genai=version("openvino-genai"), free=free(costs))
    return head + "\n".join(table.markdown() for table in tables)


def _size(size: Size | None) -> tuple[str, str]:
    return ("", "") if size is None else (str(size.rules), str(size.places))


def _thousands(costs: Costs) -> str:
    return f"{costs.tokens / 1000:.0f}k"


def _compile(cost: Cost | None) -> str:
    return "" if cost is None else f"{cost.compile:.2f}"


def _token(cost: Cost | None) -> str:
    return "" if cost is None else f"{max(0.0, 1000 * (cost.token - cost.free)):.2f}"


def _free(costs: Costs) -> float:
    return 1000 * statistics.median(cost.free for cost in costs.ours.values())


def _processor() -> str:
    """Its maker's words, which only Linux tells."""
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        for line in facts.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()
