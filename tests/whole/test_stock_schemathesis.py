"""What the command `schemathesis run URL` finds by chance, on servers with and without keys and by documents of both
versions: nothing. `make test` runs its other phases on small bodies, and our own fuzz by chance."""

import pytest
from support.stock_schemathesis import KEYS, OPERATIONS, Run, require_a_whole_life, require_nothing_found, strange


@pytest.fixture(scope="module", params=KEYS)
def stranger(request):
    with strange(request.param) as each:
        yield each


@pytest.mark.parametrize("version", ["3.1", "3.2"])
def test_it_finds_nothing_in_the_life_of_a_response(stranger, tmp_path, version) -> None:
    require_a_whole_life(stranger, tmp_path, version)


@pytest.mark.parametrize("version", ["3.1", "3.2"])
def test_it_finds_nothing_by_chance(stranger, tmp_path, version) -> None:
    run = Run(stranger, tmp_path, version, "--phases", "examples,fuzzing,stateful", "--max-examples", "10")
    require_nothing_found(run, version, "examples", "fuzzing", "stateful")
    assert run.verdict["operations"]["tested"] == len(OPERATIONS)
    assert {"POST /tokenize", "GET /models/{model}"} <= run.operations("examples", 200)
    assert run.operations("fuzzing") == OPERATIONS.keys()
    assert run.operations("fuzzing", 400) >= {place for place, each in OPERATIONS.items() if each.body}
