"""`specvino conform`: judges a server, compares runs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from specvino.cli.ending import end

RUN = "run"


class Profile(StrEnum):
    CORE = "core"
    FULL = "full"


class Layer(StrEnum):
    CASES = "cases"
    STREAMS = "streams"
    FUZZ = "fuzz"


class UrlOrCommand(TyperGroup):
    """`conform URL` is `conform run URL`: whatever doesn't begin with the name of a command is for `run`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if args and args[0] in self.commands else [RUN, *args])


app = typer.Typer(cls=UrlOrCommand, help="Judges a server that calls itself OpenAI-compatible, or compares such runs.")


@app.command(
    RUN,
    hidden=True,
    epilog="Exit codes: 0 nothing new, 1 findings, 2 couldn't run. `specvino conform diff A.ndjson B.ndjson` says what "
    "got better or worse; `specvino conform matrix *.ndjson -o site/` shows several servers side by side.",
)
def run(
    url: Annotated[
        str | None, typer.Argument(help="The base URL, such as http://127.0.0.1:8000/v1.", show_default=False)
    ] = None,
    base_url: Annotated[str | None, typer.Option("-u", "--base-url", help="The same, as an option.")] = None,
    model: Annotated[
        str | None, typer.Option("-m", "--model", help="The model to ask; without it the first that is listed.")
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            "-k", "--api-key", envvar=["SPECVINO_API_KEY", "OPENAI_API_KEY"], help="The bearer key.", show_default=False
        ),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(help="A header for every request, `Name: value`. May be repeated.", show_default=False),
    ] = None,
    cacert: Annotated[
        Path | None, typer.Option(help="A file of certificates that the server's is checked by, instead of the usual.")
    ] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Don't check the server's certificate.")] = False,
    filter: Annotated[
        list[str] | None,
        typer.Option("-f", "--filter", help="Only rules like this: chat, chat/stop, */tools/*. May be repeated."),
    ] = None,
    dialect: Annotated[
        str,
        typer.Option(
            help="By whose document it is judged: openai, ovms, vllm, mlc-llm, fastdeploy, or specvino for this "
            "project's own, with everything in it."
        ),
    ] = "openai",
    profile: Annotated[Profile, typer.Option(help="core: what every client needs; full: all of it.")] = Profile.FULL,
    layer: Annotated[
        list[Layer] | None,
        typer.Option(help="Without it cases and streams. May be repeated.", show_default=False),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML to this file.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Write SARIF 2.1.0.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write one self-contained web page.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a summary for the page of a CI job.")] = None,
    ndjson: Annotated[Path | None, typer.Option(help="Write a line for each rule, for diff and matrix.")] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="A file of accepted findings: only others make the run fail.")
    ] = None,
    write_baseline: Annotated[Path | None, typer.Option(help="Write what was found as accepted to this file.")] = None,
    max_time: Annotated[float | None, typer.Option(min=1, help="Stop after so many seconds.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="Cases at the same time.")] = 4,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that an answer may take.")] = 60.0,
    list_: Annotated[bool, typer.Option("--list", help="List the rules of such a run, and run nothing.")] = False,
) -> None:
    """Judges a server, a verdict for each rule.

    specvino conform http://127.0.0.1:8000/v1
    """
    from specvino.cli.conform_run import Files, Wanted, judge, list_cases

    if url and base_url and url != base_url:
        end("the URL is given twice, and differs")
    wanted = Wanted(
        url=url or base_url,
        model=model,
        key=api_key,
        headers=tuple(header or ()),
        cacert=cacert,
        insecure=insecure,
        dialect=dialect,
        profile=profile.value,
        layers=tuple(dict.fromkeys(each.value for each in layer or (Layer.CASES, Layer.STREAMS))),
        filters=tuple(filter or ()),
        concurrency=concurrency,
        timeout=timeout,
        max_time=max_time,
    )
    if list_:
        list_cases(wanted)
        return
    files = Files(junit, sarif, html, markdown, ndjson, baseline, write_baseline)
    raise SystemExit(judge(wanted, files))


@app.command()
def diff(
    before: Annotated[Path, typer.Argument(help="The report of a run, as --ndjson writes it.", show_default=False)],
    after: Annotated[Path, typer.Argument(help="That of a later one.", show_default=False)],
) -> None:
    """Says what got better or worse from one run to another.

    Exit codes: 0 nothing is worse, 1 something is, 2 a file is no whole report.
    """
    from specvino.cli.conform_diff import compare

    raise SystemExit(compare(before, after))


@app.command()
def lint(
    files: Annotated[list[Path], typer.Argument(help="Files of accepted findings.", show_default=False)],
) -> None:
    """Checks baselines: are they such files, and are there such rules?

    Exit codes: 0 they are sound, 1 they aren't, 2 a file can't be read.
    """
    from specvino.cli.conform_lint import problems_of

    problems = [problem for file in files for problem in problems_of(file)]
    for problem in problems:
        print(problem)
    raise SystemExit(1 if problems else 0)


@app.command()
def matrix(
    files: Annotated[list[Path], typer.Argument(help="Reports of runs, as --ndjson writes them.", show_default=False)],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write.")] = Path("site"),
) -> None:
    """Makes web pages that show several servers side by side. A server has the name of its file."""
    from specvino.cli.conform_matrix import side_by_side

    try:
        servers = side_by_side(files, output)
    except OSError as error:
        end(f"{error.filename or output} can't be written: {error.strerror}")
    print(f"specvino: {servers} server{'s' if servers > 1 else ''} side by side in {output / 'index.html'}")
