"""Other systems judge bodies: `tox run -e verdicts [-- SYSTEM… [--source FOLDER] [--program FILE]]`.

`specvino spec drift` reads the classes of a system. Here they run, in an environment of their own and with stubs for
what needs a GPU: bodies are drawn from our document of the system and from the JSON Schemas of its classes, and both
judge all of them; so do Ollama's middleware and llama.cpp's server. Differences are listed in `allowed/SYSTEM.yaml`, if
not in `upstream/allowed/SYSTEM.yaml`: those that only show when code runs. For a system that isn't on the package
index, `--source FOLDER` has its sources.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from specvino.document import yaml_text
from specvino.document.loading import dialect_file, load
from specvino.document.operations import base_paths, operations
from specvino.document.validator import Validators
from specvino.upstream import allow_list, packages
from specvino.upstream.described import Described, Unreadable
from specvino.upstream.differences import Difference, Only, What, field_name, joined, shown
from specvino.upstream.openapi_document import of_document
from specvino.upstream.report import markdown_table
from specvino.upstream.side import Side
from specvino.upstream.table import Table, table
from verdicts import tiny_gguf
from verdicts.bodies import UNKNOWN, draws, pairs

HERE = Path(__file__).parent
HEADINGS = ("field", "the system alone", "the document alone", "of objects with")

REACHED = "? "
"""Begins what the judge says of a body whose check needs a stub."""

CONVERTED = "="
"""What the judge says of a body that is only valid because pydantic converts a value of another type. Documents have
the types themselves."""


@dataclass(slots=True)
class Totals:
    """The results of a comparison. bodies: the number that both judged. converted: those that are only valid for the
    system, which converts a value. unknown: those whose check needs a stub."""

    bodies: int = 0
    converted: int = 0
    unknown: list[str] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    verdicts: dict[str, str] = field(default_factory=dict)
    """By field, an error of the system on a body that the document accepts."""


class Judge:
    """A system's own code, in a process of its own."""

    judges_pairs = True

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.schemas: dict[str, Any] = self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise Unreadable(f"the judge ended with {self._process.wait()}")
        return json.loads(line)

    def verdict(self, endpoint: str, body: Any) -> str | None:
        """Returns the error of a body; None if it is valid."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([endpoint, body]) + "\n")
        self._process.stdin.flush()
        verdict: str | None = self._answer()
        return verdict


class Server:
    """A system's own server, which judges a body by answering it. It is started again if a body ends it."""

    judges_pairs = False  # which takes an hour

    def __init__(self, command: list[str], document: dict[str, Any]) -> None:
        self.schemas: dict[str, Any] = {}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._command = [word.replace("{port}", str(self._port)) for word in command]
        # A connection that the server closes between two requests would look like its end.
        limits = httpx.Limits(max_keepalive_connections=0)
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{self._port}", timeout=None, limits=limits)
        base = base_paths(document)[0]
        self._paths = {operation.endpoint: f"{base}{operation.path}" for operation in operations(document)}
        self._process = self._started()

    def _started(self) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            try:
                if self._client.get("/health").is_success:
                    return process
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        raise Unreadable(f"{self._command[0]} ended with {process.returncode}")

    def verdict(self, endpoint: str, body: Any) -> str | None:
        """Returns the error of a body; None if it is answered."""
        try:
            answer = self._client.post(self._paths[endpoint], json=body)
        except httpx.TransportError:
            self._process.kill()  # it may be writing a trace
            code = self._process.wait()
            self._process = self._started()
            return f"the server ended with {code}"
        return None if answer.is_success else f"{answer.status_code} {answer.text}"

    def close(self) -> None:
        self._client.close()
        self._process.terminate()
        self._process.wait()


@contextmanager
def server(settings: dict[str, Any], program: Path, document: dict[str, Any]) -> Iterator[Server]:
    """Yields a system's server with a tiny model. Raises Unreadable if it doesn't start."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "tiny.gguf")
        tiny_gguf.write(model)
        words = [word.replace("{model}", str(model)) for word in settings["serve"]]
        with closing(Server([str(program), *words], document)) as started:
            yield started


@contextmanager
def judge(system: str, settings: dict[str, Any], source: Path | None, work: Path) -> Iterator[Judge]:
    """Yields the judge of a system. Raises Unreadable if it can't be had."""
    command = _of_go if "module" in settings else _of_python
    with subprocess.Popen(
        command(system, settings, source, work / system), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Judge(process)
        finally:
            process.kill()


def _of_python(system: str, settings: dict[str, Any], source: Path | None, work: Path) -> list[str]:
    """Returns the command that runs a system's classes."""
    entry = table(system)
    if not isinstance(entry, Table):
        raise Unreadable(f"{system} isn't written in Python")
    if source is not None:
        folder = packages.in_folder(source, entry.package)
    elif entry.distribution is None:
        raise Unreadable(f"{system} has no wheels on the package index; give the folder with its sources with --source")
    else:
        version = load(dialect_file(system))["x-dialect"]["version"]["name"]
        folder = packages.from_index(entry.distribution, version, entry.package, packages.cache())
    classes = {
        endpoint: f"{location.file}:{location.name}"
        for (endpoint, part), (location, _) in (*entry.classes.items(), *entry.listed.items())
        if part == "request" and endpoint in settings["bodies"]
    }
    arguments = json.dumps({"classes": classes, "run": settings["run"], "absent": settings["absent"]})
    return [str(_environment(work, settings)), str(HERE / "judge.py"), entry.package, str(folder), arguments]


def _of_go(system: str, settings: dict[str, Any], source: Path | None, work: Path) -> list[str]:
    """Returns the program that `HERE/system/main.go` and the system's sources are compiled to."""
    if source is None:
        raise Unreadable(f"{system} has no package on the index; give the folder with its sources with --source")
    compiler = _environment(work, settings).with_name("go")
    link = work / "sources" / "src" / settings["module"]
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(source.absolute())
    # Without modules, whose versions Go would have to download, packages are looked up in these folders.
    found = {"GO111MODULE": "off", "GOPATH": f"{HERE / system}:{work / 'sources'}", "GOCACHE": str(work / "built")}
    built = [str(compiler), "build", "-o", str(work / "judge"), str(HERE / system / "main.go")]
    if subprocess.run(built, env={**os.environ, **found}, check=False).returncode:
        raise Unreadable(f"{system}'s sources in {source} can't be compiled")
    return [str(work / "judge")]


def _environment(folder: Path, settings: dict[str, Any]) -> Path:
    """Returns the interpreter of an environment with a system's packages, which is made once."""
    python, mark = folder / "bin" / "python", folder / "packages.json"
    wanted = json.dumps([settings["packages"], settings.get("alone", [])])
    if not mark.is_file() or mark.read_text("utf-8") != wanted:
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *settings["packages"]], check=True)
        if alone := settings.get("alone"):
            subprocess.run([*pip, "--no-deps", *alone], check=True)
        mark.write_text(wanted, "utf-8")
    return python


class Comparison:
    """Both sides' verdicts on the bodies of an endpoint."""

    def __init__(self, judge: Judge | Server, endpoint: str, ours: Described, totals: Totals) -> None:
        self._judge, self._endpoint, self._totals = judge, endpoint, totals
        self._described = [ours]
        if own := judge.schemas.get(endpoint):
            self._described.append(Described(own, {(endpoint, "request"): own}))
        self._validator = Validators(ours.document, formats=False).of(ours.parts[endpoint, "request"])
        self._verdicts: dict[str, Only | bool] = {}

    def verdict(self, body: Any, name: str) -> Only | bool:
        """Returns the only side that accepts a body, or whether both accept it. What isn't known counts as rejected."""
        key = json.dumps(body, sort_keys=True)
        if key not in self._verdicts:
            self._verdicts[key] = self._of(body, name)
        return self._verdicts[key]

    def _of(self, body: Any, name: str) -> Only | bool:
        verdict, mine = self._judge.verdict(self._endpoint, body), self._validator.fits(body)
        self._totals.bodies += 1
        if verdict is not None and verdict.startswith(REACHED):
            self._totals.unknown.append(f"{name}: {verdict.removeprefix(REACHED)}")
            return False
        if verdict == CONVERTED and not mine:
            self._totals.converted += 1
            return False
        if mine == (verdict in (None, CONVERTED)):
            return mine
        if verdict is not None:
            self._totals.verdicts.setdefault(name, verdict)
        return Only.DOCUMENT if mine else Only.SYSTEM

    def of(self, body: dict[str, Any]) -> Iterator[Difference]:
        """Yields the differences of bodies that differ from a valid one in one field or two. Raises Unreadable if it
        isn't valid."""
        if self.verdict(body, self._endpoint) is not True:
            verdict = self._judge.verdict(self._endpoint, body)
            raise Unreadable(f"a body of {self._endpoint} isn't valid for both sides, {verdict}: {json.dumps(body)}")
        accepted: dict[str, list[Any]] = {}
        part = (self._endpoint, "request")
        for described in self._described:
            for draw in draws(Side(described), described.parts[part], body):
                if self.verdict(draw.around, self._endpoint) is not True:
                    continue  # the difference is that one
                is_unknown = draw.path.endswith(f".{UNKNOWN}")
                path = draw.path.removesuffix(f".{UNKNOWN}").removeprefix(".")
                name = field_name(*part, path)
                only = self.verdict(draw.body, name)
                if isinstance(only, Only):
                    what = What.UNKNOWN_FIELDS if is_unknown else What.ABSENCE if draw.absent else What.VALUES
                    yield Difference(name, what, only, (shown(draw.tried),) if what is What.VALUES else ())
                elif only and path in draw.body and path not in body:
                    accepted.setdefault(path, []).append(draw.body[path])
        if not self._judge.judges_pairs:
            return
        for (one, other), both in pairs({name: _telling(values) for name, values in accepted.items()}, body):
            name = field_name(*part, f"{one}, {other}")
            if isinstance(only := self.verdict(both, name), Only):
                yield Difference(name, What.VALUES, only, (f"{shown(both[one])}, {shown(both[other])}",))


def compared(system: str, judge: Judge | Server, bodies: dict[str, list[dict[str, Any]]]) -> Totals:
    """Returns what the judge and our document say differently. bodies: valid ones of each endpoint."""
    ours, collected = of_document(load(dialect_file(system))), Totals()
    for endpoint, listed in bodies.items():
        comparison = Comparison(judge, endpoint, ours, collected)
        for body in listed:
            collected.differences += comparison.of(body)
    collected.differences = joined(collected.differences)
    return collected


def _telling(values: Iterable[Any]) -> list[Any]:
    """Returns values, those first that ask for something."""
    different = {json.dumps(value, sort_keys=True): value for value in values}
    return sorted(different.values(), key=lambda value: (value in (None, False, [], {}, ""), isinstance(value, str)))


def main() -> int:
    systems: dict[str, Any] = yaml_text.load((HERE / "systems.yaml").read_text("utf-8"))
    parser = argparse.ArgumentParser(prog="verdicts", description=__doc__)
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help="by default all whose package is on the index")
    parser.add_argument("--source", type=Path, help="a folder with the sources of the only system")
    parser.add_argument("--program", type=Path, help="the program of the only system, if its server judges")
    parser.add_argument("--folder", type=Path, default=Path(".verdicts"), help="where environments are made")
    options = parser.parse_args()
    if options.program is None and any("serve" in systems[name] for name in options.systems):
        parser.error("--program is needed: the server of the system, which judges by itself")
    failed = False
    for system in options.systems or [name for name in systems if _is_on_index(name)]:
        try:
            settings = systems[system]
            judging: AbstractContextManager[Judge | Server]
            if "serve" in settings:
                judging = server(settings, options.program, load(dialect_file(system)))
            else:
                judging = judge(system, settings, options.source, options.folder.absolute())
            with judging as one:
                comparison = compared(system, one, settings["bodies"])
        except Unreadable as error:
            print(f"{system}: {error}")
            failed = True
            continue
        beyond, _ = allow_list.sift(comparison.differences, allow_list.read(system))
        left, unused = allow_list.sift(beyond, allow_list.read(system, folder=HERE / "allowed"))
        print(
            f"{system}: {comparison.bodies} bodies, {len(comparison.differences)} differences, {len(left)} of them new;"
            f" {comparison.converted} bodies with values that the system converts,"
            f" {len(comparison.unknown)} whose check needs a stub"
        )
        if left:
            print("\n".join(markdown_table(left, HEADINGS)))
        for name in dict.fromkeys(difference.field for difference in left if difference.only is Only.DOCUMENT):
            print(f"{name}: {comparison.verdicts.get(name)}")
        for entry in unused:
            print(f"This entry no longer allows anything: {entry}.")
        for line in dict.fromkeys(comparison.unknown):
            print(f"Not judged: {line}.")
        failed |= bool(left or unused)
    return 1 if failed else 0


def _is_on_index(system: str) -> bool:
    entry = table(system)
    return isinstance(entry, Table) and entry.distribution is not None


if __name__ == "__main__":
    sys.exit(main())
