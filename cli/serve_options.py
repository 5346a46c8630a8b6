"""The options of `specvino serve`, in groups: types for Typer, so that each default stands in its signature."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from specvino.cli.dialects import SYSTEMS, known_dialect

# The model, and how it runs.


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


# Where the server listens, and who may use it.


Host = Annotated[
    str,
    typer.Option(help="The address to listen on. One that other machines can reach needs API keys, or --insecure."),
]

Port = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=65535,
        help="The port to listen on; 0 picks a free one. By default 8000, or that of --dialect's system.",
        show_default=False,
    ),
]

ApiKeyFile = Annotated[
    Path | None,
    typer.Option(
        help="A file of API keys, one per line; lines that begin with # are comments. By default, the environment "
        "variable SPECVINO_API_KEY."
    ),
]

Insecure = Annotated[
    bool, typer.Option("--insecure", help="Let everybody who can reach --host use the server without an API key.")
]

AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        help="A name that clients may call the server by (the Host header), such as api.example.com or "
        "*.example.com, or several separated by commas; `*` allows every name. May be repeated. IP addresses, "
        "names without a dot, and those below .localhost, .local, .internal and .home.arpa are always allowed. By "
        "default, every other name is refused if the server has no API keys, else allowed."
    ),
]

AllowedOrigins = Annotated[
    list[str] | None,
    typer.Option(
        help="An origin whose web pages may use the server (CORS), such as https://example.com, or several "
        "separated by commas; `*` allows every origin. May be repeated. By default, no other origin is allowed."
    ),
]

MaxConnections = Annotated[
    int,
    typer.Option(
        min=1,
        help="The most connections at a time. Beyond them the one that has waited longest without a request is "
        "closed; if there is none, the new one gets the status 503.",
    ),
]

MaxBody = Annotated[
    int,
    typer.Option(
        min=1,
        help="The largest request body to accept, in bytes. It may have a name, object or list for each 256 of "
        "them, and an element for each 64.",
    ),
]

ShutdownTimeout = Annotated[
    int,
    typer.Option(
        min=0,
        help="How long requests under way may take to end after SIGTERM or Ctrl-C, in seconds; new ones are "
        "refused meanwhile.",
    ),
]


# What requests may ask for, and what is stored of them.


class FieldPolicy(StrEnum):
    REPORT = "report"
    REJECT = "reject"
    IGNORE = "ignore"


Dialect = Annotated[
    str | None,
    typer.Option(
        help=f"Speak as another system does, by its document: its paths, defaults, answers, streams and errors. "
        f"{SYSTEMS}. The options of its own server are understood, too: --dialect NAME --help shows them. By default, "
        "the API of this project.",
        callback=known_dialect,
        show_default=False,
    ),
]

UnsupportedFields = Annotated[
    FieldPolicy,
    typer.Option(
        help="What to do with request fields that aren't supported: report them in the header "
        "X-Unsupported-Params, reject the request, or ignore them."
    ),
]

TrustRequestChatTemplate = Annotated[
    bool,
    typer.Option(
        "--trust-request-chat-template",
        help="Let requests bring chat templates of their own. Templates are code: they run in a process of their own, "
        "which may take a second of computing and 512 MB for each.",
    ),
]

MaxTokensLimit = Annotated[
    int | None,
    typer.Option(
        min=1, help="The most tokens that a choice may have; also the default of requests that name no limit."
    ),
]

MaxQueue = Annotated[
    int,
    typer.Option(
        min=0, help="The most requests that may wait while others are answered; further ones get the status 429."
    ),
]

RequestTimeout = Annotated[
    float | None,
    typer.Option(
        min=0.001,
        help="The seconds after which an answer that is not complete ends with an error. By default, none.",
    ),
]

BestOfLimit = Annotated[int, typer.Option(min=1, max=20, help="The largest best_of (beam width) to accept.")]

AllowedMediaDomains = Annotated[
    list[str] | None,
    typer.Option(
        help="A host that images may be downloaded from, or several separated by commas; `all` allows every public "
        "host. Private addresses and redirects are refused. May be repeated. By default, only images in the "
        "request itself are accepted."
    ),
]

AllowedLocalMediaPath = Annotated[
    Path | None,
    typer.Option(
        exists=True, file_okay=False, help="A folder from which requests may name image files, subfolders included."
    ),
]

ResponseStore = Annotated[
    str | None,
    typer.Option(
        help="Where responses are stored for 30 days: the URL of a database (SQLAlchemy, with an asynchronous "
        "driver), or none. By default, a file in the user's data folder.",
        show_default=False,
    ),
]


# Logs, metrics and traces.


class LogStyle(StrEnum):
    TEXT = "text"
    JSON = "json"


LogFormat = Annotated[
    LogStyle,
    typer.Option(
        help="How the log on stderr is written: as text, or as a JSON object in each line. It never holds prompts, "
        "answers or queries."
    ),
]

MetricsPort = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=65535,
        help="A port of its own for Prometheus' /metrics, which needs no API key there; 0 picks a free one. By "
        "default, /metrics is on the API's port and takes the API's keys.",
        show_default=False,
    ),
]

MetricsKeyFile = Annotated[
    Path | None,
    typer.Option(
        help="A file of the keys that /metrics takes in place of the API's, one per line. By default, the "
        "environment variable SPECVINO_METRICS_KEY."
    ),
]

OtlpTracesEndpoint = Annotated[
    str | None,
    typer.Option(
        help="The URL to which OpenTelemetry traces are sent (OTLP over HTTP), such as "
        "http://127.0.0.1:4318/v1/traces. Needs the extra `otel`."
    ),
]

OtlpMetricsEndpoint = Annotated[
    str | None,
    typer.Option(
        help="The URL to which OpenTelemetry's GenAI metrics are sent, such as http://127.0.0.1:4318/v1/metrics. "
        "Needs the extra `otel`."
    ),
]
