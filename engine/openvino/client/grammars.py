"""The client of the grammar process and the trial process."""

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
from specvino.engine.processes.request_reply import ProcessCrashed, QuestionDropped, RequestReplyClient
from specvino.engine.request import Constraint, StructuralTag
from specvino.engine.structured_output import constraint_json

# Limits of the cached results: their number, and the characters of all constraints and grammars.
MOST_KNOWN = 256
LONGEST_KNOWN = 16 << 20


Result = LoweredConstraint | ConstraintError


class _Question(NamedTuple):
    """A constraint in the form in which it is cached and sent."""

    text: str
    structural: bool
    strict: bool


class _Shared:
    """A pending question, and how many requests wait for its answer."""

    def __init__(self) -> None:
        self.task: asyncio.Task[Result | None]  # set at once; None if the question was dropped
        self._waiting = 0

    def wanted(self) -> bool:
        return self._waiting > 0

    async def result(self) -> Result | None:
        self._waiting += 1
        try:
            return await asyncio.shield(self.task)
        finally:
            self._waiting -= 1


class GrammarClient:
    """Converts constraints into grammars. Those that only XGrammar can parse are tried in another process, so that
    others don't wait for them. Results are cached, except for EngineUnavailable, which isn't about the constraint.
    """

    def __init__(self, path: str, deadline: float, most_computing: float) -> None:
        self._known: OrderedDict[_Question, Result] = OrderedDict()
        self._asked: dict[_Question, _Shared] = {}
        self._grammars = RequestReplyClient(
            "grammar",
            "specvino.engine.openvino.sandbox.grammar",
            StartGrammarProcess(most_computing),
            Lowered | ConstraintRefused,
            deadline,
        )
        self._trials = RequestReplyClient(
            "trial",
            "specvino.engine.openvino.sandbox.trial",
            LoadDummyPipeline(path, most_computing),
            TrialPassed | ConstraintRefused,
            deadline,
        )

    @property
    def pids(self) -> dict[str, int | None]:
        """Returns the process ids; None for a process that wasn't needed yet or is being restarted."""
        return {"grammar": self._grammars.process.pid, "trial": self._trials.process.pid}

    @property
    def restarts(self) -> int:
        return self._grammars.process.restarts + self._trials.process.restarts

    @property
    def failing(self) -> bool:
        """Returns whether the grammar process can't be restarted. Restarts because of a constraint don't count, and
        take a second; nor does the trial process, which few constraints need."""
        return self._grammars.process.failing

    async def start(self) -> None:
        """Starts the grammar process. Raises ModelLoadError."""
        await self._grammars.start()

    async def check(self, constraint: Constraint) -> LoweredConstraint:
        """Returns the grammar of a constraint. Raises ConstraintError and EngineUnavailable."""
        question = _Question(constraint_json(constraint), isinstance(constraint, StructuralTag), constraint.strict)
        result = None
        while result is None:
            # It is None if this request joined a question that had just been dropped, because all other requests for
            # it were cancelled: it is asked again.
            result = await self._result(question)
        if isinstance(result, ConstraintError):
            # A copy: an exception that is raised twice would collect both tracebacks.
            raise ConstraintError(str(result), result.path, unsupported=result.unsupported)
        return result

    async def close(self) -> None:
        await asyncio.gather(self._grammars.close(), self._trials.close())

    async def _result(self, question: _Question) -> Result | None:
        if question in self._known:
            self._known.move_to_end(question)
            return self._known[question]
        shared = self._asked.get(question)
        if shared is None:
            # A separate task: other requests may still wait for it when the first one is cancelled.
            shared = self._asked[question] = _Shared()
            shared.task = asyncio.create_task(self._settled(question, shared))
        return await shared.result()

    async def _ask(self, question: _Question, shared: _Shared) -> Result | None:
        try:
            answer = await self._grammars.ask(lambda id: Lower(id, *question), shared.wanted)
            if isinstance(answer, ConstraintRefused):
                return _error(answer)
            lowered: LoweredConstraint = answer.lowered
            if lowered.kind == "structural_tags_config":
                trial = await self._trials.ask(lambda id: Trial(id, lowered), shared.wanted)
                if isinstance(trial, ConstraintRefused):
                    return _error(trial)
        except ProcessCrashed:
            return ConstraintError("XGrammar crashes on it")
        except QuestionDropped:
            return None
        return lowered

    async def _settled(self, question: _Question, shared: _Shared) -> Result | None:
        try:
            result = await self._ask(question, shared)
        finally:
            # Before the task is done: awaiting one that is done doesn't return to the event loop, and a request that
            # still met it here would join it again and again.
            del self._asked[question]
        if result is not None:
            self._known[question] = result
            while len(self._known) > MOST_KNOWN or sum(map(_size, self._known.items())) > LONGEST_KNOWN:
                self._known.popitem(last=False)
        return result


def _error(refused: ConstraintRefused) -> ConstraintError:
    return ConstraintError(refused.message, refused.path, unsupported=refused.unsupported)


def _size(known: tuple[_Question, Result]) -> int:
    question, result = known
    return len(question.text) + (len(result.text) if isinstance(result, LoweredConstraint) else 0)
