"""The options and the checks of a run with generated requests."""

from dataclasses import dataclass
from importlib.util import find_spec

SAYS = {
    "requests": "Requests were made of the document, valid and invalid, and sent.",
    "answers": "Every request is answered in time, and the server stays up.",
    "run": "The run itself goes well.",
    "not-a-server-error": "No request makes the server fail with a 5xx.",
    "status-code-conformance": "Only statuses that the document lists are answered.",
    "content-type-conformance": "The media type of an answer is one that the document lists.",
    "response-headers-conformance": "The headers of an answer are what the document says.",
    "response-schema-conformance": "An answer, and each event of a stream, fits its schema.",
    "negative-data-rejection": "A request that the document forbids is refused.",
    "positive-data-acceptance": "A request that the document allows is answered.",
    "missing-required-header": "A request without a header that must be there is refused.",
    "unsupported-method": "A method that a path doesn't have is refused with 405.",
    "allow-header-conformance": "The header Allow names the methods that a path has.",
    "use-after-free": "What was deleted is gone.",
    "ensure-resource-availability": "What was made is there.",
    "ignored-auth": "A request without a key, or with a wrong one, is refused.",
    "object-level-authorization": "Nobody reads what somebody else made.",
    "error-code-conformance": "An error's code is one of the API's, with the code's status and type.",
    "stream-conformance": "Events come in the order of the protocol's table, and none is missing.",
    "second-judge": "A JSON answer fits its schema by openapi-core, too.",
}


SEED = 20250101

NOT_INSTALLED = "the layer fuzz needs Schemathesis: pip install 'specvino[fuzz]'"

# How many random requests a profile has for each operation.
MAX_EXAMPLES = {"core": 10, "full": 25}

# Rules of the layer that are about the run, and no checks of answers.
OF_THE_RUN = ("requests", "answers", "run")

# The checks by the names that Schemathesis has them under; those that are ours are named likewise.
CHECKS = tuple(name.replace("-", "_") for name in SAYS if name not in OF_THE_RUN)


def is_installed() -> bool:
    """Returns whether Schemathesis is installed, which generates the requests of the layer: the extra `fuzz` has it."""
    return find_spec("schemathesis") is not None


@dataclass(frozen=True, slots=True)
class Options:
    """`max_examples` bounds the random requests of each operation; without it the profile says how many. `include` are
    the checks that are made, without it all but those of `exclude`. Raises ValueError for a check that isn't there."""

    seed: int = SEED
    max_examples: int | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in (*self.include, *self.exclude):
            if name not in CHECKS:
                raise ValueError(f"there is no check {name!r}; the checks are {', '.join(CHECKS)}")
        if not self.checks:
            raise ValueError("the checks that are included are all excluded")

    @property
    def checks(self) -> tuple[str, ...]:
        """Returns the names of the checks that are made."""
        return tuple(name for name in self.include or CHECKS if name not in self.exclude)

    @property
    def left_out(self) -> list[str]:
        return [name for name in CHECKS if name not in self.checks]

    def most(self, profile: str) -> int:
        """Returns how many random requests each operation gets."""
        return MAX_EXAMPLES[profile] if self.max_examples is None else self.max_examples
