import pytest

from specvino.engine.protocol import PaddingSide
from specvino.engine.text.pad_truncate import pad_truncate


@pytest.mark.parametrize(
    ("max_length", "pad", "expected"),
    [
        (None, None, [1, 2, 3]),
        (None, "left", [1, 2, 3]),
        (3, "left", [1, 2, 3]),
        (2, None, [1, 2]),
        (2, "left", [1, 2]),
        (2, "right", [1, 2]),
        (5, None, [1, 2, 3]),
        (5, "left", [0, 0, 1, 2, 3]),
        (5, "right", [1, 2, 3, 0, 0]),
    ],
)
def test_lengths(max_length: int | None, pad: PaddingSide | None, expected: list[int]) -> None:
    assert pad_truncate([1, 2, 3], max_length, pad, pad_id=0) == expected
