"""The options of `specvino serve`, in groups, as types for Typer; the defaults are in the command's signature."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from specvino.cli.dialects import DIALECTS, known_dialect
from specvino.cli.settings import read_settings
from specvino.document.loading import dialects

# The groups of the help.
_model = partial(typer.Option, rich_help_panel="Model")
_format = partial(typer.Option, rich_help_panel="Chat templates, tools and reasoning")
_engine = partial(typer.Option, rich_help_panel="Engine")
_network = partial(typer.Option, rich_help_panel="Network")
_keys = partial(typer.Option, rich_help_panel="Keys")
_api = partial(typer.Option, rich_help_panel="API")
_limit = partial(typer.Option, rich_help_panel="Limits")
_media = partial(typer.Option, rich_help_panel="Media")
_storage = partial(typer.Option, rich_help_panel="Storage")
_observed = partial(typer.Option, rich_help_panel="Observability")

# The model and its execution.


class EngineKind(StrEnum):
    OPENVINO = "openvino"
    SCRIPTED = "scripted"


Model = Annotated[
    str | None,
    typer.Argument(
        help="An OpenVINO model folder, a .gguf file, or a Hugging Face model ID (ORG/NAME, or "
        "ORG/NAME:QUANTIZATION to choose one of several GGUF files). By default, smollm2."
    ),
]

Revision = Annotated[
    str | None,
    _model(help="The branch, tag or commit of a Hugging Face model. By default, the main branch."),
]

NamedModels = Annotated[
    list[str] | None,
    _model(
        "--model",
        metavar="NAME=MODEL",
        help="Serve a model under a name, in place of MODEL. Repeatable. Each model gets its own processes and KV "
        "cache; the other options are shared.",
    ),
]

LoraModules = Annotated[
    list[str] | None,
    _model(
        metavar="NAME=PATH",
        help="Also serve the model with a LoRA adapter (a PEFT folder) under NAME. Repeatable. Each adapter gets its "
        "own processes and KV cache, as a model does; the list of models shows its PATH. With --model, a JSON object "
        'names the model: \'{"name": "NAME", "path": "PATH", "base_model_name": "MODEL"}\'.',
    ),
]

ServedModelName = Annotated[
    list[str] | None,
    _model(
        help="The name that requests use for the model; may be repeated for aliases. By default, the name of the "
        "model's folder or file, or its ID."
    ),
]

Engine = Annotated[
    EngineKind,
    _model(help="openvino runs the model; scripted is an offline mock of the API that needs no model."),
]

DraftModel = Annotated[
    str | None,
    _model(
        help="A draft model for speculative decoding: a smaller model with the same vocabulary, given like MODEL. "
        "Disables beam search and the prefix cache."
    ),
]

PromptLookup = Annotated[
    bool,
    _model("--prompt-lookup", help="Use prompt lookup for speculative decoding. Disables beam search."),
]

ToolParser = Annotated[
    str | None,
    _format(
        help="The format of the model's tool calls, or none to leave them in the text. By default, as detected "
        "from the chat template.",
        show_default=False,
    ),
]

ReasoningParser = Annotated[
    str | None,
    _format(
        help="The format of the model's reasoning, or none to leave it in the text. By default, as detected from "
        "the chat template.",
        show_default=False,
    ),
]

ChatTemplate = Annotated[
    Path | None,
    _format(
        metavar="FILE",
        help="A file with a chat template (Jinja) to use instead of the model's own.",
        show_default=False,
    ),
]

CacheSize = Annotated[
    int | None,
    _engine(
        min=1,
        help="The size of the KV cache, in GB. By default, a quarter of the memory of the machine, the container "
        "or the GPU, divided among the models, or less if that much isn't free beside them.",
        show_default=False,
    ),
]


class FullLogitsMode(StrEnum):
    ON_DEMAND = "on-demand"
    PRELOAD = "preload"
    OFF = "off"


FullLogits = Annotated[
    FullLogitsMode,
    _engine(
        help="When to load the second copy of the weights, which top_logprobs, prompt logprobs, logit_bias, and "
        "allowed and bad tokens need: with the first such request, at the start, or never.",
    ),
]


class PrefixCacheMode(StrEnum):
    SHARED = "shared"
    OFF = "off"


PrefixCache = Annotated[
    PrefixCacheMode,
    _engine(
        help="Share the prefix cache between clients. Response times can reveal other clients' prompts; off disables "
        "the cache.",
    ),
]

IdleUnload = Annotated[
    float | None,
    _engine(
        min=1,
        help="Unload a model after this many idle seconds to free its memory. The next request loads it again and "
        "waits for it. By default, models stay loaded.",
        show_default=False,
    ),
]

MaxNumSeqs = Annotated[
    int,
    _engine(
        min=1,
        help="Maximum number of sequences generated at a time; others wait. Each step fits one token per sequence "
        "plus 64 prompt tokens, even if --max-num-batched-tokens is lower.",
    ),
]

MaxNumBatchedTokens = Annotated[
    int,
    _engine(
        min=128,
        help="Maximum number of tokens computed in a step; longer prompts take several steps. Smaller values lower the "
        "inter-token latency, larger ones speed up prefill. No effect with --draft-model.",
    ),
]

Device = Annotated[
    str,
    _engine(
        help="The OpenVINO device that runs the model: CPU, GPU, GPU.1, AUTO, AUTO:GPU,CPU, HETERO:GPU.0,GPU.1. An "
        "unknown device is refused with the list of available ones. NPU and MULTI aren't supported."
    ),
]

PluginConfig = Annotated[
    str | None,
    _engine(
        help="Properties of the device's OpenVINO plugin, as a JSON object such as '{\"INFERENCE_NUM_THREADS\": 8}'. "
        "`specvino tune` finds the fastest ones for a CPU.",
        show_default=False,
    ),
]


Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        is_eager=True,
        callback=read_settings,
        help="A file with options, as YAML, or as TOML if its name ends in .toml: `port: 9000`. Precedence: command "
        "line, environment variables such as SPECVINO_PORT, file.",
        show_default=False,
    ),
]

# Addresses and access.


Host = Annotated[
    str,
    _network(
        help="The address to listen on. An address that other machines can reach requires API keys, or --insecure."
    ),
]

Port = Annotated[
    int | None,
    _network(
        min=0,
        max=65535,
        help="The port to listen on; 0 picks a free one. By default, 8000, or the port of the system that --dialect "
        "names.",
        show_default=False,
    ),
]

ApiKeyFile = Annotated[
    Path | None,
    _keys(
        help="A file of API keys, one per line; lines that start with # are comments. A key may be followed by limits "
        "of its own, such as requests-per-minute=60, tokens-per-minute=100000, max-num-seqs=none, stored-gb=0.5 and "
        "stored-days=7. By default, the key in the environment variable SPECVINO_API_KEY."
    ),
]

KeyRequestsPerMinute = Annotated[
    int | None,
    _keys(
        min=1,
        help="Maximum requests per minute and API key, of those that run the model; excess ones get status 429. By "
        "default, no limit.",
        show_default=False,
    ),
]

KeyTokensPerMinute = Annotated[
    int | None,
    _keys(
        min=1,
        help="Maximum tokens per minute and API key, of prompts and answers. A request is admitted while any are left; "
        "overuse is deducted from the following minutes. By default, no limit.",
        show_default=False,
    ),
]

KeyMaxNumSeqs = Annotated[
    int | None,
    _keys(
        min=1,
        help="Maximum running and waiting sequences per API key; further requests get status 429. By default, no "
        "limit.",
        show_default=False,
    ),
]

Insecure = Annotated[bool, _keys("--insecure", help="Serve without API keys even if other machines can reach --host.")]

SslCertfile = Annotated[
    Path | None,
    _network(
        metavar="FILE",
        help="A file with the server's certificate and those of its issuers (PEM), for HTTPS. By default, HTTP.",
        show_default=False,
    ),
]

SslKeyfile = Annotated[
    Path | None,
    _network(
        metavar="FILE",
        help="The file with the certificate's key (PEM). By default, it is in the file of --ssl-certfile.",
        show_default=False,
    ),
]

AllowedHosts = Annotated[
    list[str] | None,
    _network(
        help="A hostname that requests may use in the Host header, such as api.example.com or *.example.com, or "
        "several separated by commas; `*` allows all. May be repeated. IP addresses, names without a dot, and "
        "names under .localhost, .local, .internal and .home.arpa are always allowed. By default, all names if the "
        "server has API keys, otherwise no others."
    ),
]

AllowedOrigins = Annotated[
    list[str] | None,
    _network(
        help="An origin whose web pages may use the server (CORS), such as https://example.com, or several "
        "separated by commas; `*` allows all. May be repeated. By default, none."
    ),
]

NoWeb = Annotated[
    bool,
    _network("--no-web", help="Serve no pages for browsers: neither the chat at / nor the reference at /docs."),
]

MaxConnections = Annotated[
    int,
    _network(
        min=1,
        help="The maximum number of open connections. When it is reached, the connection that has been idle longest is "
        "closed for a new one; if none is idle, the new one gets status 503.",
    ),
]

MaxBody = Annotated[
    int,
    _limit(
        min=1,
        help="The maximum size of a request body, in bytes. A body may contain one key, object or array for each 256 "
        "bytes of this limit, and one element for each 64.",
    ),
]

ShutdownTimeout = Annotated[
    int,
    _network(
        min=0,
        help="Seconds that running requests get to finish after SIGTERM or Ctrl-C. New requests are refused meanwhile.",
    ),
]


# Limits of requests, and storage.


class FieldPolicy(StrEnum):
    REPORT = "report"
    REJECT = "reject"
    IGNORE = "ignore"


Dialect = Annotated[
    str | None,
    _api(
        help="Serve the API of another system, with its paths, defaults, responses, streams and errors: one of "
        f"{DIALECTS}. The options of that system's server are accepted, too: --dialect NAME --help shows them. By "
        "default, the API of this project.",
        callback=known_dialect,
        autocompletion=dialects,
        show_default=False,
    ),
]

UnsupportedFields = Annotated[
    FieldPolicy,
    _api(
        help="What to do with unsupported request fields: report them in the response header X-Unsupported-Params, "
        "reject the request, or ignore them."
    ),
]

TrustRequestChatTemplate = Annotated[
    bool,
    _api(
        "--trust-request-chat-template",
        help="Accept chat templates in requests. Templates are code: each runs in a separate process, limited to a "
        "second of CPU time and 512 MB.",
    ),
]

MaxTokensLimit = Annotated[
    int | None,
    _limit(min=1, help="The maximum number of tokens of a choice; also the default for requests that set no limit."),
]

MaxModelLen = Annotated[
    int | None,
    _limit(
        min=1,
        help="The maximum number of tokens of a prompt and its answer together, at most the model's own. By default, "
        "the model's own, and 131072 with --engine scripted.",
    ),
]

MaxQueue = Annotated[
    int,
    _limit(min=0, help="The maximum number of requests that wait; further ones get status 429."),
]

RequestTimeout = Annotated[
    float | None,
    _limit(
        min=0.001,
        help="Seconds after which an incomplete response ends with an error. By default, none.",
    ),
]

BestOfLimit = Annotated[
    int | None,
    _limit(min=1, help="The maximum best_of (beam width) that requests may set. By default, that of the API."),
]

AllowedMediaDomains = Annotated[
    list[str] | None,
    _media(
        help="A host that images may be downloaded from, or several separated by commas; `all` allows every public "
        "host. May be repeated. Private addresses and redirects are refused. By default, none: images have to be "
        "in the request itself."
    ),
]

AllowedLocalMediaPath = Annotated[
    Path | None,
    _media(
        exists=True,
        file_okay=False,
        help="A folder whose image files requests may load, by file: URL or path; subfolders are included.",
    ),
]

ResponseStore = Annotated[
    str | None,
    _storage(
        help="Where to store responses and conversations: the URL of a database (SQLAlchemy, with an async driver), or "
        "none. By default, an SQLite file in the user's data folder.",
        show_default=False,
    ),
]

ResponseStoreDays = Annotated[
    float,
    _storage(help="Days after which stored responses and conversations are deleted.", min=0.001),
]

ResponseStoreQuota = Annotated[
    float | None,
    _storage(
        help="Storage quota per API key in GB, for responses and conversations separately; beyond it, the oldest are "
        "deleted. A file also holds at most 10,000 of each. By default, 1 in a file and unlimited in another database.",
        min=0.001,
        show_default=False,
    ),
]


# Logs, metrics and traces.


class Level(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


LogLevel = Annotated[
    Level,
    _observed(
        help="Log level. Requests are logged at info, those for health and metrics at debug.",
    ),
]


class LogStyle(StrEnum):
    TEXT = "text"
    JSON = "json"


LogFormat = Annotated[
    LogStyle,
    _observed(
        help="The format of the log on stderr: text, or one JSON object per line. Prompts, responses and query strings "
        "are never logged."
    ),
]

MetricsPort = Annotated[
    int | None,
    _observed(
        min=0,
        max=65535,
        help="A separate port for Prometheus' /metrics, where it requires no API key; 0 picks a free one. By "
        "default, the API's port, where /metrics requires an API key if there are any.",
        show_default=False,
    ),
]

MetricsKeyFile = Annotated[
    Path | None,
    _observed(
        help="A file of keys that /metrics accepts instead of the API keys, one per line. By default, the key in the "
        "environment variable SPECVINO_METRICS_KEY."
    ),
]

OtlpTracesEndpoint = Annotated[
    str | None,
    _observed(
        help="The URL that OpenTelemetry traces are sent to (OTLP over HTTP), such as http://127.0.0.1:4318/v1/traces. "
        "Requires the extra `otel`."
    ),
]

OtlpMetricsEndpoint = Annotated[
    str | None,
    _observed(
        help="The URL that OpenTelemetry GenAI metrics are sent to (OTLP over HTTP), such as "
        "http://127.0.0.1:4318/v1/metrics. Requires the extra `otel`."
    ),
]
