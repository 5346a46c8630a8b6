import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specvino.handlers.errors import ApiError
from specvino.server.validation import bodies
from specvino.server.validation.bodies import require_size

MAX_BODY = 8 * 1024 * 1024
NAMES, ELEMENTS = 32_768, 131_072


def accepted(value: Any, max_body: int = MAX_BODY) -> bool:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    try:
        require_size(raw, max_body)
    except ApiError:
        return False
    return True


def test_what_a_client_is_told() -> None:
    with pytest.raises(ApiError, match="limit of 32768 keys, objects and lists, or of 131072 elements") as error:
        require_size(b"[" * 40_000, MAX_BODY)
    assert error.value.code.value == "request_too_large"


@pytest.mark.parametrize(
    ("value", "more"),
    [
        ({f"k{i}": 0 for i in range(NAMES - 1)}, {"one": 1, "more": 2}),
        ([[]] * (NAMES - 1), [[], []]),
        ([{}] * (NAMES - 1), [{}, {}]),
        ([7] * (ELEMENTS + 1), [7]),
        (["\\\\\\", '"', ", \\"] * (ELEMENTS // 3), ["x"] * 4),
    ],
)
def test_the_bounds(value: Any, more: Any) -> None:
    assert accepted(value)
    assert not accepted(value | more if isinstance(value, dict) else value + more)


@pytest.mark.parametrize("text", [", : { [ " * 900_000, '", "' * 1_000_000, "\\" * 3_000_000, '\\",[' * 900_000])
def test_texts_are_no_values(text: str) -> None:
    assert accepted({"messages": [{"role": "user", "content": text}]}, 1 << 30)
    assert accepted({"messages": [{"role": "user", "content": text}]})


@pytest.mark.parametrize("raw", [b"[" * 8_000_000, b'{"' * 4_000_000, b"[" + b"1," * 4_000_000])
def test_what_is_no_json_costs_no_more(raw: bytes) -> None:
    assert not accepted(raw)
    assert accepted(b'"' * 8_000_000)  # its first value is its last


def test_it_grows_with_the_largest_body_and_is_never_small() -> None:
    value = [7] * (2 * ELEMENTS)
    assert accepted(value, 2 * MAX_BODY)
    assert accepted([7] * 1000, 10)
    assert accepted([{}] * 1000, 10)


JSON = st.recursive(
    st.none() | st.integers() | st.text('ab,:{["\\é') | st.booleans(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('a,:{["\\'), inner),
)


@given(JSON)
def test_what_is_counted(value: Any) -> None:
    names, elements = _values(value)
    raw = json.dumps(value).encode()
    text = bodies._outside_strings(raw, len(raw))
    assert text is not None
    assert (sum(map(text.count, (b":", b"{", b"["))), text.count(b",")) == (names, elements)
    strings = raw.replace(b"\\\\", b"").replace(b'\\"', b"").count(b'"') // 2
    assert strings <= names + elements + 1
    assert not strings or bodies._outside_strings(raw, strings - 1) is None


def _values(value: Any) -> tuple[int, int]:
    """How many names, objects and lists there are, and how many elements but the first of each."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    if inner is None:
        return 0, 0
    own = 1 + (len(inner) if isinstance(value, dict) else 0)
    below = [_values(element) for element in inner]
    return own + sum(names for names, _ in below), max(0, len(inner) - 1) + sum(elements for _, elements in below)
