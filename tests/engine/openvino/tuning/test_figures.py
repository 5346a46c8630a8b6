"""What is measured of real pipelines, and what they are told."""

import pytest

from specvino.engine.errors import ModelLoadError
from specvino.engine.models import ModelSource
from specvino.engine.openvino.messages.options import PipelineOptions, PluginValue, plugin_config
from specvino.engine.openvino.tuning.figures import loading
from specvino.engine.openvino.tuning.search import candidates, this_machine


def test_a_pipeline_is_measured_and_left_idle(tiny_text: ModelSource) -> None:
    measured = loading(tiny_text, 1)(PipelineOptions(512, {"INFERENCE_NUM_THREADS": 1}))
    for salt in range(2):
        assert all(figure > 0 for figure in measured.figures(salt).all())
    assert measured.texts() == measured.texts()
    assert [len(text) for text in measured.texts()] == [24] * 4


def test_one_that_sees_images_too(tiny_vision: ModelSource) -> None:
    measured = loading(tiny_vision, 1)(PipelineOptions())
    assert all(figure > 0 for figure in measured.figures(0).all())


def test_each_candidate_of_this_machine_loads(tiny_text: ModelSource) -> None:
    load = loading(tiny_text, 1)
    for candidate in candidates(this_machine()):
        load(candidate.applied(PipelineOptions()))


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        (
            {"INFERENCE_PRECISON_HINT": "f32"},
            "INFERENCE_PRECISON_HINT isn't a property of OpenVINO's CPU plugin",
        ),
        ({"prompt_lookup": True}, "prompt_lookup isn't a property"),
        ({"SUPPORTED_PROPERTIES": "x"}, "SUPPORTED_PROPERTIES isn't a property"),  # it can't be set
        ({"INFERENCE_PRECISION_HINT": "f17"}, "Wrong value f17 for property key INFERENCE_PRECISION_HINT"),
    ],
)
def test_wrong_properties_are_said_in_one_line(tiny_text: ModelSource, properties: dict[str, str], reason: str) -> None:
    with pytest.raises(ModelLoadError, match=reason) as raised:
        loading(tiny_text, 1)(PipelineOptions(plugin_config=properties))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "f32", "[]", "1", '{"A": null}', '{"A": {"B": 1}}', '{"A": [1]}'])
def test_a_plugin_config_is_an_object(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not (valid JSON|a JSON object)"):
        plugin_config(text)


def test_options_as_arguments_come_back() -> None:
    assert PipelineOptions().arguments() == []
    properties: dict[str, PluginValue] = {"A": "x y", "B": 1, "C": True, "D": 0.5}
    arguments = PipelineOptions(512, properties).arguments()
    assert arguments[:3] == ["--max-num-batched-tokens", "512", "--plugin-config"]
    assert plugin_config(arguments[3]) == properties
