"""The server's side of the grammar process and the trial process."""

import asyncio
from collections import OrderedDict
from typing import NamedTuple

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar.structured_output import LoweredConstraint, constraint_json
from specvino.engine.openvino.messages.grammar import (
    ConstraintRefused,
    LoadDummyPipeline,
    Lower,
    Lowered,
    StartGrammarProcess,
    Trial,
    TrialPassed,
)
from specvino.engine.processes.request_reply import RequestReplyClient
from specvino.engine.request import Constraint, StructuralTag

# So many constraints are remembered, with what came of them; their texts may be together of so many characters.
MOST_KNOWN = 256
LONGEST_KNOWN = 16 << 20


class _Question(NamedTuple):
    """Is a constraint in the one shape in which it can be remembered and sent."""

    text: str
    structural: bool
    strict: bool


class GrammarClient:
    """Makes grammars of constraints. What only XGrammar can read is tried by another process, so that others needn't
    wait for that.

    What came of a constraint is remembered, unless that was EngineUnavailable: it says nothing of the constraint.
    """

    def __init__(self, path: str, deadline: float) -> None:
        self._known: OrderedDict[_Question, LoweredConstraint | ConstraintError] = OrderedDict()
        self._asked: dict[_Question, asyncio.Task[LoweredConstraint | ConstraintError]] = {}
        self._grammars = RequestReplyClient(
            "grammar",
            "specvino.engine.openvino.grammar_process",
            StartGrammarProcess(),
            Lowered | ConstraintRefused,
            deadline,
        )
        self._trials = RequestReplyClient(
            "trial",
            "specvino.engine.openvino.trial_process",
            LoadDummyPipeline(path),
            TrialPassed | ConstraintRefused,
            deadline,
        )

    @property
    def pids(self) -> dict[str, int | None]:
        """Returns the processes, None for one that was not needed yet or is being restarted."""
        return {"grammar": self._grammars.process.pid, "trial": self._trials.process.pid}

    async def check(self, constraint: Constraint) -> LoweredConstraint:
        """Returns the grammar of a constraint. Raises ConstraintError and EngineUnavailable."""
        question = _Question(constraint_json(constraint), isinstance(constraint, StructuralTag), constraint.strict)
        found = self._known.get(question)
        if found is None:
            # A task of its own: others may wait for it, too, when the first one goes away.
            task = self._asked.get(question)
            if task is None:
                task = self._asked[question] = asyncio.create_task(self._ask(question))
                task.add_done_callback(lambda done: self._settle(question, done))
            found = await asyncio.shield(task)
        else:
            self._known.move_to_end(question)
        if isinstance(found, ConstraintError):
            # A new one: an exception that is raised twice would collect the tracebacks of both.
            raise ConstraintError(str(found), found.path, unsupported=found.unsupported)
        return found

    async def close(self) -> None:
        await asyncio.gather(self._grammars.close(), self._trials.close())

    async def _ask(self, question: _Question) -> LoweredConstraint | ConstraintError:
        answer = await self._grammars.ask(lambda id: Lower(id, *question))
        if isinstance(answer, ConstraintRefused):
            return _error(answer)
        lowered: LoweredConstraint = answer.lowered
        if lowered.kind == "structural_tags_config":
            tried = await self._trials.ask(lambda id: Trial(id, lowered))
            if isinstance(tried, ConstraintRefused):
                return _error(tried)
        return lowered

    def _settle(self, question: _Question, done: asyncio.Task[LoweredConstraint | ConstraintError]) -> None:
        del self._asked[question]
        if done.cancelled() or done.exception() is not None:
            return
        self._known[question] = done.result()
        while len(self._known) > MOST_KNOWN or sum(map(_size, self._known.items())) > LONGEST_KNOWN:
            self._known.popitem(last=False)


def _error(refused: ConstraintRefused) -> ConstraintError:
    return ConstraintError(refused.message, refused.path, unsupported=refused.unsupported)


def _size(known: tuple[_Question, LoweredConstraint | ConstraintError]) -> int:
    question, result = known
    return len(question.text) + (len(result.text) if isinstance(result, LoweredConstraint) else 0)
