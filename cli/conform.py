"""`specvino conform`: tests a server, compares runs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from specvino.cli.dialects import SYSTEMS
from specvino.cli.ending import end
from specvino.conformance.fuzz.options import MAX_EXAMPLES, SEED

RUN = "run"


class Profile(StrEnum):
    CORE = "core"
    FULL = "full"


class FailOn(StrEnum):
    MUST = "must"
    SHOULD = "should"


class Layer(StrEnum):
    CASES = "cases"
    STREAMS = "streams"
    FUZZ = "fuzz"


class UrlOrCommand(TyperGroup):
    """`conform URL` is `conform run URL`: whatever doesn't begin with the name of a command is for `run`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if args and args[0] in self.commands else [RUN, *args])


app = typer.Typer(cls=UrlOrCommand, help="Test whether a server is OpenAI-compatible.")


@app.command(
    RUN,
    hidden=True,
    epilog="Exit codes: 0 no new findings, 1 new findings, 2 it couldn't run. `specvino conform diff A.ndjson "
    "B.ndjson` shows what got better or worse; `specvino conform matrix *.ndjson -o site/` shows several servers "
    "side by side.",
)
def run(
    url: Annotated[
        str | None, typer.Argument(help="The base URL, such as http://127.0.0.1:8000/v1.", show_default=False)
    ] = None,
    base_url: Annotated[str | None, typer.Option("-u", "--base-url", help="The base URL, as an option.")] = None,
    model: Annotated[
        str | None,
        typer.Option("-m", "--model", help="The model to use. By default, the first one that /models lists."),
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            "-k",
            "--api-key",
            envvar=["SPECVINO_API_KEY", "OPENAI_API_KEY"],
            help="The API key, sent as a bearer token.",
            show_default=False,
        ),
    ] = None,
    server: Annotated[
        str,
        typer.Option(
            help="What is tested, with its version, such as 'llama.cpp b11434': the title of the reports. By default, "
            "the model and the URL.",
            metavar="NAME",
            show_default=False,
        ),
    ] = "",
    auth_header: Annotated[
        str | None,
        typer.Option(
            help="The header that the key goes in, alone, such as Azure's api-key. By default, it is "
            "`Authorization: Bearer KEY`.",
            metavar="NAME",
        ),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(help="A header for every request, as `Name: value`. May be repeated.", show_default=False),
    ] = None,
    cacert: Annotated[
        Path | None,
        typer.Option(
            help="A file of CA certificates to verify the server's certificate with, instead of the default ones."
        ),
    ] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Don't verify the server's certificate.")] = False,
    filter: Annotated[
        list[str] | None,
        typer.Option(
            "-f",
            "--filter",
            help="Run only the rules that match, such as chat, chat/stop, */tools/* or any rule of a report. May be "
            "repeated.",
        ),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            help=f"The system whose API the server is tested against: {SYSTEMS}, or specvino for this "
            "project's complete API.",
            show_default="openai",
        ),
    ] = None,
    profile: Annotated[
        Profile, typer.Option(help="core runs only what every client needs; full runs everything.")
    ] = Profile.FULL,
    layer: Annotated[
        list[Layer] | None,
        typer.Option(
            help="The layers to run; by default cases and streams, and fuzz where a filter names it. May be repeated.",
            show_default=False,
        ),
    ] = None,
    fail_on: Annotated[
        FailOn,
        typer.Option(
            help="What makes the run fail: `must`, rules that the dialect's document says; `should`, advice of the "
            "field and of this project, too."
        ),
    ] = FailOn.MUST,
    junit: Annotated[Path | None, typer.Option(help="Write a JUnit XML report to this file.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Write a SARIF 2.1.0 report to this file.")] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a report as one self-contained web page to this file.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write a Markdown summary, for a CI job's page, to this file.")
    ] = None,
    ndjson: Annotated[
        Path | None,
        typer.Option(help="Write a report with one JSON line for each rule to this file, for `diff` and `matrix`."),
    ] = None,
    badge: Annotated[
        Path | None, typer.Option(help="Write a badge for shields.io, as JSON for its endpoint badge, to this file.")
    ] = None,
    har: Annotated[
        Path | None, typer.Option(help="Write all requests and answers as HAR 1.2, without keys, to this file.")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="A file of accepted findings; only other findings make the run fail.")
    ] = None,
    write_baseline: Annotated[
        Path | None, typer.Option(help="Write the findings to this file, as a baseline that accepts them.")
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Fail, too, where the baseline accepts what is no longer found, or what is no rule."
        ),
    ] = False,
    max_time: Annotated[float | None, typer.Option(min=1, help="Stop the run after this many seconds.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="The layer fuzz: what its random requests are drawn from; the same seed has the same requests. The "
            "report names it.",
            show_default=str(SEED),
        ),
    ] = None,
    max_examples: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The layer fuzz: how many random requests each operation gets at most.",
            show_default=", ".join(f"{most} in {profile}" for profile, most in MAX_EXAMPLES.items()),
        ),
    ] = None,
    include_check: Annotated[
        list[str] | None,
        typer.Option(
            help="The layer fuzz: make only this check, such as not_a_server_error; names are Schemathesis'. May be "
            "repeated.",
            show_default=False,
        ),
    ] = None,
    exclude_check: Annotated[
        list[str] | None,
        typer.Option(help="The layer fuzz: don't make this check. May be repeated.", show_default=False),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(
            help="A report written by --ndjson: send the requests of its findings of the layer fuzz again, to its "
            "server or to URL, and judge the answers. -f chooses rules.",
            show_default=False,
        ),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="How many cases run at the same time.")] = 4,
    timeout: Annotated[float, typer.Option(min=0.1, help="How many seconds an answer may take.")] = 60.0,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print the report of --ndjson instead; what is for people goes to stderr."),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print nothing for people: the exit code and the reports tell.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "-v", "--verbose", help="Print every rule, not only findings: what passed, and why others have no verdict."
        ),
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="List the rules that would be checked, without running them.")
    ] = False,
) -> None:
    """Test a server and give a verdict for each rule.

    specvino conform http://127.0.0.1:8000/v1
    """
    from specvino.cli.conform_run import Files, Output, judge, list_cases
    from specvino.conformance.judge import Settings
    from specvino.conformance.verdict import Severity

    if url and base_url and url != base_url:
        end("the URL is given twice, and differs")
    if quiet and verbose:
        end("--quiet prints nothing, and --verbose everything")
    settings = Settings(
        url=url or base_url,
        model=model,
        key=api_key,
        key_header=auth_header,
        headers=tuple(header or ()),
        cacert=cacert,
        insecure=insecure,
        dialect=dialect,
        profile=profile.value,
        layers=tuple(dict.fromkeys(each.value for each in layer or ())),
        filters=tuple(filter or ()),
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
    """Show what got better or worse between two runs.

    Exit codes: 0 nothing is worse, 1 something is worse, 2 they can't be compared.
    """
    from specvino.cli.conform_diff import compare

    raise SystemExit(compare(before, after))


@app.command()
def lint(
    files: Annotated[list[Path], typer.Argument(help="The baseline files to check.", show_default=False)],
) -> None:
    """Check that baseline files are valid and name existing rules.

    Exit codes: 0 all files are valid, 1 there are problems, 2 a file can't be read.
    """
    from specvino.cli.conform_lint import problems_of

    problems = [problem for file in files for problem in problems_of(file)]
    for problem in problems:
        print(problem)
    raise SystemExit(1 if problems else 0)


@app.command()
def matrix(
    files: Annotated[list[Path], typer.Argument(help="The reports to show, written by --ndjson.", show_default=False)],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write the pages to.")] = Path("site"),
) -> None:
    """Write web pages that show several servers side by side.

    A server has the name that its run was given by --server, or else that of its report's file.
    """
    from specvino.cli.conform_matrix import side_by_side

    try:
        servers = side_by_side(files, output)
    except OSError as error:
        end(f"{error.filename or output} can't be written: {error.strerror}")
    print(f"specvino: {servers} server{'s' if servers > 1 else ''} side by side in {output / 'index.html'}")
