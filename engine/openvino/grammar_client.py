"""The server's side of the grammar process and the trial process."""

import asyncio
from collections import OrderedDict
from typing import NamedTuple

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar import LoweredConstraint
from specvino.engine.openvino.messages.grammar import (
    ConstraintRefused,
    LoadDummyPipeline,
    Lower,
    Lowered,
    StartGrammarProcess,
    Trial,
    TrialPassed,
)
from specvino.engine.processes.request_reply import ProcessCrashed, RequestReplyClient
from specvino.engine.request import Constraint, StructuralTag
from specvino.engine.structured_output import constraint_json

# So many constraints are remembered, with what came of them; their texts may be together of so many characters.
MOST_KNOWN = 256
LONGEST_KNOWN = 16 << 20


Result = LoweredConstraint | ConstraintError


class _Question(NamedTuple):
    """Is a constraint in the one shape in which it can be remembered and sent."""

    text: str
    structural: bool
    strict: bool


class _Shared:
    """Is a question that is being asked, and counts who waits for its answer."""

    def __init__(self) -> None:
        self.task: asyncio.Task[Result]  # set at once
        self._waiting = 0

    def wanted(self) -> bool:
        return self._waiting > 0

    async def result(self) -> Result:
        self._waiting += 1
        try:
            return await asyncio.shield(self.task)
        finally:
            self._waiting -= 1


class GrammarClient:
    """Makes grammars of constraints. What only XGrammar can read is tried by another process, so that others needn't
    wait for that.

    What came of a constraint is remembered, unless that was EngineUnavailable: it says nothing of the constraint.
    """

    def __init__(self, path: str, deadline: float, most_computing: float) -> None:
        self._known: OrderedDict[_Question, Result] = OrderedDict()
        self._asked: dict[_Question, _Shared] = {}
        self._grammars = RequestReplyClient(
            "grammar",
            "specvino.engine.openvino.grammar_process",
            StartGrammarProcess(most_computing),
            Lowered | ConstraintRefused,
            deadline,
        )
        self._trials = RequestReplyClient(
            "trial",
            "specvino.engine.openvino.trial_process",
            LoadDummyPipeline(path, most_computing),
            TrialPassed | ConstraintRefused,
            deadline,
        )

    @property
    def pids(self) -> dict[str, int | None]:
        """Returns the processes, None for one that was not needed yet or is being restarted."""
        return {"grammar": self._grammars.process.pid, "trial": self._trials.process.pid}

    @property
    def restarts(self) -> int:
        return self._grammars.process.restarts + self._trials.process.restarts

    @property
    def failing(self) -> bool:
        """Tells whether the grammar process doesn't come up again. What constraints do to it doesn't count, and is over
        in a second; nor does the trial process, which few constraints need."""
        return self._grammars.process.failing

    async def start(self) -> None:
        """Starts the grammar process. Raises ModelLoadError."""
        await self._grammars.start()

    async def check(self, constraint: Constraint) -> LoweredConstraint:
        """Returns the grammar of a constraint. Raises ConstraintError and EngineUnavailable."""
        question = _Question(constraint_json(constraint), isinstance(constraint, StructuralTag), constraint.strict)
        found = self._known.get(question)
        if found is None:
            # A task of its own: others may wait for it, too, when the first one goes away.
            shared = self._asked.get(question)
            if shared is None:
                shared = self._asked[question] = _Shared()
                shared.task = asyncio.create_task(self._ask(question, shared))
                shared.task.add_done_callback(lambda done: self._settle(question, done))
            found = await shared.result()
        else:
            self._known.move_to_end(question)
        if isinstance(found, ConstraintError):
            # A new one: an exception that is raised twice would collect the tracebacks of both.
            raise ConstraintError(str(found), found.path, unsupported=found.unsupported)
        return found

    async def close(self) -> None:
        await asyncio.gather(self._grammars.close(), self._trials.close())

    async def _ask(self, question: _Question, shared: _Shared) -> Result:
        try:
            answer = await self._grammars.ask(lambda id: Lower(id, *question), shared.wanted)
            if isinstance(answer, ConstraintRefused):
                return _error(answer)
            lowered: LoweredConstraint = answer.lowered
            if lowered.kind == "structural_tags_config":
                tried = await self._trials.ask(lambda id: Trial(id, lowered), shared.wanted)
                if isinstance(tried, ConstraintRefused):
                    return _error(tried)
        except ProcessCrashed:
            return ConstraintError("the compiler of grammars crashes on it")
        return lowered

    def _settle(self, question: _Question, done: asyncio.Task[Result]) -> None:
        del self._asked[question]
        if done.cancelled() or done.exception() is not None:
            return
        self._known[question] = done.result()
        while len(self._known) > MOST_KNOWN or sum(map(_size, self._known.items())) > LONGEST_KNOWN:
            self._known.popitem(last=False)


def _error(refused: ConstraintRefused) -> ConstraintError:
    return ConstraintError(refused.message, refused.path, unsupported=refused.unsupported)


def _size(known: tuple[_Question, Result]) -> int:
    question, result = known
    return len(question.text) + (len(result.text) if isinstance(result, LoweredConstraint) else 0)
