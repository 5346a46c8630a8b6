"""Builds the app from the options."""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import partial

from specvino.document.loading import whole
from specvino.engine.errors import ModelLoadError
from specvino.engine.format_names import REASONING_ALIASES, TOOL_ALIASES
from specvino.engine.output_parsers import REASONING_PARSERS, TOOL_PARSERS
from specvino.engine.progress import Report, say_nothing
from specvino.handlers.limits import Limits
from specvino.handlers.media import MediaError, MediaSettings
from specvino.server.access import (
    METRICS_ENVIRONMENT,
    HostError,
    KeyFileError,
    OriginError,
    allowed_hosts,
    allowed_origins,
    read_keys,
)
from specvino.server.assembly.key_limits import kept_of_keys, key_limits
from specvino.server.assembly.models import adapters_of, by_name, make_engines
from specvino.server.assembly.options import OptionError, ServeOptions
from specvino.server.assembly.served_app import ServedApp
from specvino.server.assembly.storage import StorageError, cipher, response_store
from specvino.server.dialect import speaker
from specvino.server.settings import Settings, TelemetryError, TelemetrySettings

REFUSALS = (
    ModelLoadError,
    KeyFileError,
    MediaError,
    StorageError,
    TelemetryError,
    HostError,
    OriginError,
)
"""Errors, besides OptionError, whose `str()` explains in one line why the app can't be built."""


def make_app(options: ServeOptions, report: Report = say_nothing) -> ServedApp:
    """Builds the app for these options. Its models are pulled, with progress passed to `report`, but not loaded.

    Raises OptionError or one of REFUSALS.
    """
    if options.draft_model and options.prompt_lookup:
        raise OptionError("--prompt-lookup", "--draft-model and --prompt-lookup can't be combined")
    _require_parser("--tool-parser", options.tool_parser, TOOL_PARSERS, TOOL_ALIASES)
    _require_parser("--reasoning-parser", options.reasoning_parser, REASONING_PARSERS, REASONING_ALIASES)
    if options.best_of_limit is not None:
        _require_best_of(options.best_of_limit)
    keys = read_keys(options.api_key_file)
    limits_of_keys = key_limits(keys, options)
    telemetry = TelemetrySettings(
        log_format=options.log_format,
        log_level=options.log_level,
        metrics_keys=frozenset(read_keys(options.metrics_key_file, METRICS_ENVIRONMENT)),
        metrics_port=options.metrics_port,
        otlp_traces_endpoint=options.otlp_traces_endpoint,
        otlp_metrics_endpoint=options.otlp_metrics_endpoint,
    )
    origins = allowed_origins(options.allowed_origins or ())
    hosts = allowed_hosts(options.allowed_hosts or (), has_keys=bool(keys))
    media = MediaSettings.parse(options.allowed_media_domains or (), options.allowed_local_media_path)
    limits = Limits(
        options.max_tokens_limit, options.best_of_limit, options.request_timeout, options.trust_request_chat_template
    )
    engines = make_engines(options, report)
    named = bool(options.served_model_name or options.named_models)
    settings = Settings(
        keys=frozenset(keys),
        key_limits=limits_of_keys,
        max_body=options.max_body,
        unsupported_fields=options.unsupported_fields,
        origins=origins,
        hosts=hosts,
        shutdown_timeout=options.shutdown_timeout,
        telemetry=telemetry,
        web=not options.no_web,
        system=speaker(options.dialect, by_name(engines), limits, named=named) if options.dialect else None,
    )
    store = response_store(
        options.response_store,
        options.response_store_days,
        options.response_store_quota,
        partial(kept_of_keys, keys),
    )
    adapters = {adapter.name: adapter for adapter in adapters_of(options)}
    return ServedApp(engines, settings, store, cipher(), limits, media, adapters)


def _require_best_of(limit: int) -> None:
    bodies = whole()["components"]["schemas"].values()
    widest = max(body.get("properties", {}).get("best_of", {}).get("maximum", 0) for body in bodies)
    if limit > widest:
        raise OptionError("--best-of-limit", f"{limit} is above {widest}, the maximum of best_of in the API")


def _require_parser(option: str, name: str | None, ours: Iterable[str], aliases: Iterable[str]) -> None:
    ours = (*ours, "none")
    names = (*ours, *aliases)
    if name is not None and name not in names:
        near = get_close_matches(name, names)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise OptionError(
            option, f"unknown format {name!r}; {hint}known formats are {', '.join(ours)}, and vLLM's names of these"
        )
