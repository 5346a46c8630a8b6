"""The server's side of the grammars process and the trials process."""

import asyncio
from collections import OrderedDict

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar.structured_output import Form
from specvino.engine.openvino.messages.grammar import Begin, LoadStub, Lower, Lowered, Refused, Sound, Try
from specvino.engine.processes.asking import Asking
from specvino.engine.request import Constraint, StructuralTag

# So many constraints are remembered, with what came of them; their texts may be together of so many characters.
MOST_KNOWN = 256
LONGEST_KNOWN = 16 << 20


class GrammarClient:
    """Makes grammars of constraints. What only XGrammar can read is tried by another process, so that others needn't
    wait for that.

    What came of a constraint is remembered, unless that was EngineUnavailable: it says nothing of the constraint.
    """

    def __init__(self, path: str, deadline: float) -> None:
        self._known: OrderedDict[Constraint, Form | ConstraintError] = OrderedDict()
        self._asked: dict[Constraint, asyncio.Task[Form | ConstraintError]] = {}
        self._grammars = Asking(
            "grammar", "specvino.engine.openvino.grammar_process", Begin(), Lowered | Refused, deadline
        )
        self._trials = Asking(
            "trial", "specvino.engine.openvino.trial_process", LoadStub(path), Sound | Refused, deadline
        )

    @property
    def pids(self) -> dict[str, int | None]:
        """The processes, None for one that was not needed yet or is being restarted."""
        return {"grammars": self._grammars.process.pid, "trials": self._trials.process.pid}

    async def check(self, constraint: Constraint) -> Form:
        """Raises ConstraintError and EngineUnavailable."""
        found = self._known.get(constraint)
        if found is None:
            # A task of its own: others may wait for it, too, when the first one goes away.
            task = self._asked.get(constraint)
            if task is None:
                task = self._asked[constraint] = asyncio.create_task(self._ask(constraint))
                task.add_done_callback(lambda done: self._settle(constraint, done))
            found = await asyncio.shield(task)
        else:
            self._known.move_to_end(constraint)
        if isinstance(found, ConstraintError):
            # A new one: an exception that is raised twice would collect the tracebacks of both.
            raise ConstraintError(str(found), found.path, unsupported=found.unsupported)
        return found

    async def close(self) -> None:
        await asyncio.gather(self._grammars.close(), self._trials.close())

    async def _ask(self, constraint: Constraint) -> Form | ConstraintError:
        structural = isinstance(constraint, StructuralTag)
        text = constraint.tag if isinstance(constraint, StructuralTag) else constraint.schema
        lowered = await self._grammars.ask(lambda id: Lower(id, text, structural, constraint.strict))
        if isinstance(lowered, Refused):
            return _error(lowered)
        form: Form = lowered.form
        if form.kind == "structural_tags_config":
            tried = await self._trials.ask(lambda id: Try(id, form))
            if isinstance(tried, Refused):
                return _error(tried)
        return form

    def _settle(self, constraint: Constraint, done: asyncio.Task[Form | ConstraintError]) -> None:
        del self._asked[constraint]
        if done.cancelled() or done.exception() is not None:
            return
        self._known[constraint] = done.result()
        while len(self._known) > MOST_KNOWN or sum(map(_size, self._known.items())) > LONGEST_KNOWN:
            self._known.popitem(last=False)


def _error(refused: Refused) -> ConstraintError:
    return ConstraintError(refused.message, refused.path, unsupported=refused.unsupported)


def _size(known: tuple[Constraint, Form | ConstraintError]) -> int:
    constraint, result = known
    text = constraint.tag if isinstance(constraint, StructuralTag) else constraint.schema
    return len(text) + (len(result.text) if isinstance(result, Form) else 0)
