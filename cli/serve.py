"""`specvino serve`: a model behind the API."""

import sys
from typing import TYPE_CHECKING

import typer

from specvino.cli.extras import needs
from specvino.cli.progress import PullProgress
from specvino.cli.serve_options import listening, models, requests, telemetry

if TYPE_CHECKING:
    from specvino.server.assembly import ServedApp, ServeOptions


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
    chat_template: models.ChatTemplate = None,
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
    said = locals()
    with needs("serve"):
        from specvino.server.assembly import REFUSALS, ServeOptions
        from specvino.server.exposure import ServeError
        from specvino.server.run import run

    try:
        served = app_of(ServeOptions.model_validate({name: said[name] for name in ServeOptions.model_fields}))
        system = served.settings.system
        run(
            served,
            host,
            (system.port if system else None) or 8000 if port is None else port,
            max_connections=max_connections,
            insecure=insecure,
        )
    except (*REFUSALS, ServeError) as error:
        sys.exit(f"specvino: {error}")


def app_of(options: "ServeOptions") -> "ServedApp":
    """Returns the app that options ask for, and shows the pull of its models. Raises BadParameter or one of
    REFUSALS."""
    if options.otlp_traces_endpoint or options.otlp_metrics_endpoint:
        with needs("otel"):
            import specvino.server.telemetry.opentelemetry  # noqa: F401 - an extra, missed before a model is loaded
    from specvino.server.assembly import OptionError, make_app

    try:
        with PullProgress() as progress:
            return make_app(options, progress.report)
    except OptionError as error:
        raise typer.BadParameter(str(error), param_hint=error.option) from None
