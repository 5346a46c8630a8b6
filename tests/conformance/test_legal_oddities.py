"""What OpenAI's document allows, however odd it is, no server is accused of: at the most it is advised."""

import inspect

import pytest
from reference_server import oddities
from reference_server.bench import judged, message_of
from reference_server.mutation import concerned
from reference_server.oddities import draws
from reference_server.openai_responses import OpenAIResponses
from reference_server.part import Part, parts_of
from support.examples import ROOT

from specvino.conformance.verdict import Verdict

ODDITIES = tuple(parts_of(oddities))

Group = tuple[type[Part], ...]

ABOUT_TEMPERATURE_0 = {"chat/sampling/greedy", "completions/settings/coldest"}
"""The only rules that advise a server which draws."""


def _overridden(oddity: type[Part]) -> set[str]:
    return {
        name for part in (oddity, *oddity.beside) for name, value in vars(part).items() if inspect.isfunction(value)
    }


def _fit(one: type[Part], other: type[Part]) -> bool:
    """Whether one server can have both. What is drawn depends on the requests, so that others would change it."""
    drawn = draws.__name__ in (one.__module__, other.__module__)
    return not drawn and one.advised == other.advised and not _overridden(one) & _overridden(other)


def _together() -> list[Group]:
    """All oddities on a few servers, which takes a fifth of the time: a server has those that override different
    methods."""
    groups: list[Group] = []
    for oddity in ODDITIES:
        fitting = next((index for index, group in enumerate(groups) if all(_fit(oddity, one) for one in group)), None)
        if fitting is None:
            groups.append((oddity,))
        else:
            groups[fitting] += (oddity,)
    return groups


@pytest.mark.parametrize("group", _together(), ids=lambda group: f"{len(group)} with {group[0].__name__}")
def test_nobody_is_accused_of_several(group: Group) -> None:
    require_no_accusation(group)


@pytest.mark.exhaustive
@pytest.mark.parametrize("oddity", ODDITIES)
def test_nobody_is_accused(oddity: type[Part]) -> None:
    require_no_accusation((oddity,))


def require_no_accusation(group: Group) -> None:
    beside = (*dict.fromkeys(part for oddity in group for part in oddity.beside), OpenAIResponses)
    only = set().union(*(concerned(oddity, *oddity.beside, OpenAIResponses, by="openai") for oddity in group))
    assert only
    results = judged(*group, *beside, by="openai", only=only, prepared=True)
    broken = [result for result in results.values() if result.verdict in (Verdict.FAIL, Verdict.ERROR)]
    accused = {result.rule: message_of(result) for result in broken if result.advice is None}
    assert not accused
    if group[0].__module__ == draws.__name__:
        assert {result.rule for result in broken} <= ABOUT_TEMPERATURE_0
    if not group[0].advised:
        assert not {result.rule: message_of(result) for result in broken}


def test_the_page_lists_them() -> None:
    page = (ROOT / "docs" / "conformance.md").read_text("utf-8")
    rows = [f"| {oddity.__doc__} | {'*' if oddity.advised else ''} |" for oddity in ODDITIES]
    assert "\n".join(["| oddity | |", "| --- | --- |", *rows, ""]) in page
