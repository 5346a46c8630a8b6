import resource

import pytest

from specvino.engine.openvino.native.error_output import last_words, one_line

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
        (
            FILE + "Loading input model\nCan not create file mapping for 8, err=Cannot allocate memory\n\n",
            "not enough memory: an allocation failed",
        ),
        ("std::bad_alloc", "not enough memory: an allocation failed"),
    ],
)
def test_what_is_left_of_openvinos_texts(text: str, reason: str) -> None:
    assert one_line(RuntimeError(text)) == reason


def test_what_a_process_without_memory_says_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert last_words(MemoryError("std::bad_alloc")) == "not enough memory: an allocation failed"
    monkeypatch.setattr(resource, "getrlimit", lambda _: (3_072_000_000, resource.RLIM_INFINITY))
    assert last_words(MemoryError()).endswith("since a process may have 3.07 GB of address space here (ulimit -v)")
    assert last_words(RuntimeError("other")) == "other"
