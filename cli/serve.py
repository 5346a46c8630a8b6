"""`specvino serve`: a model behind the API."""

import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specvino.cli.extras import needs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specvino.engine.openvino.messages.options import PipelineOptions
    from specvino.engine.protocol import Drafting, Engine


class EngineKind(StrEnum):
    OPENVINO = "openvino"
    SCRIPTED = "scripted"


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class UnsupportedFields(StrEnum):
    REPORT = "report"
    REJECT = "reject"
    IGNORE = "ignore"


def serve(
    model: Annotated[
        str | None,
        typer.Argument(
            help="An OpenVINO model folder, a .gguf file, a name known to `specvino pull`, or the id of a converted "
            "model in the local Hugging Face cache. By default, the default model (smollm2)."
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(help="The address to listen on. One that other machines can reach needs API keys, or --insecure."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 picks a free one.")] = 8000,
    served_model_name: Annotated[
        list[str] | None, typer.Option(help="The name of the model in requests; may be repeated.")
    ] = None,
    engine: Annotated[
        EngineKind,
        typer.Option(help="openvino runs the model; scripted is an offline mock of the API, without a model."),
    ] = EngineKind.OPENVINO,
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            help="A file of API keys, one per line; lines that begin with # are comments. By default, the environment "
            "variable SPECVINO_API_KEY."
        ),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Let everybody who can reach --host use the server without an API key.")
    ] = False,
    allowed_hosts: Annotated[
        list[str] | None,
        typer.Option(
            help="A name that clients may call the server by (the Host header), such as api.example.com or "
            "*.example.com, or several separated by commas; `*` allows every name. May be repeated. IP addresses, "
            "names without a dot, and those below .localhost, .local, .internal and .home.arpa are always allowed. By "
            "default, every other name is refused if the server has no API keys, else allowed."
        ),
    ] = None,
    unsupported_fields: Annotated[
        UnsupportedFields,
        typer.Option(
            help="What to do with request fields that aren't supported: report them in the header "
            "X-Unsupported-Params, reject the request, or ignore them."
        ),
    ] = UnsupportedFields.REPORT,
    allowed_origins: Annotated[
        list[str] | None,
        typer.Option(
            help="An origin whose web pages may use the server (CORS), such as https://example.com, or several "
            "separated by commas; `*` allows every origin. May be repeated. By default, no other origin is allowed."
        ),
    ] = None,
    max_connections: Annotated[
        int,
        typer.Option(
            min=1,
            help="The most connections at a time. Beyond them the one that has waited longest without a request is "
            "closed; if there is none, the new one gets the status 503.",
        ),
    ] = 2048,
    max_body: Annotated[
        int,
        typer.Option(
            min=1,
            help="The largest request body to accept, in bytes. It may have a name, object or list for each 256 of "
            "them, and an element for each 64.",
        ),
    ] = 8 * 1024 * 1024,
    shutdown_timeout: Annotated[
        int,
        typer.Option(
            min=0,
            help="How long requests under way may take to end after SIGTERM or Ctrl-C, in seconds; new ones are "
            "refused meanwhile.",
        ),
    ] = 20,
    draft_model: Annotated[
        str | None,
        typer.Option(
            help="A draft model for speculative decoding: a smaller model with the same vocabulary, given as MODEL is. "
            "Excludes beam search and the prefix cache."
        ),
    ] = None,
    prompt_lookup: Annotated[
        bool,
        typer.Option("--prompt-lookup", help="Use prompt lookup for speculative decoding. Excludes beam search."),
    ] = False,
    tool_parser: Annotated[
        str | None,
        typer.Option(
            help="The format in which the model writes tool calls, or none. By default, it is detected from the chat "
            "template.",
            show_default=False,
        ),
    ] = None,
    reasoning_parser: Annotated[
        str | None,
        typer.Option(
            help="The format in which the model writes reasoning, or none. By default, it is detected from the chat "
            "template.",
            show_default=False,
        ),
    ] = None,
    max_tokens_limit: Annotated[
        int | None,
        typer.Option(
            min=1, help="The most tokens that a choice may have; also the default of requests that name no limit."
        ),
    ] = None,
    max_queue: Annotated[
        int,
        typer.Option(
            min=0, help="The most requests that may wait while others are answered; further ones get the status 429."
        ),
    ] = 1000,
    request_timeout: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            help="The seconds after which an answer that is not complete ends with an error. By default, none.",
        ),
    ] = None,
    cache_size: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The memory for the tokens of running requests (KV cache), in GB. By default, a quarter of the "
            "machine's, or of the container's.",
            show_default=False,
        ),
    ] = None,
    max_num_batched_tokens: Annotated[
        int,
        typer.Option(
            min=128,
            help="The most tokens that are computed in a step. A longer prompt takes several steps: fewer tokens make "
            "shorter pauses in running answers, more of them quicker long prompts. Without effect beside "
            "--draft-model.",
        ),
    ] = 256,
    plugin_config: Annotated[
        str | None,
        typer.Option(
            help="Properties of OpenVINO's CPU plugin as a JSON object, such as "
            "'{\"INFERENCE_NUM_THREADS\": 8}'. `specvino tune` finds those that help.",
            show_default=False,
        ),
    ] = None,
    best_of_limit: Annotated[int, typer.Option(min=1, max=20, help="The largest best_of (beam width) to accept.")] = 20,
    allowed_media_domains: Annotated[
        list[str] | None,
        typer.Option(
            help="A host that images may be downloaded from, or several separated by commas; `all` allows every public "
            "host. Private addresses and redirects are refused. May be repeated. By default, only images in the "
            "request itself are accepted."
        ),
    ] = None,
    allowed_local_media_path: Annotated[
        Path | None,
        typer.Option(
            exists=True, file_okay=False, help="A folder from which requests may name image files, subfolders included."
        ),
    ] = None,
    response_store: Annotated[
        str | None,
        typer.Option(
            help="Where responses are stored for 30 days: the URL of a database (SQLAlchemy, with an asynchronous "
            "driver), or none. By default, a file in the user's data folder.",
            show_default=False,
        ),
    ] = None,
    log_format: Annotated[
        LogFormat,
        typer.Option(
            help="How the log on stderr is written: as text, or as a JSON object in each line. It never holds prompts, "
            "answers or queries."
        ),
    ] = LogFormat.TEXT,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="A port of its own for Prometheus' /metrics, which needs no API key there; 0 picks a free one. By "
            "default, /metrics is on the API's port and takes the API's keys.",
            show_default=False,
        ),
    ] = None,
    metrics_key_file: Annotated[
        Path | None,
        typer.Option(
            help="A file of the keys that /metrics takes in place of the API's, one per line. By default, the "
            "environment variable SPECVINO_METRICS_KEY."
        ),
    ] = None,
    otlp_traces_endpoint: Annotated[
        str | None,
        typer.Option(
            help="The URL to which OpenTelemetry traces are sent (OTLP over HTTP), such as "
            "http://127.0.0.1:4318/v1/traces. Needs the extra `otel`."
        ),
    ] = None,
    otlp_metrics_endpoint: Annotated[
        str | None,
        typer.Option(
            help="The URL to which OpenTelemetry's GenAI metrics are sent, such as http://127.0.0.1:4318/v1/metrics. "
            "Needs the extra `otel`."
        ),
    ] = None,
) -> None:
    """Serve a model."""
    with needs("serve"):
        from specvino.engine.errors import ModelLoadError
        from specvino.engine.output_parsers import REASONING_PARSERS, TOOL_PARSERS
        from specvino.handlers.limits import Limits
        from specvino.handlers.media import MediaError, MediaSettings
        from specvino.server.hosts import HostError
        from specvino.server.hosts import parse as parse_hosts
        from specvino.server.keys import METRICS_ENVIRONMENT, KeyFileError, read_keys
        from specvino.server.origins import OriginError
        from specvino.server.origins import parse as parse_origins
        from specvino.server.run import ServeError, run
        from specvino.server.settings import Settings
        from specvino.server.storage import StorageError, cipher
        from specvino.server.storage import response_store as store_of
        from specvino.server.telemetry.settings import TelemetryError, TelemetrySettings
    if otlp_traces_endpoint or otlp_metrics_endpoint:
        with needs("otel"):
            import specvino.server.telemetry.opentelemetry  # noqa: F401 - an extra, missed before a model is loaded

    try:
        origins = parse_origins(allowed_origins or ())
        keys = read_keys(api_key_file)
        hosts = parse_hosts(allowed_hosts or (), has_keys=bool(keys))
        telemetry = TelemetrySettings(
            log_format=log_format.value,
            metrics_keys=read_keys(metrics_key_file, METRICS_ENVIRONMENT),
            metrics_port=metrics_port,
            otlp_traces_endpoint=otlp_traces_endpoint,
            otlp_metrics_endpoint=otlp_metrics_endpoint,
        )
        settings = Settings(
            keys=keys,
            max_body=max_body,
            unsupported_fields=unsupported_fields.value,
            origins=origins,
            hosts=hosts,
            max_connections=max_connections,
            shutdown_timeout=shutdown_timeout,
            telemetry=telemetry,
        )
        names = tuple(served_model_name or ()) or (_own_name(model, engine),)
        if "" in names:
            raise ServeError("a served model name can't be empty")
        if draft_model and prompt_lookup:
            raise ServeError("--draft-model and --prompt-lookup exclude each other")
        _require_format("--tool-parser", tool_parser, TOOL_PARSERS)
        _require_format("--reasoning-parser", reasoning_parser, REASONING_PARSERS)
        parsers = (tool_parser, reasoning_parser)
        limits = Limits(max_tokens_limit, best_of_limit, request_timeout)
        media = MediaSettings.parse(allowed_media_domains or (), allowed_local_media_path)
        server_engine = _engine(
            model,
            engine,
            draft_model,
            prompt_lookup,
            max_tokens_limit,
            parsers,
            max_queue,
            cache_size,
            _pipeline_options(max_num_batched_tokens, plugin_config),
        )
        run(
            server_engine,
            names,
            settings,
            host,
            port,
            store_of(response_store),
            cipher(),
            limits,
            media,
            insecure=insecure,
        )
    except (
        ModelLoadError,
        KeyFileError,
        HostError,
        MediaError,
        OriginError,
        ServeError,
        StorageError,
        TelemetryError,
    ) as error:
        sys.exit(f"specvino: {error}")


def _require_format(option: str, name: str | None, known: "Iterable[str]") -> None:
    names = (*known, "none")
    if name is not None and name not in names:
        raise typer.BadParameter(f"{name!r} is none of the known formats: {', '.join(names)}", param_hint=option)


def _pipeline_options(max_num_batched_tokens: int, plugin_config: str | None) -> "PipelineOptions":
    from specvino.engine.openvino.messages.options import PipelineOptions
    from specvino.engine.openvino.messages.options import plugin_config as parsed

    try:
        return PipelineOptions(max_num_batched_tokens, parsed(plugin_config or "{}"))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--plugin-config") from None


def _own_name(model: str | None, engine: EngineKind) -> str:
    if engine is EngineKind.SCRIPTED:
        return model or "scripted"
    if model is None:
        return "smollm2"
    return Path(model).resolve().name.removesuffix(".gguf") if Path(model).exists() else model


def _engine(
    model: str | None,
    kind: EngineKind,
    draft_model: str | None,
    prompt_lookup: bool,
    max_tokens: int | None,
    parsers: tuple[str | None, str | None],
    max_queue: int,
    cache_size: int | None,
    options: "PipelineOptions",
) -> "Engine":
    """`max_tokens` bounds what the model itself says of it; `parsers` are those of tools and of reasoning."""
    if kind is EngineKind.SCRIPTED:
        from specvino.engine.output_parsers.selection import SelectedParsers
        from specvino.engine.scripted import ScriptedEngine

        drafting: Drafting | None = "prompt_lookup" if prompt_lookup else "draft_model" if draft_model else None
        tool, reasoning = (
            None if name == "none" else name or own for name, own in zip(parsers, ("hermes3", "qwen3"), strict=True)
        )
        selected = SelectedParsers(tool, reasoning)
        return ScriptedEngine(defaults=_bounded({}, max_tokens), drafting=drafting, parsers=selected)
    with needs("serve"):
        from specvino.cli.progress import PullProgress
        from specvino.engine.models import resolve
        from specvino.engine.openvino.cache_size import default_cache_size
        from specvino.engine.openvino.engine import OpenVINOEngine

    with PullProgress() as progress:
        source = resolve(model, progress.report)
        draft = resolve(draft_model, progress.report) if draft_model else None
    source = replace(source, defaults=_bounded(source.defaults, max_tokens))
    tool, reasoning = parsers
    return OpenVINOEngine(
        source,
        max_queue=max_queue,
        cache_size=cache_size or default_cache_size(),
        options=options,
        draft_model=draft,
        prompt_lookup=prompt_lookup,
        tool_parser=tool,
        reasoning_parser=reasoning,
    )


def _bounded(defaults: "Mapping[str, float | int]", max_tokens: int | None) -> "Mapping[str, float | int]":
    if max_tokens is None:
        return defaults
    return {**defaults, "max_tokens": min(max_tokens, defaults.get("max_tokens", max_tokens))}
