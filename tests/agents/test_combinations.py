"""Types that zod writes with several constraints on one value (node/combinations.mjs): no request is refused, and each
client parses the answer by zod.
"""

import pytest
from support.serving import serving

TYPES = ["date", "time", "date_time", "duration", "uuid", "email", "ipv4", "ipv6", "url", "slug", "price"]


@pytest.fixture(scope="module", params=["scripted", "default"])
def answers(request, run_script):
    """What came of each way and type, with the shortest answers and with those of the default model."""
    if request.param == "scripted":
        url = request.getfixturevalue("scripted_server").url
        lines = run_script("combinations.mjs", url, "m")
    else:
        with serving(str(request.getfixturevalue("smollm2").path), "--served-model-name", "m") as server:
            lines = run_script("combinations.mjs", server.url, "m")
    return {(line["way"], line["type"]): line for line in lines}


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("way", ["responses", "chat", "ai_sdk", "agents"])
def test_a_value_is_parsed(answers, way, type) -> None:
    assert "value" in answers[way, type], answers[way, type]["error"]
