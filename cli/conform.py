"""`specvino conform`: tests a server, and compares runs."""

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from specvino.cli.conform_options import (
    KEY_VARIABLES,
    Baseline,
    CaCert,
    Client,
    FailOn,
    Header,
    Html,
    Insecure,
    Junit,
    Markdown,
    MaxTime,
    Model,
    Profile,
    Quiet,
    Timeout,
    WriteBaseline,
)
from specvino.cli.dialects import DIALECTS, judged, known_judged
from specvino.cli.ending import end
from specvino.cli.mistakes import Commands
from specvino.conformance.fuzz.options import MAX_EXAMPLES, SEED
from specvino.conformance.reports import inert
from specvino.document.loading import WHOLE

RUN = "run"


class Api(StrEnum):
    CHAT = "chat"
    COMPLETIONS = "completions"
    RESPONSES = "responses"
    MESSAGES = "messages"
    OLLAMA = "ollama"


# The patterns of an API's rules, where they aren't its name.
FILTERS = {Api.MESSAGES: ("messages", "count_tokens"), Api.OLLAMA: ("ollama_chat", "ollama_generate")}

# The dialect by which an API is tested, unless one is given.
DIALECT_OF = {Api.MESSAGES: WHOLE, Api.OLLAMA: "ollama"}


class Layer(StrEnum):
    CASES = "cases"
    STREAMS = "streams"
    FUZZ = "fuzz"


class UrlOrCommand(Commands):
    """Runs `conform URL` as `conform run URL`: arguments that don't start with a command's name are passed to `run`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if args and args[0] in self.commands else [RUN, *args])


app = typer.Typer(cls=UrlOrCommand, help="Test whether a server is OpenAI-compatible.")


@app.command(
    RUN,
    hidden=True,
    epilog="Exit codes: 0 no new findings, 1 new findings, 2 the run failed. `specvino conform diff A.ndjson "
    "B.ndjson` shows regressions and improvements; `specvino conform parity A B` compares two servers; "
    "`specvino conform matrix *.ndjson -o site/` compares several runs side by side.",
)
def run(
    url: Annotated[
        str | None, typer.Argument(help="The base URL, such as http://127.0.0.1:8000/v1.", show_default=False)
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("-u", "--base-url", help="The base URL, in place of the argument.")
    ] = None,
    model: Model = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            "-k",
            "--api-key",
            envvar=KEY_VARIABLES,
            help="The API key, sent as a bearer token.",
            show_default=False,
        ),
    ] = None,
    server: Annotated[
        str,
        typer.Option(
            help="The name and version of the server under test, such as 'llama.cpp b11434', for the reports' "
            "titles. By default, the model and the URL.",
            metavar="NAME",
            show_default=False,
        ),
    ] = "",
    auth_header: Annotated[
        str | None,
        typer.Option(
            help="The header to send the API key in, without a scheme, such as Azure's api-key. By default, the "
            "key is sent as `Authorization: Bearer KEY`.",
            metavar="NAME",
        ),
    ] = None,
    header: Header = None,
    cacert: CaCert = None,
    insecure: Insecure = False,
    filter: Annotated[
        list[str] | None,
        typer.Option(
            "-f",
            "--filter",
            help="Run only the rules that match, such as chat, chat/stop, */tools/*, or a rule ID from a report. "
            "May be repeated.",
        ),
    ] = None,
    api: Annotated[
        list[Api] | None,
        typer.Option(
            help="Run only the rules of this API; messages is Anthropic's Messages API, which the dialect openai "
            "doesn't have. May be repeated.",
            show_default=False,
        ),
    ] = None,
    client: Client = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            help=f"The system whose API the server is tested against: {DIALECTS}, or specvino for this "
            "project's own API.",
            show_default="openai; specvino with --api messages; with --client, that of the client's API",
            callback=known_judged,
            autocompletion=judged,
        ),
    ] = None,
    profile: Annotated[
        Profile, typer.Option(help="core runs only the rules that every client relies on; full runs all.")
    ] = Profile.FULL,
    layer: Annotated[
        list[Layer] | None,
        typer.Option(
            help="The layers to run. May be repeated. By default, cases and streams, and fuzz if a filter names it.",
            show_default=False,
        ),
    ] = None,
    fail_on: Annotated[
        FailOn,
        typer.Option(
            help="The findings that make the run fail: `must`, violations of the dialect's document; `should`, also "
            "violations of common practice and of this project's advice."
        ),
    ] = FailOn.MUST,
    junit: Junit = None,
    sarif: Annotated[Path | None, typer.Option(help="Write a SARIF 2.1.0 report to this file.")] = None,
    html: Html = None,
    markdown: Markdown = None,
    ndjson: Annotated[
        Path | None,
        typer.Option(
            help="Write an NDJSON report, one line per rule, to this file, for `diff`, `matrix` and --replay."
        ),
    ] = None,
    badge: Annotated[
        Path | None, typer.Option(help="Write the JSON of a shields.io endpoint badge to this file.")
    ] = None,
    har: Annotated[
        Path | None, typer.Option(help="Write all requests and responses to this file as HAR 1.2, with keys redacted.")
    ] = None,
    baseline: Baseline = None,
    write_baseline: WriteBaseline = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Also fail if the baseline has entries that no longer occur or name unknown rules."
        ),
    ] = False,
    max_time: MaxTime = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="For the fuzz layer: the random seed. The same seed generates the same requests. Reports contain it.",
            show_default=str(SEED),
        ),
    ] = None,
    max_examples: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="For the fuzz layer: the maximum number of random requests per operation.",
            show_default=", ".join(f"{most} in {profile}" for profile, most in MAX_EXAMPLES.items()),
        ),
    ] = None,
    include_check: Annotated[
        list[str] | None,
        typer.Option(
            help="For the fuzz layer: run only this Schemathesis check, such as not_a_server_error. May be repeated.",
            show_default=False,
        ),
    ] = None,
    exclude_check: Annotated[
        list[str] | None,
        typer.Option(help="For the fuzz layer: skip this Schemathesis check. May be repeated.", show_default=False),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(
            help="A report written by --ndjson. Sends the requests of its fuzz findings again, to the same server "
            "or to URL, and judges the responses. -f selects rules.",
            show_default=False,
        ),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="The number of cases to run in parallel.")] = 4,
    timeout: Timeout = 60.0,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print the NDJSON report to stdout, and the human-readable output to stderr."),
    ] = False,
    quiet: Quiet = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "-v", "--verbose", help="Print all rules, not only findings: passed ones, and why others were skipped."
        ),
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the rules that would run, without running them.")] = False,
) -> None:
    """Test a server against the rules of an API.

    specvino conform http://127.0.0.1:8000/v1
    """
    from specvino.cli.conform_run import Files, Output, judge, list_cases
    from specvino.conformance.python_api import Settings
    from specvino.conformance.verdict import Severity

    if url and base_url and url != base_url:
        end("the URL argument and --base-url differ")
    if not dialect and Api.OLLAMA in (api or ()) and len(set(api or ())) > 1:
        end("--api ollama can't be combined with other APIs: pass --dialect, or run them separately")
    if quiet and verbose:
        end("--quiet and --verbose can't be combined")
    settings = Settings(
        url=url or base_url,
        client=client,
        model=model,
        key=api_key,
        key_header=auth_header,
        headers=tuple(header or ()),
        cacert=cacert,
        insecure=insecure,
        dialect=dialect or next((DIALECT_OF[chosen] for chosen in api or () if chosen in DIALECT_OF), None),
        profile=profile.value,
        layers=tuple(dict.fromkeys(chosen.value for chosen in layer or ())),
        filters=(*(filter or ()), *chain.from_iterable(FILTERS.get(chosen, (chosen.value,)) for chosen in api or ())),
        concurrency=concurrency,
        timeout=timeout,
        max_time=max_time,
        fail_on=Severity(fail_on),
        seed=seed,
        max_examples=max_examples,
        include_checks=tuple(include_check or ()),
        exclude_checks=tuple(exclude_check or ()),
        replay=replay,
        server=server,
    )
    if list_:
        list_cases(settings)
        return
    files = Files(junit, sarif, html, markdown, ndjson, badge, har, baseline, write_baseline, strict)
    raise SystemExit(judge(settings, files, Output(json, quiet, verbose)))


@app.command()
def diff(
    before: Annotated[
        Path, typer.Argument(help="The report of the earlier run, written by --ndjson.", show_default=False)
    ],
    after: Annotated[Path, typer.Argument(help="The report of the later run.", show_default=False)],
) -> None:
    """Compare two runs: show regressions and improvements.

    Exit codes: 0 no regressions, 1 regressions, 2 the reports can't be compared.
    """
    from specvino.cli.conform_diff import compare

    raise SystemExit(compare(before, after))


@app.command(
    epilog="Exit codes: 0 no new differences, 1 new differences or an unreachable server, 2 the run failed or is "
    "incomplete."
)
def parity(
    a: Annotated[str, typer.Argument(help="The base URL of the first server.", show_default=False)],
    b: Annotated[str, typer.Argument(help="The base URL of the second server.", show_default=False)],
    model: Model = None,
    model_b: Annotated[
        str | None, typer.Option(help="The model to use at B, if it has another name there.", show_default=False)
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            "-k",
            "--api-key",
            envvar=KEY_VARIABLES,
            help="The API key, sent as a bearer token to A, and without --api-key-b to B, if it has the same host.",
            show_default=False,
        ),
    ] = None,
    api_key_b: Annotated[
        str | None,
        typer.Option(
            envvar="SPECVINO_API_KEY_B",
            help="The API key for B; empty to send none. On another host than A's, B gets no other key.",
            show_default=False,
        ),
    ] = None,
    header: Header = None,
    header_b: Annotated[
        list[str] | None,
        typer.Option(help="A header for B only, also in place of one for both. May be repeated.", show_default=False),
    ] = None,
    cacert: CaCert = None,
    insecure: Insecure = False,
    filter: Annotated[
        list[str] | None,
        typer.Option(
            "-f", "--filter", help="Send only the requests of the cases that match, such as chat. May be repeated."
        ),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            help=f"The system whose API the servers have: {DIALECTS}, or specvino for this project's own API.",
            show_default="openai",
            callback=known_judged,
            autocompletion=judged,
        ),
    ] = None,
    profile: Annotated[
        Profile, typer.Option(help="core sends only the requests that every client relies on; full sends all.")
    ] = Profile.FULL,
    fail_on: Annotated[
        FailOn,
        typer.Option(
            help="The differences that make the run fail: `must`, those by which programs act; `should`, also texts "
            "of errors and other headers."
        ),
    ] = FailOn.MUST,
    junit: Junit = None,
    html: Html = None,
    markdown: Markdown = None,
    ndjson: Annotated[
        Path | None, typer.Option(help="Write an NDJSON report, one line per difference, to this file.")
    ] = None,
    baseline: Baseline = None,
    write_baseline: WriteBaseline = None,
    max_time: MaxTime = None,
    timeout: Timeout = 60.0,
    quiet: Quiet = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Also print accepted differences.")] = False,
) -> None:
    """Send the same requests to two servers: show what differs in their answers.

    specvino conform parity http://127.0.0.1:8000/v1 http://127.0.0.1:9000/v1
    """
    from specvino.cli.conform_parity import compare
    from specvino.cli.conform_run import Files
    from specvino.conformance.python_api import Settings
    from specvino.conformance.verdict import Severity

    if quiet and verbose:
        end("--quiet and --verbose can't be combined")
    first = Settings(
        url=a,
        model=model,
        key=api_key,
        headers=tuple(header or ()),
        cacert=cacert,
        insecure=insecure,
        dialect=dialect,
        profile=profile.value,
        filters=tuple(filter or ()),
        timeout=timeout,
        max_time=max_time,
        fail_on=Severity(fail_on),
    )
    # No other host gets the key, which may come from the environment.
    shared = api_key if _host(a) == _host(b) else None
    own = {line.partition(":")[0].strip().lower() for line in header_b or ()}
    second = replace(
        first,
        url=b,
        model=model_b or model,
        key=shared if api_key_b is None else api_key_b,
        headers=(
            *(line for line in header or () if line.partition(":")[0].strip().lower() not in own),
            *(header_b or ()),
        ),
    )
    files = Files(junit, None, html, markdown, ndjson, None, None, baseline, write_baseline, strict=False)
    raise SystemExit(compare(first, second, files, quiet=quiet, verbose=verbose))


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:  # which ends the command later
        return None


@app.command()
def lint(
    files: Annotated[list[Path], typer.Argument(help="The baseline files to check.", show_default=False)],
) -> None:
    """Check that baseline files are valid and name known rules.

    Exit codes: 0 no problems, 1 problems, 2 a file can't be read.
    """
    problems = [problem for file in files for problem in _problems_of(file)]
    for problem in problems:
        print(inert.line(problem))
    raise SystemExit(1 if problems else 0)


def _problems_of(path: Path) -> Iterator[str]:
    """Yields the problems of a baseline file; ends the command if it can't be read."""
    from difflib import get_close_matches

    from specvino.conformance.reports.baseline import BadBaseline, read
    from specvino.conformance.rule_catalog import all_rules

    try:
        accepted = read(path)
    except BadBaseline as error:
        yield str(error)
        return
    except OSError as error:
        end(f"{path} can't be read: {error.strerror}")
    known = all_rules()
    for rule in accepted.unknown(known):
        near = get_close_matches(rule, known, n=1, cutoff=0.9)
        yield f"{path}: unknown rule {rule}{f'; did you mean {near[0]}?' if near else ''}"


@app.command()
def matrix(
    files: Annotated[list[Path], typer.Argument(help="The reports to show, written by --ndjson.", show_default=False)],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write the pages to.")] = Path("site"),
) -> None:
    """Write web pages that compare several servers side by side.

    A server's name is the --server of its run, or else the name of its report file.
    """
    from specvino.cli.conform_matrix import side_by_side

    try:
        servers = side_by_side(files, output)
    except OSError as error:
        end(f"{error.filename or output} can't be written: {error.strerror}")
    print(f"specvino: wrote {output / 'index.html'} with {servers} server{'s' if servers > 1 else ''}")
