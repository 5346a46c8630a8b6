"""The groups of tests/conftest.py reach pytest-xdist."""

import os

import pytest


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="runs without pytest-xdist")
def test_tests_of_a_group_run_in_one_worker(request: pytest.FixtureRequest) -> None:
    """pytest-xdist 3.8.0 appends the group to the node's id, and distributes by that."""
    assert request.node.nodeid.endswith("@structure")
