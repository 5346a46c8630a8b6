"""The options and the checks of a run with generated requests."""

from dataclasses import dataclass
from importlib.util import find_spec

# The texts of the checks, by their names in rule ids: Schemathesis' own checks and ours.
SAYS = {
    "requests": "Valid and invalid requests were generated from the document and sent.",
    "answers": "Every request is answered in time, and the server stays up.",
    "run": "The run itself has no errors.",
    "not-a-server-error": "No request makes the server fail with a 5xx.",
    "status-code-conformance": "Answers have documented statuses only.",
    "content-type-conformance": "The media type of an answer is documented.",
    "response-headers-conformance": "The headers of an answer fit the document.",
    "response-schema-conformance": "An answer, and each event of a stream, fits its schema.",
    "negative-data-rejection": "A request that the document doesn't allow is refused.",
    "positive-data-acceptance": "A request that the document allows is answered.",
    "missing-required-header": "A request without a required header is refused.",
    "unsupported-method": "A method that a path doesn't have is refused with 405.",
    "allow-header-conformance": "The header Allow lists the methods of a path.",
    "use-after-free": "A deleted object no longer exists.",
    "ensure-resource-availability": "A created object exists.",
    "ignored-auth": "A request without a key, or with a wrong one, is refused.",
    "object-level-authorization": "Nobody can read objects of another user.",
    "error-code-conformance": "An error's code is documented, and has the code's status and type.",
    "stream-conformance": "Events come in the order of the protocol's table, and none is missing.",
    "second-judge": "A JSON answer fits its schema by openapi-core, too.",
}


SEED = 20250101

NOT_INSTALLED = "the layer fuzz needs Schemathesis: pip install 'specvino[fuzz]'"

# The number of random requests for each operation, by profile.
MAX_EXAMPLES = {"core": 10, "full": 25}

# Rules of the layer about the run, which aren't checks of answers.
OF_THE_RUN = ("requests", "answers", "run")

# The checks by Schemathesis' names; ours are named likewise.
CHECKS = tuple(name.replace("-", "_") for name in SAYS if name not in OF_THE_RUN)


def is_installed() -> bool:
    """Returns whether Schemathesis, which generates the requests, is installed; the extra `fuzz` installs it."""
    return find_spec("schemathesis") is not None


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run with generated requests. `max_examples` bounds the random requests of each operation; by
    default the profile does. `include` are the checks that run, by default all but those of `exclude`. Raises
    ValueError for an unknown check."""

    seed: int = SEED
    max_examples: int | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in (*self.include, *self.exclude):
            if name not in CHECKS:
                raise ValueError(f"there is no check {name!r}; the checks are {', '.join(CHECKS)}")
        if not self.checks:
            raise ValueError("the included checks are all excluded")

    @property
    def checks(self) -> tuple[str, ...]:
        """Returns the names of the checks that run."""
        return tuple(name for name in self.include or CHECKS if name not in self.exclude)

    @property
    def left_out(self) -> list[str]:
        return [name for name in CHECKS if name not in self.checks]

    def most(self, profile: str) -> int:
        """Returns the number of random requests for each operation."""
        return MAX_EXAMPLES[profile] if self.max_examples is None else self.max_examples
