"""Converts results to report lines without keys, and requests to commands that repeat them."""

import shlex
import sys

from specvino.conformance.http.client import Target, full_url, url_of
from specvino.conformance.http.exchange import Exchange, Request
from specvino.conformance.reports import inert
from specvino.conformance.reports.records import ExchangeRecord, FindingRecord, Line, RequestRecord, ResponseRecord
from specvino.conformance.reports.redact import HIDDEN, Redactor
from specvino.conformance.verdict import Finding, Result, Severity

# The maximum length of a body, in characters.
LONGEST = 8_000

# The maximum length of all exchanges of a report, in characters. Each part of one gets at most a share of what is left,
# so that later ones get something, too.
LARGEST = 16_000_000
SHARE = 800

# The largest number of exchanges of a finding.
MAX_EXCHANGES = 8


class Converter:
    """Converts the results of one run, with the secrets of its target redacted, and those of `others`."""

    def __init__(self, target: Target, *others: Target) -> None:
        self._target = target
        self._redactor = Redactor.of(target, *others)
        self._left = LARGEST

    def text(self, text: str) -> str:
        """Returns a text without secrets."""
        return self._redactor.text(text)

    def line(self, result: Result) -> Line:
        text = self.text
        return Line(
            rule=result.rule,
            layer=result.layer,
            says=text(result.says),
            severity=Severity.SHOULD if result.advice else Severity.MUST,
            verdict=result.verdict,
            advice=result.advice.because if result.advice else "",
            source=result.advice.source if result.advice else "",
            spec=result.spec,
            issues=result.issues,
            because=text(result.because),
            follows=result.follows,
            findings=tuple(self._record(finding) for finding in result.findings),
            judged=result.checked,
            seconds=round(result.seconds, 3),
        )

    def _record(self, finding: Finding) -> FindingRecord:
        exchanges = tuple(self.exchange(exchange) for exchange in finding.exchanges[:MAX_EXCHANGES])
        return FindingRecord(message=self._redactor.text(finding.message), exchanges=exchanges)

    def exchange(self, exchange: Exchange) -> ExchangeRecord:
        """Returns an exchange without secrets, and without what there is no room for."""
        redactor, request = self._redactor, exchange.request
        share = self._left // SHARE
        longest = min(LONGEST, share)
        response = None
        if exchange.status is not None:
            response = ResponseRecord(
                status=exchange.status,
                headers=redactor.headers(exchange.headers, longest),
                body=redactor.body(exchange.content, longest),
                size=exchange.size,
            )
        shown = ExchangeRecord(
            number=exchange.number,
            request=RequestRecord(
                method=request.method,
                url=redactor.text(url_of(request, self._target.url)),
                headers=redactor.headers(request.headers, longest),
                body=None if request.content is None else redactor.body(request.content, longest),
                size=len(request.content or b""),
            ),
            response=response,
            ended=exchange.ended,
            problem=None if exchange.problem is None else redactor.text(exchange.problem),
            retries=exchange.retries,
            together=exchange.together,
            seconds=round(exchange.seconds, 3),
            # Not truncated: that would be another command.
            curl=redactor.text(command(request, self._target, min(LONGEST_COMMAND_BODY, share)), sys.maxsize),
        )
        self._left = max(self._left - len(shown.model_dump_json()), 0)
        return shown


# The maximum length of a body in a command, in bytes.
LONGEST_COMMAND_BODY = 20_000


def command(request: Request, target: Target, longest: int = LONGEST_COMMAND_BODY) -> str:
    """Returns a command for a POSIX shell that repeats the request, without secrets of the target: of curl, or of wscat
    for a message on a WebSocket. `longest` is the length of a body in it, in bytes."""
    return _wscat(request, target, longest) if request.is_message else _curl(request, target, longest)


def _wscat(request: Request, target: Target, longest: int) -> str:
    words = ["wscat"]
    if target.insecure:
        words.append("-n")
    if target.cacert:
        words += ["--ca", shlex.quote(target.cacert)]
    for name, value in {**target.extra, **request.headers}.items():
        words += ["-H", _header(name, value, target)]
    words += ["-c", shlex.quote(url_of(request, target.url))]
    content = request.content or b""
    text = None if request.binary else _plain(content)
    if text is None or len(content) > longest:
        kind = "binary " if request.binary else ""
        return f"{' '.join(words)}  # then a {kind}message of {len(content)} bytes, which isn't one for a command"
    # -1: it stays connected, for the answer.
    return f"{' '.join(words)} -w -1 -x {shlex.quote(text)}"


def _curl(request: Request, target: Target, longest: int) -> str:
    words = ["curl", "-sS", "-i", "-N"]
    if target.insecure:
        words.append("-k")
    if target.cacert:
        words += ["--cacert", shlex.quote(target.cacert)]
    if request.method != ("GET" if request.content is None else "POST"):
        words += ["-X", shlex.quote(request.method)]
    words.append(shlex.quote(full_url(target.url, request.path)))
    for name, value in request.headers.items():
        words += ["-H", _header(name, value, target)]
    if request.content is None:
        return " ".join(words)
    if len(request.content) > longest:
        return (
            f"{' '.join(words)} --data-binary @body  # a body of {len(request.content)} bytes, too long for a command"
        )
    text = _plain(request.content)
    if text is None:
        # Every POSIX printf supports octal escapes; with all bytes escaped, % and \ need no handling.
        escaped = "".join(f"\\{byte:03o}" for byte in request.content)
        return f"printf '{escaped}' | {' '.join(words)} --data-binary @-"
    return f"{' '.join(words)} --data-raw {shlex.quote(text)}"


def _header(name: str, value: str, target: Target) -> str:
    if target.key and (name, value) in target.credentials(target.key).items():
        return f'"{name}: {value.removesuffix(target.key)}${target.key_variable}"'
    if value == target.extra.get(name):
        value = HIDDEN
    return shlex.quote(f"{name}: {value}")


def _plain(content: bytes) -> str | None:
    """Returns the content as text if a command of one line can contain it unchanged; otherwise None."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if inert.line(text) == text else None
