"""What `make test` tries on a few of a kind, and `tox run -e exhaustive` on all."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(values: Iterable[Any], *kept: Any) -> list[Any]:
    """Parameters for `pytest.mark.parametrize`: those not kept are left to `tox run -e exhaustive`."""
    listed = list(values)
    assert set(kept) <= set(listed)
    return [value if value in kept else pytest.param(value, marks=pytest.mark.exhaustive) for value in listed]
