"""Results of a run as lines of a report, with keys taken out."""

from specvino.conformance.http.client import Target, full_url
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.reports.curl import curl
from specvino.conformance.reports.records import Came, Found, Line, Sent, Shown
from specvino.conformance.reports.redact import Redactor
from specvino.conformance.verdict import Finding, Result, Severity

# Characters of a body that are shown.
LONGEST = 8_000

# Exchanges of one finding that are shown.
MOST_EXCHANGES = 8


class Converter:
    def __init__(self, target: Target) -> None:
        self._target = target
        self._redactor = Redactor.of(target)

    def line(self, result: Result) -> Line:
        text = self._redactor.text
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
            findings=tuple(self._found(each) for each in result.findings),
            judged=result.checked,
            seconds=round(result.seconds, 3),
        )

    def _found(self, finding: Finding) -> Found:
        exchanges = tuple(self._shown(each) for each in finding.exchanges[:MOST_EXCHANGES])
        return Found(message=self._redactor.text(finding.message), exchanges=exchanges)

    def _shown(self, exchange: Exchange) -> Shown:
        redactor, request = self._redactor, exchange.request
        came = None
        if exchange.status is not None:
            came = Came(
                status=exchange.status,
                headers=redactor.headers(exchange.headers),
                body=redactor.body(exchange.content, LONGEST),
                size=len(exchange.content),
            )
        return Shown(
            number=exchange.number,
            request=Sent(
                method=request.method,
                url=redactor.text(full_url(self._target.url, request.path)),
                headers=redactor.headers(request.headers),
                body=None if request.content is None else redactor.body(request.content, LONGEST),
                size=len(request.content or b""),
            ),
            response=came,
            ended=exchange.ended,
            problem=None if exchange.problem is None else redactor.text(exchange.problem),
            retries=exchange.retries,
            seconds=round(exchange.seconds, 3),
            curl=redactor.text(curl(request, self._target)),
        )
