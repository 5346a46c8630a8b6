"""A device is asked for in a process of its own, on this machine."""

import pytest

from specvino.engine.openvino.device_memory import device_memory
from specvino.engine.openvino.messages.options import PipelineOptions


@pytest.mark.parametrize("device", ["CPU", "AUTO:CPU"])
def test_a_cpu_has_the_machines_memory(device: str) -> None:
    assert device_memory(PipelineOptions(plugin_config={"INFERENCE_NUM_THREADS": 1}, device=device)) is None


def test_what_is_wrong_is_one_line() -> None:
    with pytest.raises(ValueError, match=r"^'TPU' is no device that OpenVINO has on this machine; it lists: .*CPU.*$"):
        device_memory(PipelineOptions(device="TPU"))
    with pytest.raises(ValueError, match=r"^NOPE is no property of OpenVINO's CPU plugin; there are: \S+, .*$"):
        device_memory(PipelineOptions(plugin_config={"NOPE": 1}))
