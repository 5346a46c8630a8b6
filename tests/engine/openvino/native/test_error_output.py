import pytest

from specvino.engine.openvino.native.error_output import one_line

FILE = "Exception from /build/src/cpp/src/tokenizer/tokenizer_impl.cpp:855:\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "Exception from src/inference/src/cpp/core.cpp:84:\nCheck 'ok' failed at src/model.cpp:219:\n"
            "Start-end tags mismatch at offset 999\n\n",
            "Start-end tags mismatch at offset 999",
        ),
        (
            FILE + "Failed to construct JsonContainer from JSON string: [json.exception.parse_error.101] parse error",
            "Failed to construct JsonContainer from JSON string",
        ),
        ("", "RuntimeError"),
    ],
)
def test_what_is_left_of_openvinos_texts(text: str, reason: str) -> None:
    assert one_line(RuntimeError(text)) == reason
