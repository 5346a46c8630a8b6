"""The memory of devices."""

import pytest

from specvino.engine.openvino.client.devices import device_memory
from specvino.engine.openvino.messages.options import PipelineOptions


@pytest.mark.parametrize("device", ["CPU", "AUTO:CPU"])
def test_a_cpu_has_the_machines_memory(device: str) -> None:
    assert device_memory(PipelineOptions(plugin_config={"INFERENCE_NUM_THREADS": 1}, device=device)) is None


def test_what_is_wrong_is_one_line() -> None:
    with pytest.raises(ValueError, match=r"^'TPU' isn't an OpenVINO device of this machine; .*available: .*CPU.*$"):
        device_memory(PipelineOptions(device="TPU"))
    with pytest.raises(ValueError, match=r"^NOPE isn't a property of OpenVINO's CPU plugin; known: \S+, .*$"):
        device_memory(PipelineOptions(plugin_config={"NOPE": 1}))
