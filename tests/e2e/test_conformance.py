"""The conformance suite on our own server: what it finds there is a bug, of the server or of the suite.

`tests/whole` has it on the default model, too."""

from support.judging import counted, failure_lines, judge, lines_without_verdict
from support.serving import serving

from specvino.conformance.verdict import Verdict

KEY = "sk-judged"


def test_all_of_it_on_a_tiny_model(tiny_text) -> None:
    options = ("--served-model-name", "tiny", "--allowed-origins", "*")
    with serving(str(tiny_text.path), *options, env={"SPECVINO_API_KEY": KEY}) as server:
        report = judge(server.url, key=KEY)
    assert failure_lines(report) == []
    assert len(lines_without_verdict(report)) <= 12, lines_without_verdict(report)
    assert counted(report, Verdict.PASS) >= 500
    assert not report.header.left_out


def test_the_messages_api_alone(tiny_server) -> None:
    report = judge(tiny_server.url, filters=("messages", "count_tokens"))
    assert failure_lines(report) == []
    assert counted(report, Verdict.PASS) >= 30


def test_ollama_s_own_api_alone(tiny_server) -> None:
    report = judge(tiny_server.url, filters=("ollama_chat", "ollama_generate"))
    assert failure_lines(report) == []
    assert counted(report, Verdict.PASS) >= 38


def test_a_little_of_the_fuzz(scripted_server) -> None:
    filters = ("models", "tokenize", "completions", "ollama_chat")
    report = judge(scripted_server.url, profile="core", layers=("fuzz",), filters=filters)
    assert failure_lines(report) == []
    assert lines_without_verdict(report) == []
    rules = {line.rule for line in report.lines}
    assert {"completions/fuzz/stream-conformance", "ollama_chat/fuzz/stream-conformance"} <= rules
