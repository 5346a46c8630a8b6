"""What tells faults apart, and what doesn't."""

import pytest

from specvino.conformance.message_shape import LONGEST, fault_of, shape_of
from specvino.conformance.reports import inert


@pytest.mark.parametrize(
    ("message", "shape"),
    [
        ("the status is 200, not 400", "the status is #, not #"),
        ("choices.0: 'logprobs' is a required property", "choices.#: 'logprobs' is a required property"),
        ('choices.0: "logprobs" is a required property', "choices.#: 'logprobs' is a required property"),
        ("the text is 'It\\'s blue', 1.5e-3 s late", "the text is '…', # s late"),
        ("an image that can't be read isn't refused", "an image that can't be read isn't refused"),
        ("it is 'completed', not 'incomplete'", "it is 'completed', not 'incomplete'"),
        ("resp_OKx9vXMblmKerwiSV20tSspd is gone, call_AbCdEfGhIjKl too", "# is gone, # too"),
        ("the id 0b8a4f6e-1c2d-4e5f-8a9b-aabbccddeeff comes twice", "the id # comes twice"),
        ("delta.tool_calls.0.function.name is nothing", "delta.tool_calls.#.function.name is nothing"),
        ("of the chunks 0 to 13 those are: 10, 13, 14", "of the chunks # to # those are: #"),
        (
            'the answer is 500, not 200: {"error":{"message":"what was cut',
            "the answer is #, not #: {'error':{'message':'…'",
        ),
    ],
)
def test_values_are_out_and_names_stay(message, shape) -> None:
    assert shape_of(message) == shape


def test_a_long_message_is_cut() -> None:
    assert len(shape_of("word " * 500)) == LONGEST + 1


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/v1/chat/completions", "/chat/completions"),
        ("/models/org%2Fname", "/models/{model}"),
        ("/v3/responses/resp_abc/input_items", "/responses/{response_id}/input_items"),
        ("/v1/nothing-8f3", "/#/nothing-#"),
    ],
)
def test_the_place_is_a_path_of_the_document(path, shown) -> None:
    assert fault_of("no", "GET", path, 404) == f"GET {shown} -> 404: no"


def test_no_answer_has_no_status() -> None:
    assert fault_of("it broke", "POST", "/v1/responses", None) == "POST /responses -> no answer: it broke"


def test_a_message_of_several_lines_has_the_same_shape_in_a_report() -> None:
    message = 'it failed:\n  {"a": "b"}\r\n  in line 3'
    assert shape_of(inert.line(message)) == shape_of(message) == "it failed: {'…': '…'} in line #"
