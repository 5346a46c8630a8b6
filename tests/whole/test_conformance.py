"""The whole conformance suite on our own server. Minutes long: `tox run -e conformance` runs it, `make test` a part."""

import pytest
from support.judging import counted, failure_lines, judge, lines_without_verdict
from support.serving import serving

from specvino.conformance.reports.records import totals
from specvino.conformance.verdict import Verdict
from specvino.document.loading import systems

KEY = "sk-judged"


def judged(*arguments, advice=True, **how):
    with serving(*arguments, env={"SPECVINO_API_KEY": KEY}) as server:
        report = judge(server.url, key=KEY, **how)
    assert report.footer is not None
    print(f"\n{'; '.join(totals(report))}; {report.footer.requests} requests in {report.footer.seconds:.1f} s")
    print(*lines_without_verdict(report), sep="\n")
    assert failure_lines(report, advice=advice) == []
    return report


def test_cases_and_streams_on_the_default_model(smollm2) -> None:
    report = judged("--served-model-name", "smollm2")
    assert counted(report, Verdict.PASS) >= 500
    assert len(lines_without_verdict(report)) <= 10


def test_every_case_of_the_core_has_a_verdict_on_the_default_model(smollm2) -> None:
    report = judged("--served-model-name", "smollm2", profile="core")
    assert lines_without_verdict(report) == []
    assert counted(report, Verdict.PASS) >= 140


@pytest.mark.parametrize("engine", ["scripted", "tiny"])
def test_the_fuzz_to_its_end(tiny_text, engine) -> None:
    arguments = ["--engine", "scripted"] if engine == "scripted" else [str(tiny_text.path)]
    report = judged(*arguments, "--served-model-name", "m", layers=("fuzz",))
    assert lines_without_verdict(report) == []
    assert not [line.because for line in report.lines if "was up" in line.because]
    assert report.footer.requests >= 5000


@pytest.mark.parametrize("name", systems())
def test_the_fuzz_of_a_system_s_double(name) -> None:
    options = ("--engine", "scripted", "--served-model-name", "m", "--dialect", name)
    judged(*options, dialect=name, layers=("fuzz",), advice=False)  # not all that a system takes is taken here


def test_the_fuzz_in_a_box_of_time_on_the_default_model(smollm2) -> None:
    report = judged("--served-model-name", "smollm2", layers=("fuzz",), max_time=60.0)
    assert not [line for line in lines_without_verdict(report) if "the time was up before" not in line]
    assert {line.rule.split("/")[0] for line in report.lines} >= {"chat", "completions", "responses"}
