"""Wrong compactions."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from reference_server.http import Call
from reference_server.items import Item, Items
from reference_server.responses import Responses


class CompactsWithoutSummary(Responses):
    """The output of a compaction is the user's messages alone."""

    breaks = {"compact/compactions/users-and-summary", "compact/compactions/continued"}
    faults = 2

    def compacted(self, taken: Sequence[Item]) -> list[Item]:
        return super().compacted(taken)[:-1]


class CompactsWithAnswers(Responses):
    """The output of a compaction has the assistant's messages, too."""

    breaks = {"compact/compactions/users-and-summary"}

    def compacted(self, taken: Sequence[Item]) -> list[Item]:
        return [*taken, super().compacted(taken)[-1]]


class CompactsWithoutWhatItContinues(Responses):
    """A conversation is compacted without looking for the response to continue."""

    breaks = {"compact/compactions/nothing-stored"}

    def compact(self, call: Call) -> dict[str, Any]:
        call.body.pop("previous_response_id", None)
        call.body.setdefault("input", "Hello")
        return super().compact(call)


class CompactionsWithoutTime(Responses):
    """A compaction has no created_at."""

    breaks = {"compact/rules/answer-shape"}

    def compact(self, call: Call) -> dict[str, Any]:
        compaction = super().compact(call)
        del compaction["created_at"]
        return compaction


class DropsCompactions(Items):
    """Compactions aren't a part of the prompt, whoever made them."""

    breaks = {"compact/compactions/continued", "responses/input/foreign-compaction"}
    faults = 2

    def item_turns(self, items: Iterable[Item], param: str) -> Iterator[tuple[str, str]]:
        return super().item_turns([item for item in items if item["type"] != "compaction"], param)


class CompactsUnderAnotherName(Responses):
    """The output of a compaction is called items."""

    breaks = {"compact/capabilities/endpoint", "compact/rules/answer-shape"}

    def compact(self, call: Call) -> dict[str, Any]:
        compaction = super().compact(call)
        return {**{name: compaction[name] for name in compaction if name != "output"}, "items": compaction["output"]}


class CompactsWithoutModel(Responses):
    """A compaction without a model is made by the first one."""

    breaks = {"compact/compactions/model-missing"}

    def compact(self, call: Call) -> dict[str, Any]:
        call.body["model"] = call.body.get("model") or self.server.model
        return super().compact(call)
