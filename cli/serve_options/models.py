"""The model, and how it is run."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class EngineKind(StrEnum):
    OPENVINO = "openvino"
    SCRIPTED = "scripted"


Model = Annotated[
    str | None,
    typer.Argument(
        help="An OpenVINO model folder, a .gguf file, the id of a model on the Hugging Face hub (ORG/NAME, or "
        "ORG/NAME:QUANTIZATION for one of several GGUF files), or smollm2, the default model."
    ),
]

Revision = Annotated[
    str | None,
    typer.Option(help="The branch, tag or commit of a model on the Hugging Face hub. By default, its main branch."),
]

NamedModels = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME=MODEL",
        help="A model in place of MODEL, which is served under this name; may be repeated. Each has processes and a "
        "cache of its own, and all have the same options.",
    ),
]

ServedModelName = Annotated[list[str] | None, typer.Option(help="The name of the model in requests; may be repeated.")]

Engine = Annotated[
    EngineKind,
    typer.Option(help="openvino runs the model; scripted is an offline mock of the API, without a model."),
]

DraftModel = Annotated[
    str | None,
    typer.Option(
        help="A draft model for speculative decoding: a smaller model with the same vocabulary, given as MODEL is. "
        "Excludes beam search and the prefix cache."
    ),
]

PromptLookup = Annotated[
    bool,
    typer.Option("--prompt-lookup", help="Use prompt lookup for speculative decoding. Excludes beam search."),
]

ToolParser = Annotated[
    str | None,
    typer.Option(
        help="The format in which the model writes tool calls, or none. By default, it is detected from the chat "
        "template.",
        show_default=False,
    ),
]

ReasoningParser = Annotated[
    str | None,
    typer.Option(
        help="The format in which the model writes reasoning, or none. By default, it is detected from the chat "
        "template.",
        show_default=False,
    ),
]

ChatTemplate = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A file with the chat template (Jinja) that stands in place of the model's own.",
        show_default=False,
    ),
]

CacheSize = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="The memory for the tokens of running requests (KV cache), in GB. By default, a quarter of the "
        "machine's, of the container's, or of the GPU's, which several models share.",
        show_default=False,
    ),
]

MaxNumSeqs = Annotated[
    int,
    typer.Option(
        min=1,
        help="The most choices that are made at a time; further ones wait. A step has room for each, and for 64 tokens "
        "of prompts, whatever --max-num-batched-tokens says.",
    ),
]

MaxNumBatchedTokens = Annotated[
    int,
    typer.Option(
        min=128,
        help="The most tokens that are computed in a step. A longer prompt takes several steps: fewer tokens make "
        "shorter pauses in running answers, more of them quicker long prompts. Without effect beside "
        "--draft-model.",
    ),
]

Device = Annotated[
    str,
    typer.Option(
        help="The device that the model runs on, as OpenVINO names it: CPU, GPU, GPU.1, AUTO, AUTO:GPU,CPU, "
        "HETERO:GPU.0,GPU.1. An unknown name is told which there are. NPU and MULTI can't be had."
    ),
]

PluginConfig = Annotated[
    str | None,
    typer.Option(
        help="Properties of the device's OpenVINO plugin as a JSON object, such as "
        "'{\"INFERENCE_NUM_THREADS\": 8}'. `specvino tune` finds those that help on a CPU.",
        show_default=False,
    ),
]
