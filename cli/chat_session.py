"""A conversation of `specvino chat`: what the user types, and how answers are shown."""

import base64
import contextlib
import mimetypes
import shlex
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.markdown import Markdown
from rich.text import Text

from specvino.cli.chat_endpoint import Answer, ChatError, Endpoint
from specvino.cli.mistakes import suggestion
from specvino.conformance.reports import inert

_CUT_OFF = "Cut off: the limit of tokens is reached."


class Session:
    """A conversation, with the commands that change it. Raises ChatError if the server has no such model."""

    def __init__(self, endpoint: Endpoint, model: str | None, system: str | None, images: Sequence[Path]) -> None:
        self._endpoint = endpoint
        self._models = endpoint.models()
        if not self._models:
            raise ChatError(f"{endpoint.url} serves no model")
        self._model = self._models[0]
        if model:
            self._choose(model)
        self._system = system
        self._images = [_part(image) for image in images]
        self._messages: list[dict[str, Any]] = []
        self._console = Console(highlight=False)

    def print_answer(self, message: str) -> None:
        """Prints the answer to one message as plain text, as it is generated."""
        printed, finish = 0, None
        for answer in self._answers(message):
            # A file or another program gets the text as it is, a terminal nothing that it would obey.
            text = answer.content[printed:]
            sys.stdout.write(inert.block(text) if sys.stdout.isatty() else text)
            sys.stdout.flush()
            printed, finish = len(answer.content), answer.finish
        print()
        if finish == "length":
            print(f"specvino: {_CUT_OFF}", file=sys.stderr)

    def talk(self) -> None:
        """Reads messages and commands from the terminal until its end."""
        # Editing and the history of lines; kept in memory, since messages may be private.
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - for its effect on input()
        self._note(
            f"{self._model} at {self._endpoint.url}. /help lists the commands; Ctrl-C stops an answer, Ctrl-D ends."
        )
        while True:
            try:
                line = input("> ").strip()
            except EOFError:
                print()
                return
            except KeyboardInterrupt:
                print()
                continue
            if line in ("/quit", "/exit"):
                return
            try:
                if line.startswith("/"):
                    self._command(line)
                elif line:
                    self._show(self._answers(line))
            except KeyboardInterrupt:
                self._note("Stopped.")
            except ChatError as error:
                self._console.print(Text(inert.block(str(error)), "red"))

    def _answers(self, message: str) -> Generator[Answer, None, None]:
        """Yields the growing answer, and keeps both messages, also of a stopped answer; without any, neither."""
        content: Any = [*self._images, {"type": "text", "text": message}] if self._images else message
        asked = {"role": "user", "content": content}
        system = [{"role": "system", "content": self._system}] if self._system else []
        answer = Answer()
        try:
            for answer in self._endpoint.answer(self._model, [*system, *self._messages, asked]):
                yield answer
        finally:
            self._images = []  # a refused one would be refused with every later message
            if answer.content:
                self._messages += [asked, {"role": "assistant", "content": answer.content}]

    def _show(self, answers: Generator[Answer, None, None]) -> None:
        """Shows an answer as Markdown while it grows: finished blocks are printed, the last one is drawn anew."""
        printed, answer = 0, Answer()
        with contextlib.closing(answers), Live(console=self._console, auto_refresh=False, transient=True) as live:
            try:
                for answer in answers:
                    whole = _finished(answer.content, printed)
                    if whole > printed:
                        self._console.print(_markdown(answer.content[printed:whole]))
                        printed = whole
                    thinks = Text(inert.block(answer.reasoning), "dim italic") if not answer.content else Text()
                    live.update(Group(thinks, _markdown(answer.content[printed:])), refresh=True)
            finally:
                live.update(Text(), refresh=True)
                if answer.reasoning and not answer.content:
                    self._console.print(Text(inert.block(answer.reasoning), "dim italic"))
                if rest := answer.content[printed:]:
                    self._console.print(_markdown(rest))
        for name, arguments in answer.calls.values():
            self._note(f"Tool call: {name}({arguments})")
        if answer.finish == "length":
            self._note(_CUT_OFF)

    def _note(self, text: str) -> None:
        self._console.print(Text(inert.block(text), "dim"))

    def _command(self, line: str) -> None:
        name, _, argument = line[1:].partition(" ")
        commands = self._commands()
        if name not in commands:
            known = map("/{}".format, commands)
            raise ChatError(f"unknown command /{name}{suggestion(f'/{name}', known, '; /help lists them')}")
        _, run = commands[name]
        run(argument.strip())

    def _commands(self) -> dict[str, tuple[str, Callable[[str], None]]]:
        return {
            "system": ("TEXT: set the system message, or remove it", self._set_system),
            "model": ("[NAME]: list the models, or use another one", self._list_or_choose),
            "image": ("FILE: send an image with the next message", self._attach),
            "new": (": begin a new conversation", self._begin),
            "help": (": list the commands", self._help),
            "quit": (": end, as Ctrl-D does", lambda _: None),
        }

    def _help(self, _: str) -> None:
        self._note("\n".join(f"/{name} {words}".replace(" :", ":") for name, (words, _) in self._commands().items()))

    def _set_system(self, text: str) -> None:
        self._system = text or None
        self._note("The system message is set." if text else "There is no system message.")

    def _list_or_choose(self, name: str) -> None:
        if name:
            self._choose(name)
        self._note("\n".join(f"{'*' if name == self._model else ' '} {name}" for name in self._models))

    def _choose(self, name: str) -> None:
        if name not in self._models:
            others = f"; it has {', '.join(self._models)}"
            raise ChatError(f"the server has no model {name}{suggestion(name, self._models, others)}")
        self._model = name

    def _attach(self, file: str) -> None:
        # A path that a terminal pasted may be quoted.
        try:
            words = shlex.split(file)
        except ValueError:  # an apostrophe in a name
            words = [file]
        if not words:
            raise ChatError("give the file of an image")
        self._images.append(_part(Path(words[0] if len(words) == 1 else file).expanduser()))
        count = len(self._images)
        self._note("1 image goes with the next message." if count == 1 else f"{count} images go with the next message.")

    def _begin(self, _: str) -> None:
        self._messages, self._images = [], []
        self._note("A new conversation begins.")


def _part(image: Path) -> dict[str, Any]:
    """Returns an image as a part of a message. Raises ChatError."""
    kind, _ = mimetypes.guess_type(image.name)
    if not (kind or "").startswith("image/"):
        raise ChatError(f"{image} isn't an image, by its name")
    try:
        data = base64.b64encode(image.read_bytes()).decode()
    except OSError as error:
        raise ChatError(f"{image} can't be read: {error.strerror}") from error
    return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}


def _finished(text: str, start: int) -> int:
    """Returns the end of the last finished Markdown block after `start`, which begins a block: a blank line outside of
    fenced code ends one."""
    end, position, is_fenced = start, start, False
    for line in text[start:].splitlines(keepends=True):
        position += len(line)
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        if not line.strip() and line.endswith("\n") and not is_fenced:
            end = position
    return end


def _markdown(text: str) -> Markdown:
    return Markdown(inert.block(text), hyperlinks=False)
