"""What `--device` may name, on machines that we don't have."""

from typing import Any

import pytest

from specvino.engine.openvino.native.devices import chosen

OURS = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "u8"}
OF_A_CPU = OURS | {"KEY_CACHE_QUANT_MODE": "BY_TOKEN"}


class Machine:
    """Stands in for `openvino.Core`: a discrete GPU with 16 GB and an integrated one with 8 beside a CPU and an NPU."""

    available_devices = ("CPU", "GPU.0", "GPU.1", "NPU")

    def get_property(self, device: str, name: str) -> Any:
        if name == "GPU_DEVICE_TOTAL_MEM_SIZE":
            return {"GPU": 16, "GPU.0": 16, "GPU.1": 8}[device]
        assert name == "SUPPORTED_PROPERTIES"
        own = {"CPU": "INFERENCE_NUM_THREADS", "AUTO": "MODEL_PRIORITY"}.get(device, "MODEL_PRIORITY")
        return {own: "RW", "PERFORMANCE_HINT": "RW", "FULL_DEVICE_NAME": "RO"}


def test_a_cpu_has_our_own_properties() -> None:
    device = chosen("CPU", {}, Machine())
    assert (device.name, device.properties, device.block, device.memory) == ("CPU", OF_A_CPU, 32, None)


@pytest.mark.parametrize("name", ["AUTO:CPU", "HETERO:CPU", "BATCH:CPU", "BATCH:CPU(4)"])
def test_what_is_made_of_a_cpu_is_as_a_cpu(name: str) -> None:
    device = chosen(name, {}, Machine())
    assert (device.name, device.properties, device.block, device.memory) == (name, OURS, 32, None)


@pytest.mark.parametrize(
    ("name", "memory"), [("GPU", 16), ("GPU.0", 16), ("GPU.1", 8), ("HETERO:GPU.0,GPU.1", 8), ("AUTO:GPU.1", 8)]
)
def test_a_gpu_has_its_own_properties_blocks_and_memory(name: str, memory: int) -> None:
    device = chosen(name, {}, Machine())
    assert (device.name, device.properties, device.block, device.memory) == (name, {}, 16, memory)


@pytest.mark.parametrize(
    ("device_name", "name"),
    [
        ("AUTO", "AUTO:-NPU"),
        ("AUTO:-GPU.1", "AUTO:-GPU.1,-NPU"),
        ("AUTO:-GPU.0,-NPU", "AUTO:-GPU.0,-NPU"),
        ("AUTO:GPU,CPU", "AUTO:GPU,CPU"),
    ],
)
def test_auto_takes_one_device_for_good_and_no_npu(device_name: str, name: str) -> None:
    device = chosen(device_name, {}, Machine())
    assert device.name == name
    assert device.properties == {"ENABLE_STARTUP_FALLBACK": False}
    assert device.block == 16  # which of them it takes isn't known: the smaller block counts no token twice


def test_auto_without_gpus_is_as_a_cpu() -> None:
    device = chosen("AUTO:-GPU", {}, Machine())
    assert (device.name, device.properties, device.block) == ("AUTO:-GPU,-NPU", OURS, 32)


def test_an_operators_properties_come_before_ours() -> None:
    class Cpu(Machine):
        def get_property(self, device: str, name: str) -> Any:
            return {"KV_CACHE_PRECISION": "RW"}

    assert chosen("CPU", {"KV_CACHE_PRECISION": "f16"}, Cpu()).properties == OF_A_CPU | {"KV_CACHE_PRECISION": "f16"}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("XE", "'XE' isn't an OpenVINO device of this machine; available: CPU, GPU.0, GPU.1, NPU"),
        ("CUP", r"'CUP' isn't an OpenVINO device of this machine; did you mean CPU\? available: CPU, GPU.0"),
        ("cpu", r"'cpu' isn't an OpenVINO device of this machine; did you mean CPU\? "),
        ("AUTOO", r"did you mean AUTO\? "),
        ("", "'' isn't an OpenVINO device"),
        ("GPU.2", "'GPU.2' isn't an OpenVINO device"),
        ("AUTO:CPU,TPU", "'TPU' isn't an OpenVINO device"),
        ("HETERO:", "HETERO needs devices, as in HETERO:CPU"),
        ("BATCH", "BATCH needs devices"),
        ("NPU", "doesn't run on an NPU"),
        ("AUTO:NPU,CPU", "doesn't run on an NPU"),
        ("MULTI:CPU", "doesn't support MULTI"),
        ("AUTO:-CPU,-GPU", "excludes all devices"),
    ],
)
def test_what_cannot_be_had(name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        chosen(name, {}, Machine())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("GPU", "INFERENCE_NUM_THREADS isn't a property of OpenVINO's GPU plugin; known: MODEL_PRIORITY, PERF"),
        ("AUTO:GPU.0,GPU.1", "INFERENCE_NUM_THREADS isn't a property of OpenVINO's AUTO and GPU.0 and GPU.1 plugins"),
    ],
)
def test_threads_are_a_cpus_alone(name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        chosen(name, {"INFERENCE_NUM_THREADS": 2}, Machine())
    assert chosen("AUTO:GPU,CPU", {"INFERENCE_NUM_THREADS": 2}, Machine()).properties["INFERENCE_NUM_THREADS"] == 2
