"""The options of a server, wherever it runs."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from specvino.server.settings import MAX_BODY, SHUTDOWN_TIMEOUT

Count = Annotated[int, Field(ge=1)]


class OptionError(ValueError):
    """An option's value can't be used. `str()` is the reason in one line, and `option` its name on the command line,
    such as `--device`."""

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(reason)
        self.option = option


class ServeOptions(BaseModel):
    """The options of `specvino serve`, except those of its port. The command's help describes them.

    `specvino.server.ray` takes the same options.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str | None = None
    named_models: list[str] | None = None
    lora_modules: list[str] | None = None
    dialect: str | None = None
    served_model_name: list[str] | None = None
    revision: str | None = None
    engine: Literal["openvino", "scripted"] = "openvino"
    api_key_file: Path | None = None
    key_requests_per_minute: Count | None = None
    key_tokens_per_minute: Count | None = None
    key_max_num_seqs: Count | None = None
    allowed_hosts: list[str] | None = None
    unsupported_fields: Literal["report", "reject", "ignore"] = "report"
    trust_request_chat_template: bool = False
    allowed_origins: list[str] | None = None
    no_web: bool = False
    max_body: Count = MAX_BODY
    shutdown_timeout: Annotated[int, Field(ge=0)] = SHUTDOWN_TIMEOUT
    draft_model: str | None = None
    prompt_lookup: bool = False
    tool_parser: str | None = None
    reasoning_parser: str | None = None
    chat_template: Path | None = None
    max_tokens_limit: Count | None = None
    max_model_len: Count | None = None
    max_queue: Annotated[int, Field(ge=0)] = 1000
    request_timeout: Annotated[float, Field(ge=0.001)] | None = None
    cache_size: Count | None = None
    full_logits: Literal["on-demand", "preload", "off"] = "on-demand"
    prefix_cache: Literal["shared", "off"] = "shared"
    idle_unload: Annotated[float, Field(ge=1)] | None = None
    max_num_seqs: Count = 64
    max_num_batched_tokens: Annotated[int, Field(ge=128)] = 256
    device: str = "CPU"
    plugin_config: str | None = None
    best_of_limit: Count | None = None
    allowed_media_domains: list[str] | None = None
    allowed_local_media_path: Path | None = None
    response_store: str | None = None
    response_store_days: Annotated[float, Field(ge=0.001)] = 30
    response_store_quota: Annotated[float, Field(ge=0.001)] | None = None
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["text", "json"] = "text"
    metrics_port: Annotated[int, Field(ge=0, le=65535)] | None = None
    metrics_key_file: Path | None = None
    otlp_traces_endpoint: str | None = None
    otlp_metrics_endpoint: str | None = None
