"""`specvino serve`: a model behind the API."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from specvino.cli.extras import needs
from specvino.cli.serve_engine import EngineOptions, make_engine
from specvino.cli.serve_models import by_name, make_engines, own_names
from specvino.cli.serve_options import listening, models, requests, telemetry

if TYPE_CHECKING:
    from collections.abc import Iterable


def serve(
    model: models.Model = None,
    named_models: models.NamedModels = None,
    host: listening.Host = "127.0.0.1",
    port: listening.Port = None,
    dialect: requests.Dialect = None,
    served_model_name: models.ServedModelName = None,
    revision: models.Revision = None,
    engine: models.Engine = models.EngineKind.OPENVINO,
    api_key_file: listening.ApiKeyFile = None,
    insecure: listening.Insecure = False,
    allowed_hosts: listening.AllowedHosts = None,
    unsupported_fields: requests.UnsupportedFields = requests.FieldPolicy.REPORT,
    trust_request_chat_template: requests.TrustRequestChatTemplate = False,
    allowed_origins: listening.AllowedOrigins = None,
    max_connections: listening.MaxConnections = 2048,
    max_body: listening.MaxBody = 8 * 1024 * 1024,
    shutdown_timeout: listening.ShutdownTimeout = 20,
    draft_model: models.DraftModel = None,
    prompt_lookup: models.PromptLookup = False,
    tool_parser: models.ToolParser = None,
    reasoning_parser: models.ReasoningParser = None,
    max_tokens_limit: requests.MaxTokensLimit = None,
    max_queue: requests.MaxQueue = 1000,
    request_timeout: requests.RequestTimeout = None,
    cache_size: models.CacheSize = None,
    max_num_seqs: models.MaxNumSeqs = 64,
    max_num_batched_tokens: models.MaxNumBatchedTokens = 256,
    device: models.Device = "CPU",
    plugin_config: models.PluginConfig = None,
    best_of_limit: requests.BestOfLimit = 20,
    allowed_media_domains: requests.AllowedMediaDomains = None,
    allowed_local_media_path: requests.AllowedLocalMediaPath = None,
    response_store: requests.ResponseStore = None,
    log_format: telemetry.LogFormat = telemetry.LogStyle.TEXT,
    metrics_port: telemetry.MetricsPort = None,
    metrics_key_file: telemetry.MetricsKeyFile = None,
    otlp_traces_endpoint: telemetry.OtlpTracesEndpoint = None,
    otlp_metrics_endpoint: telemetry.OtlpMetricsEndpoint = None,
) -> None:
    """Serve a model."""
    with needs("serve"):
        from specvino.engine.errors import ModelLoadError
        from specvino.engine.output_parsers import REASONING_PARSERS, TOOL_PARSERS
        from specvino.handlers.limits import Limits
        from specvino.handlers.media import MediaError, MediaSettings
        from specvino.server.dialect import speaker
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
        telemetry_settings = TelemetrySettings(
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
            telemetry=telemetry_settings,
        )
        if draft_model and prompt_lookup:
            raise ServeError("--draft-model and --prompt-lookup exclude each other")
        _require_format("--tool-parser", tool_parser, TOOL_PARSERS)
        _require_format("--reasoning-parser", reasoning_parser, REASONING_PARSERS)
        limits = Limits(max_tokens_limit, best_of_limit, request_timeout, trust_request_chat_template)
        media = MediaSettings.parse(allowed_media_domains or (), allowed_local_media_path)
        options = EngineOptions(
            engine,
            draft_model,
            prompt_lookup,
            tool_parser,
            reasoning_parser,
            max_tokens_limit,
            max_queue,
            cache_size,
            max_num_seqs,
            max_num_batched_tokens,
            device,
            plugin_config,
        )
        if named_models:
            of_one = {
                "MODEL": model,
                "--served-model-name": served_model_name,
                "--revision": revision,
                "--draft-model": draft_model,
                "--tool-parser": tool_parser,
                "--reasoning-parser": reasoning_parser,
            }
            engines = make_engines(named_models, of_one, options)
        else:
            engines = {own_names(model, served_model_name, engine): make_engine(model, revision, options)}
        system = speaker(dialect, by_name(engines), named=bool(served_model_name or named_models)) if dialect else None
        run(
            engines,
            replace(settings, system=system),
            host,
            (system.port if system else None) or 8000 if port is None else port,
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
