"""`specvino serve`: serves a model."""

import gc
import sys
from typing import TYPE_CHECKING

import typer

from specvino.cli import serve_options as options
from specvino.cli.ending import end, needs
from specvino.cli.progress import Progress
from specvino.conformance.reports import inert

if TYPE_CHECKING:
    from specvino.server.assembly import ServedApp, ServeOptions


def serve(
    model: options.Model = None,
    config: options.Config = None,
    named_models: options.NamedModels = None,
    lora_modules: options.LoraModules = None,
    host: options.Host = "127.0.0.1",
    port: options.Port = None,
    dialect: options.Dialect = None,
    served_model_name: options.ServedModelName = None,
    revision: options.Revision = None,
    engine: options.Engine = options.EngineKind.OPENVINO,
    api_key_file: options.ApiKeyFile = None,
    key_requests_per_minute: options.KeyRequestsPerMinute = None,
    key_tokens_per_minute: options.KeyTokensPerMinute = None,
    key_max_num_seqs: options.KeyMaxNumSeqs = None,
    insecure: options.Insecure = False,
    ssl_certfile: options.SslCertfile = None,
    ssl_keyfile: options.SslKeyfile = None,
    allowed_hosts: options.AllowedHosts = None,
    unsupported_fields: options.UnsupportedFields = options.FieldPolicy.REPORT,
    trust_request_chat_template: options.TrustRequestChatTemplate = False,
    allowed_origins: options.AllowedOrigins = None,
    no_web: options.NoWeb = False,
    max_connections: options.MaxConnections = 2048,
    max_body: options.MaxBody = 8 * 1024 * 1024,
    shutdown_timeout: options.ShutdownTimeout = 20,
    draft_model: options.DraftModel = None,
    prompt_lookup: options.PromptLookup = False,
    tool_parser: options.ToolParser = None,
    reasoning_parser: options.ReasoningParser = None,
    chat_template: options.ChatTemplate = None,
    max_tokens_limit: options.MaxTokensLimit = None,
    max_model_len: options.MaxModelLen = None,
    max_queue: options.MaxQueue = 1000,
    request_timeout: options.RequestTimeout = None,
    cache_size: options.CacheSize = None,
    full_logits: options.FullLogits = options.FullLogitsMode.ON_DEMAND,
    prefix_cache: options.PrefixCache = options.PrefixCacheMode.SHARED,
    idle_unload: options.IdleUnload = None,
    max_num_seqs: options.MaxNumSeqs = 64,
    max_num_batched_tokens: options.MaxNumBatchedTokens = 256,
    device: options.Device = "CPU",
    plugin_config: options.PluginConfig = None,
    best_of_limit: options.BestOfLimit = None,
    allowed_media_domains: options.AllowedMediaDomains = None,
    allowed_local_media_path: options.AllowedLocalMediaPath = None,
    response_store: options.ResponseStore = None,
    response_store_days: options.ResponseStoreDays = 30,
    response_store_quota: options.ResponseStoreQuota = None,
    log_level: options.LogLevel = options.Level.INFO,
    log_format: options.LogFormat = options.LogStyle.TEXT,
    metrics_port: options.MetricsPort = None,
    metrics_key_file: options.MetricsKeyFile = None,
    otlp_traces_endpoint: options.OtlpTracesEndpoint = None,
    otlp_metrics_endpoint: options.OtlpMetricsEndpoint = None,
) -> None:
    """Serve a model with the OpenAI-compatible API."""
    values = locals()
    # Imported objects stay alive, and collections would take a fifth of the time; once frozen, later ones skip them.
    gc.disable()
    try:
        with needs("serve"):
            from specvino.engine.errors import WrongInput
            from specvino.server.access import ServeError
            from specvino.server.assembly import REFUSALS, ServeOptions
            from specvino.server.run import run
    finally:
        gc.freeze()
        gc.enable()

    try:
        served = app_of(ServeOptions.model_validate({name: values[name] for name in ServeOptions.model_fields}))
        system = served.settings.system
        run(
            served,
            host,
            (system.port if system else None) or 8000 if port is None else port,
            max_connections=max_connections,
            insecure=insecure,
            certificate=ssl_certfile,
            key=ssl_keyfile,
            progress=Progress(),
        )
    except WrongInput as error:
        end(str(error))
    except (*REFUSALS, ServeError) as error:
        sys.exit(f"specvino: {inert.block(str(error))}")


def app_of(chosen: "ServeOptions") -> "ServedApp":
    """Builds the app for these options, showing the progress of pulls. Raises BadParameter or one of REFUSALS."""
    if chosen.otlp_traces_endpoint or chosen.otlp_metrics_endpoint:
        with needs("otel"):
            import specvino.server.telemetry.opentelemetry  # noqa: F401 - an extra: if it is missing, fail before a model is loaded
    from specvino.server.assembly import OptionError, make_app

    try:
        with Progress() as report:
            return make_app(chosen, report)
    except OptionError as error:
        raise typer.BadParameter(str(error), param_hint=error.option) from None
