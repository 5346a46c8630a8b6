"""Types that zod writes with several constraints on one value (node/combinations.mjs): no request is refused, and each
client parses the answer by zod."""

import pytest

TYPES = ["date", "time", "date_time", "duration", "uuid", "email", "ipv4", "ipv6", "url", "slug", "price"]


@pytest.fixture(scope="module")
def found(scripted_server, run_script):
    """What came of each way and type."""
    return {(line["way"], line["type"]): line for line in run_script("combinations.mjs", scripted_server.url, "m")}


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("way", ["responses", "chat", "ai_sdk", "agents"])
def test_a_value_is_parsed(found, way, type) -> None:
    assert "value" in found[way, type], found[way, type]["error"]
