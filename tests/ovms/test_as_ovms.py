"""A server that speaks as OVMS gives the kind of answer that OVMS gives, but for differences that stay."""

import pytest
from ovms.test_answers import kind, send
from support.ovms_cases import load

# Rules of the ovms dialect by which this server differs whatever it speaks as: what the engine checks, or HTTP says,
# and paths of other APIs.
STAYING = {
    "completions-of-vision-models",
    "documented-paths-only",
    "forced-tools-exist",
    "lengths-from-one",
    "limits-can-be-reached",
    "mistakes-are-told",
    "metrics-are-on",
    "schemes-have-no-case",
    "tags-in-texts-are-text",
}


@pytest.mark.parametrize("case", list(load()), ids=lambda case: case.id)
def test_the_kind_of_answer(clients_as_ovms, case) -> None:
    response = send(clients_as_ovms(case.server), case)
    assert kind(response) in {case.ovms, case.ours if case.rule in STAYING else case.ovms}, response.text
