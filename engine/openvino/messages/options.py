"""How the pipeline computes: what `specvino serve` lets an operator choose, and `specvino tune` measures."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

PluginValue = str | int | float | bool


@dataclass(frozen=True, slots=True)
class PipelineOptions:
    """Holds options under the names that OpenVINO Model Server has for them.

    A step computes at most `max_num_batched_tokens`: a longer prompt takes several, so that it doesn't keep running
    answers waiting. `device` is one of OpenVINO's, and `plugin_config` are properties of its plugin, which come before
    those that the pipeline sets itself.
    """

    max_num_batched_tokens: int = 256
    plugin_config: Mapping[str, PluginValue] = field(default_factory=dict)
    device: str = "CPU"

    def arguments(self) -> list[str]:
        """Returns what `specvino serve` is told of it: nothing of the defaults."""
        said = []
        if self.max_num_batched_tokens != PipelineOptions().max_num_batched_tokens:
            said += ["--max-num-batched-tokens", str(self.max_num_batched_tokens)]
        if self.plugin_config:
            said += ["--plugin-config", json.dumps(dict(self.plugin_config))]
        if self.device != PipelineOptions().device:
            said += ["--device", self.device]
        return said


def plugin_config(text: str) -> Mapping[str, PluginValue]:
    """Returns the properties in the text of a JSON object. Raises ValueError."""
    try:
        said = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no JSON: {error}") from None
    if not isinstance(said, dict) or not all(isinstance(value, PluginValue) for value in said.values()):
        raise ValueError(f'{text!r} is no JSON object of texts, numbers, true and false, such as {{"NAME": "value"}}')
    return said
