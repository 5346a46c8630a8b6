"""Keys don't get into reports, and a command repeats a request without them."""

import base64
import json
import shlex
import subprocess
from dataclasses import replace

import pytest
from support.reports import exchange

from specvino.conformance.http.client import Target
from specvino.conformance.http.exchange import MESSAGE, Request
from specvino.conformance.reports.convert import LONGEST, Converter, command
from specvino.conformance.reports.redact import HIDDEN, Redactor
from specvino.conformance.verdict import Finding, Result, Verdict

KEY = "sk-secret-key"


def converted(*exchanges, message="wrong"):
    result = Result("chat/a/b", "cases", "It is so.", Verdict.FAIL, findings=(Finding(message, exchanges),))
    return Converter(Target("http://127.0.0.1:8000/v1", KEY)).line(result)


def test_a_key_that_the_server_echoes_is_out_of_everything() -> None:
    echo = exchange(
        headers={"x-seen": f"Bearer {KEY}", "set-cookie": "session=1"},
        content=f'{{"key": "{KEY}"}}'.encode(),
        problem=f"broke at {KEY}",
    )
    text = converted(echo, message=f"the key {KEY} is told").model_dump_json()
    assert "secret" not in text
    assert "session=1" not in text
    assert text.count(HIDDEN) == 6


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ('a"b/c\\d-long', r"a\"b/c\\d-long"),
        ("a/b+c=long", "a%2Fb%2Bc%3Dlong"),
        ("a/b+c=long", "a%252Fb%252Bc%253Dlong"),
        ("a/b+c=long", "&#97;&#x2F;b&#43;c=long"),
        ("a<b&c-long", "a&lt;b&amp;c-long"),
        ("long-key-1", "xlong-key-1x"),
    ],
)
def test_a_key_is_found_as_others_write_it(key, text) -> None:
    assert Redactor([key]).text(f"<{text}>").strip("<x>") == HIDDEN


@pytest.mark.parametrize("before", ["", "u:", "me:", "user:", "Bearer "])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("key", [KEY, "sk?>~~key/+1", "k" * 3000])
def test_a_key_within_base64_is_found(before, encode, key) -> None:
    text = encode(f"{before}{key}".encode()).decode()
    shown = Redactor([key]).text(f'{{"authorization": "Basic {text}"}}')
    left = shown.split("Basic ")[1].replace(HIDDEN, "").strip('"}')
    assert HIDDEN in shown
    # Beside the key there are a few characters of what stands before it, and bits of its first character.
    assert len(left) <= len(before) * 4 / 3 + 1
    assert HIDDEN in Redactor([key]).text(f"it begins with {text[: len(text) * 3 // 4]!r}")


@pytest.mark.parametrize("cut", ["{}", "{!r}", '"{}…', "({})", "a: {}\nmore", r"{{\"a\": \"{}\"}}"])
def test_a_text_that_was_cut_within_a_key_does_not_show_its_half(cut) -> None:
    for end in range(len(KEY) // 2, len(KEY)):
        assert KEY[: len(KEY) // 2] not in Redactor([KEY]).text(cut.format(KEY[:end]))


def test_what_begins_as_a_key_stays_where_no_text_was_cut() -> None:
    assert Redactor(["token-abc123"]).text('a "token" is token-like text') == 'a "token" is token-like text'


def test_a_placeholder_is_no_secret_inside_of_words() -> None:
    assert Redactor(["none"]).text("nonetheless: none") == f"nonetheless: {HIDDEN}"


def test_half_a_key_does_not_survive_the_limit() -> None:
    for before in range(LONGEST - len(KEY) - 5, LONGEST + 5):
        shown = converted(exchange(content=b"." * before + KEY.encode())).findings[0].exchanges[0]
        assert "sk-" not in shown.response.body
    many = exchange(content=(KEY.encode() + b" ") * 50_000)
    assert "sk-" not in converted(many).findings[0].exchanges[0].response.body


def test_a_long_body_is_cut_and_its_size_told() -> None:
    shown = converted(exchange(content=b"x" * 100_000)).findings[0].exchanges[0]
    assert len(shown.response.body) == LONGEST + 1
    assert shown.response.size == 100_000


@pytest.mark.parametrize(
    ("text", "shown"), [("\x1b[31mred", "\\x1b[31mred"), ("\ud800", "\\ud800"), ("a\rb\r\nc\td", "a\\x0db\r\nc\td")]
)
def test_what_a_terminal_would_obey_is_written_out(text, shown) -> None:
    assert Redactor([]).text(text) == shown


def test_bytes_that_are_no_text_are_shown() -> None:
    assert converted(exchange(content=b"\xff{}")).findings[0].exchanges[0].response.body == "\\xff{}"


def test_the_command_names_the_variable_of_the_key() -> None:
    line = command(exchange().request, Target("http://127.0.0.1:8000/v1", KEY))
    assert KEY not in line
    assert '-H "authorization: Bearer $SPECVINO_API_KEY"' in line


def test_the_command_has_the_header_that_the_key_goes_in() -> None:
    target = Target("http://127.0.0.1:8000/v1", KEY, key_header="api-key")
    line = command(Request("chat", "GET", "/models", target.credentials(KEY), None), target)
    assert '-H "api-key: $SPECVINO_API_KEY"' in line
    assert KEY not in line


def test_a_wrong_key_of_a_case_is_not_mistaken_for_the_right_one() -> None:
    request = Request("chat", "GET", "/models", {"authorization": "Bearer wrong"}, None)
    assert "Bearer wrong" in command(request, Target("http://127.0.0.1:8000/v1", KEY))


@pytest.mark.parametrize(
    "content",
    [b'{"a": "it\'s $HOME `date`"}', b"", b"\xff\x00%s\\n", '{"a": "é\u200b\n"}'.encode(), b"@file", b"\x1b[2J"],
)
def test_the_shell_hands_over_the_very_bytes(content, tmp_path) -> None:
    # A curl that says what it was given: the argument after --data-raw, or standard input.
    fake = tmp_path / "curl"
    fake.write_text(
        '#!/bin/sh\nwhile [ $# -gt 0 ]; do\n  case "$1" in\n    --data-raw) printf %s "$2"; exit;;\n'
        "    --data-binary) cat; exit;;\n  esac\n  shift\ndone\n"
    )
    fake.chmod(0o755)
    line = command(Request("chat", "POST", "/x", {}, content), Target("http://127.0.0.1:8000/v1"))
    ran = subprocess.run(["sh", "-c", line], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, check=True)
    assert ran.stdout == content


@pytest.mark.parametrize(
    ("method", "content", "words"),
    [
        ("GET", None, "curl -sS -i -N http"),
        ("DELETE", None, "-X DELETE"),
        ("POST", b"x" * 50_000, "--data-binary @body"),
    ],
)
def test_other_requests(method, content, words) -> None:
    assert words in command(Request(None, method, "//health", {}, content), Target("http://127.0.0.1:8000/v1"))


MESSAGE_REQUEST = Request(
    "responses", MESSAGE, "/responses", {"authorization": f"Bearer {KEY}"}, b'{"input": "it\'s"}', {"input": "it's"}
)


def test_a_message_on_a_websocket_is_sent_with_wscat() -> None:
    line = command(MESSAGE_REQUEST, Target("http://127.0.0.1:8000/v1", KEY))
    key = '-H "authorization: Bearer $SPECVINO_API_KEY"'
    message = shlex.quote(json.dumps(MESSAGE_REQUEST.body))
    assert line == f"wscat {key} -c ws://127.0.0.1:8000/v1/responses -w -1 -x {message}"


def test_how_a_message_on_a_websocket_over_tls_is_sent() -> None:
    url, certificates = "https://a.example/v1", "/tmp/a b.pem"
    assert "wscat -n -c wss://a.example" in command(replace(MESSAGE_REQUEST, headers={}), Target(url, insecure=True))
    assert "wscat --ca '/tmp/a b.pem' " in command(MESSAGE_REQUEST, Target(url, cacert=certificates))


@pytest.mark.parametrize("changed", [{"binary": True}, {"content": b"\xff"}, {"content": b"x" * 50_000}])
def test_a_message_that_no_command_can_send(changed) -> None:
    line = command(replace(MESSAGE_REQUEST, **changed), Target("http://127.0.0.1:8000/v1", KEY))
    assert "-x" not in line
    assert "isn't one for a command" in line


def test_messages_on_a_websocket_are_shown_without_keys() -> None:
    event = f'{{"type": "response.created", "key": "{KEY}"}}'.encode()
    shown = converted(exchange(request=MESSAGE_REQUEST, content=event, messages=(event,), times=(0.1,)))
    (record,) = shown.findings[0].exchanges
    assert KEY not in shown.model_dump_json()
    assert str(record) == "WS ws://127.0.0.1:8000/v1/responses -> 200"
    assert record.request.body == '{"input": "it\'s"}'
    assert record.response is not None
    assert record.response.body == '{"type": "response.created", "key": "[redacted]"}'
