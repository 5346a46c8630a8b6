"""instructor's structured outputs (python/instructor_job.py): calls, strict calls, schemas, and calls of responses."""

import json

import pytest
from agents.scripts import PLACE
from support.proxy import recording

MODES = pytest.mark.parametrize("mode", ["TOOLS", "TOOLS_STRICT", "JSON_SCHEMA", "RESPONSES_TOOLS"])


@pytest.fixture(scope="module")
def ran(scripted_server, run_job):
    """What came of each mode and job, and the bodies of the requests."""
    with recording(scripted_server.url) as (url, bodies):
        return {(line["way"], line["job"]): line for line in run_job("instructor_job", url)}, bodies


@MODES
@pytest.mark.parametrize("job", ["object", "stream"])
def test_a_structured_output(ran, mode, job) -> None:
    assert ran[0][mode, job]["object"] == PLACE


@MODES
def test_a_refused_one_is_asked_for_again(ran, mode) -> None:
    answers, bodies = ran
    assert answers[mode, "second turn"] == {
        "way": mode,
        "job": "second turn",
        "object": PLACE,
        "refused": [PLACE["city"]],
    }
    # Four requests for each mode; the last one has what was refused, and why.
    number = ["TOOLS", "TOOLS_STRICT", "JSON_SCHEMA", "RESPONSES_TOOLS"].index(mode)
    again = json.dumps(bodies[4 * number + 3])
    assert "Think again." in again
    assert "celsius" in again.replace(json.dumps(["celsius", "fahrenheit"]), "")
