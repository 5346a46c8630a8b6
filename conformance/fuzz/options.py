"""The options and checks of the layer `fuzz`."""

from dataclasses import dataclass
from importlib.util import find_spec

from specvino.conformance.installation import command

# Descriptions of the checks, Schemathesis' and ours, by their names in rule ids.
SAYS = {
    "requests": "Valid and invalid requests were generated from the document and sent.",
    "answers": "Every request is answered in time, and the server stays up.",
    "run": "The run itself has no errors.",
    "not-a-server-error": "No request causes a 5xx.",
    "status-code-conformance": "The status of an answer is documented.",
    "content-type-conformance": "The media type of an answer is documented.",
    "response-headers-conformance": "The headers of an answer are valid by the document.",
    "response-schema-conformance": "Answers and events of streams are valid by their schemas.",
    "negative-data-rejection": "A request that is invalid by the document is refused.",
    "positive-data-acceptance": "A request that is valid by the document is answered.",
    "missing-required-header": "A request without a required header is refused.",
    "unsupported-method": "An undocumented method is refused with 405.",
    "allow-header-conformance": "The header Allow lists the methods of a path.",
    "use-after-free": "A deleted object no longer exists.",
    "ensure-resource-availability": "A created object exists.",
    "ignored-auth": "A request without a key, or with a wrong one, is refused.",
    "object-level-authorization": "Objects of other users aren't accessible.",
    "error-code-conformance": "An error has a documented code, with the status and type of the code.",
    "stream-conformance": "The order of events follows the document's table, and no event is missing.",
    "second-judge": "JSON answers are valid by openapi-core, too.",
}


SEED = 20250101


# The largest number of random requests per operation, by profile.
MAX_EXAMPLES = {"core": 10, "full": 25}

# Rules for the run itself, which aren't checks of answers.
RUN_RULES = ("requests", "answers", "run")

# The names of the checks in Schemathesis' form.
CHECKS = tuple(name.replace("-", "_") for name in SAYS if name not in RUN_RULES)


def not_installed() -> str:
    """Returns why the layer can't run without its extra."""
    return f"the layer fuzz requires Schemathesis: {command('fuzz')}"


def is_installed() -> bool:
    """Returns whether Schemathesis is installed (extra `fuzz`)."""
    return find_spec("schemathesis") is not None


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run. `max_examples` is the largest number of random requests per operation, by default that of
    the profile. `include` are the checks to run, by default all; `exclude` are removed from them. Raises ValueError for
    an unknown check, or if no check is left."""

    seed: int = SEED
    max_examples: int | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in (*self.include, *self.exclude):
            if name not in CHECKS:
                raise ValueError(f"unknown check {name!r}; the checks are {', '.join(CHECKS)}")
        if not self.checks:
            raise ValueError("all included checks are excluded")

    @property
    def checks(self) -> tuple[str, ...]:
        """Returns the names of the checks that run."""
        return tuple(name for name in self.include or CHECKS if name not in self.exclude)

    @property
    def left_out(self) -> list[str]:
        return [name for name in CHECKS if name not in self.checks]

    def most(self, profile: str) -> int:
        """Returns the largest number of random requests per operation."""
        return MAX_EXAMPLES[profile] if self.max_examples is None else self.max_examples
