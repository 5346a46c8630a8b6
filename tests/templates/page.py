"""The page docs/chat-templates.md: `python -m templates --write` writes it."""

from collections.abc import Callable, Iterator, Set
from pathlib import Path

from specvino.engine.chat_template.template import Template, TemplateRefusal
from templates.conversations import NAMES
from templates.corpus import PACKAGE, VERSION, corpus
from templates.exceptions import KNOWN
from templates.oracle import AGAIN, CHECKS, FORCED, READ, WRITTEN
from templates.reading import formats_of
from templates.rendering import Compared, compared
from templates.style import TOKENS, Call, Style, style_of
from templates.tools import TOOLS
from templates.turns import CASES

PAGE = Path(__file__).parents[2] / "docs" / "chat-templates.md"

HEAD = f"""\
# Chat templates

How this server handles the chat templates of real models: those of llama.cpp, as {PACKAGE} {VERSION} has them.
`tox run -e templates` checks all of this, and `PYTHONPATH=tests .tox/templates/bin/python -m templates --write` writes
this page.

- **Roles**: the roles, besides user and assistant, whose messages the template renders. The server converts developer
  messages to system messages if it doesn't.
- **Calls**: "yes" if the template renders tool calls and their format is known.
- **Rendered**: how many of {len(NAMES)} conversations are rendered as in transformers. "refused" counts those that the
  template itself rejects in both.
- **Read**: how many of {len(CASES)} messages with calls, as rendered by the template, are parsed to the same calls with
  the same types of values, however the text is split. **Forced**: how many the grammar of forced calls allows.
  **Again**: how many are rendered to the same text after they were parsed.

"""

# The checks that a template fails in a case.
Failing = Callable[[str, str], Set[str]]


def page(failing: Failing) -> str:
    """Returns the page as it has to be."""
    return HEAD + "".join(f"{line}\n" for line in [*_table(failing), *_reasons()])


def _table(failing: Failing) -> Iterator[str]:
    yield "| template | roles | calls | reasoning | rendered | read | forced | again | exceptions |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    rows = [_Row(name, text, failing) for name, text in corpus().items()]
    yield from (row.line for row in rows)
    counted = [row for row in rows if row.writes_calls]
    figures = [f"{sum(row.passed(check) for row in counted)} of {len(CASES) * len(counted)}" for check in CHECKS[1:]]
    rendered = f"{sum(row.rendered for row in rows)} of {len(NAMES) * len(rows)}"
    cells = [f"all {len(rows)}", "", str(len(counted)), str(sum(row.reasons for row in rows)), rendered, *figures, ""]
    yield _line([f"**{cell}**" if cell else "" for cell in cells])


def _reasons() -> Iterator[str]:
    yield ""
    yield "Exceptions:"
    yield ""
    for number, exception in enumerate(_exceptions(), 1):
        yield f"{number}. {exception}"


def _exceptions() -> list[str]:
    return list(dict.fromkeys(value.because for value in (*KNOWN.rendering, *KNOWN.calls)))


class _Row:
    def __init__(self, name: str, text: str, failing: Failing) -> None:
        self._name = name
        self._text = text
        self._failing = failing
        self._template = Template(text, TOKENS)
        self._style = style_of(self._template)
        self._formats = formats_of(self._template)
        self.writes_calls = self._style is not None
        self.reasons = self._formats.reasoning is not None
        self.rendered = sum(not KNOWN.different(name, conversation) for conversation in NAMES)

    @property
    def line(self) -> str:
        refused = sum(compared(self._text, conversation) is Compared.REFUSED for conversation in NAMES)
        rendered = f"{self.rendered} of {len(NAMES)}" + (f", {refused} refused" if refused else "")
        calls = "" if not self.writes_calls else "yes" if self._formats.taught else "no"
        figures = [f"{self.passed(c)} of {len(CASES)}" if self.writes_calls else "" for c in (READ, FORCED, AGAIN)]
        reasons = _exceptions()
        numbers = ", ".join(str(reasons.index(value.because) + 1) for value in KNOWN.of(self._name))
        roles = ", ".join(self._roles())
        return _line([self._name, roles, calls, "yes" if self.reasons else "", rendered, *figures, numbers])

    def passed(self, check: str) -> int:
        """Returns how many cases pass a check; none does whose turn isn't written."""
        return sum(not {WRITTEN, check} & self._failing(self._name, case) for case in CASES)

    def _roles(self) -> Iterator[str]:
        style = self._style or Style()
        call = Call("now", {})
        asked = {"role": "user", "content": "x"}
        for role, messages in {
            "system": [{"role": "system", "content": "needle"}, asked],
            "developer": [{"role": "developer", "content": "needle"}, asked],
            "tool": [asked, style.assistant([call]), style.result(call, 0, "needle")],
        }.items():
            try:
                if "needle" in self._template.render(messages, TOOLS):
                    yield role
            except TemplateRefusal:
                continue


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
