"""The server's side of the grammars process."""

import asyncio
import itertools
from collections import OrderedDict

from specvino.engine.errors import ConstraintError, EngineUnavailable, ModelLoadError
from specvino.engine.grammar.forms import Form
from specvino.engine.openvino.grammar_messages import Check, Checked, FromGrammars, LoadStub, Refused
from specvino.engine.processes.supervisor import Supervisor
from specvino.engine.request import Constraint, StructuralTag

# So many constraints are remembered, with what came of them; their texts may be together of so many characters.
MOST_KNOWN = 256
LONGEST_KNOWN = 16 << 20


class GrammarClient:
    """Checks constraints, one at a time: one that takes longer than `deadline` seconds is refused.

    The process starts with the first constraint. When it is lost, the constraint that it worked on is at fault; those
    behind it are sent again.
    """

    def __init__(self, path: str, deadline: float) -> None:
        self._deadline = deadline
        self._ids = itertools.count()
        self._known: OrderedDict[Constraint, Form | ConstraintError] = OrderedDict()
        self._asked: dict[Constraint, asyncio.Future[Form | ConstraintError]] = {}
        self._owed: dict[int, tuple[Constraint, Check]] = {}  # in the order of their sending
        self._start: asyncio.Task[None] | None = None
        self._loaded = False
        self.process = Supervisor(
            "grammars",
            "specvino.engine.openvino.grammars",
            LoadStub(path),
            incoming=FromGrammars,
            on_message=self._receive,
            on_lost=self._lost,
            busy=lambda: bool(self._owed),
            stall_timeout=deadline,
        )

    async def check(self, constraint: Constraint) -> Form:
        """Raises ConstraintError and EngineUnavailable."""
        found = self._known.get(constraint)
        if found is None:
            found = await asyncio.shield(self._asked.get(constraint) or self._ask(constraint))
        else:
            self._known.move_to_end(constraint)
        if isinstance(found, ConstraintError):
            # A new one: an exception that is raised twice would collect the tracebacks of both.
            raise ConstraintError(str(found), found.path, unsupported=found.unsupported)
        return found

    async def close(self) -> None:
        if self._start is not None:
            await self.process.close()
            await asyncio.gather(self._start, return_exceptions=True)
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(EngineUnavailable("The server is shutting down.", retry_after=1))

    def _ask(self, constraint: Constraint) -> asyncio.Future[Form | ConstraintError]:
        structural = isinstance(constraint, StructuralTag)
        text = constraint.tag if isinstance(constraint, StructuralTag) else constraint.schema
        request = Check(next(self._ids), text, structural, constraint.strict)
        answer: asyncio.Future[Form | ConstraintError] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(_retrieved)
        self._asked[constraint] = answer
        self._owed[request.id] = (constraint, request)
        if self._start is None:
            self._start = asyncio.create_task(self._load())
        elif self._loaded:
            self.process.send(request)
        return answer

    async def _load(self) -> None:
        try:
            await self.process.start()
        except ModelLoadError as error:
            self._start = None
            for id, (constraint, _) in list(self._owed.items()):
                del self._owed[id]
                self._asked.pop(constraint).set_exception(EngineUnavailable(f"Grammars: {error}", retry_after=30))

    def _receive(self, message: FromGrammars) -> None:
        match message:
            case Checked():
                self._settle(message.id, message.form)
            case Refused():
                error = ConstraintError(message.message, message.path, unsupported=message.unsupported)
                self._settle(message.id, error)
            case _:
                self._loaded = True
                for _, request in self._owed.values():
                    self.process.send(request)

    def _lost(self, reason: str, stalled: bool) -> None:
        self._loaded = False
        if self._owed:
            how = f"takes longer than {self._deadline:g} s" if stalled else "takes too much memory, or can't be done"
            self._settle(next(iter(self._owed)), ConstraintError(f"compiling it {how}"))

    def _settle(self, id: int, result: Form | ConstraintError) -> None:
        constraint, _ = self._owed.pop(id)
        self._asked.pop(constraint).set_result(result)
        self._known[constraint] = result
        while len(self._known) > MOST_KNOWN or sum(map(_size, self._known.items())) > LONGEST_KNOWN:
            self._known.popitem(last=False)


def _size(known: tuple[Constraint, Form | ConstraintError]) -> int:
    constraint, result = known
    text = constraint.tag if isinstance(constraint, StructuralTag) else constraint.schema
    return len(text) + (len(result.text) if isinstance(result, Form) else 0)


def _retrieved(answer: asyncio.Future[Form | ConstraintError]) -> None:
    """Nobody may be left to await it: that is no error."""
    if not answer.cancelled():
        answer.exception()
