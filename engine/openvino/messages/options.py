"""Options of the pipeline, which `specvino serve` has and `specvino tune` measures."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

PluginValue = str | int | float | bool


@dataclass(frozen=True, slots=True)
class PipelineOptions:
    """Options with the names of OpenVINO Model Server.

    A step computes at most `max_num_batched_tokens`: a longer prompt takes several steps, so that running answers
    needn't wait for it. `device` is an OpenVINO device, and `plugin_config` are properties of its plugin, which take
    precedence over our own. Without `prefix_cache` no request's prompt is computed faster because of another's.
    """

    max_num_batched_tokens: int = 256
    plugin_config: Mapping[str, PluginValue] = field(default_factory=dict)
    device: str = "CPU"
    prefix_cache: bool = True

    def arguments(self) -> list[str]:
        """Returns the arguments of `specvino serve` that set these options, without the defaults."""
        arguments = []
        if self.max_num_batched_tokens != PipelineOptions().max_num_batched_tokens:
            arguments += ["--max-num-batched-tokens", str(self.max_num_batched_tokens)]
        if self.plugin_config:
            arguments += ["--plugin-config", json.dumps(dict(self.plugin_config))]
        if self.device != PipelineOptions().device:
            arguments += ["--device", self.device]
        if not self.prefix_cache:
            arguments += ["--prefix-cache", "off"]
        return arguments


def plugin_config(text: str) -> Mapping[str, PluginValue]:
    """Parses properties from the text of a JSON object. Raises ValueError."""
    try:
        properties = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not valid JSON: {error}") from None
    if not isinstance(properties, dict) or not all(isinstance(value, PluginValue) for value in properties.values()):
        raise ValueError(f'{text!r} is not a JSON object of strings, numbers and booleans, such as {{"NAME": "value"}}')
    return properties
