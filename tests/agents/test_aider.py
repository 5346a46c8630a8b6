"""aider on a file (python/aider_job.py), on chat completions: the model changes it, and is asked about it."""

import json

import pytest
from agents.scripts import QUESTION, WORD, write_word
from support.proxy import recording

# The engine repeats it, and aider applies it.
CHANGE = f"""Please change it.

fruit.txt
```
<<<<<<< SEARCH
{WORD}
=======
apple
>>>>>>> REPLACE
```
"""


@pytest.fixture(scope="module")
def ran(scripted_server, run_job, tmp_path_factory):
    """What the file holds after each turn, and the bodies of the requests."""
    file = write_word(tmp_path_factory.mktemp("work"))
    with recording(scripted_server.url) as (url, bodies):
        return run_job("aider_job", url, str(file), CHANGE, QUESTION), bodies


def test_a_file_is_changed_and_talked_about(ran) -> None:
    turns, (first, second) = ran
    assert turns == [{"file": "apple\n"}, {"file": "apple\n"}]
    assert [message["role"] for message in first["messages"]].count("user") >= 2
    assert "fruit.txt" in json.dumps(first)
    # The second request has the first turn, and the file as it is now.
    assert "Please change it." in json.dumps(second)
    assert "apple" in json.dumps(second)
