"""Are logprobs wrong where the logprobs of several prompts are wanted at a time?"""

from pipelines import config, encode, finish, pipeline
from verdict import report

PROMPTS = [encode("hello " * count) for count in (10, 30, 60)] * 2
pipe = pipeline()


def logprobs(ids: range) -> list[list[float]]:
    """Returns all logprobs of requests that run at the same time."""
    wanted = config(echo=True, logprobs=1)
    handles = [pipe.add_request(id, PROMPTS[id % len(PROMPTS)], wanted) for id in ids]
    return [[each for part in parts for each in part.generated_log_probs] for parts in finish(pipe, *handles)]


count = len(PROMPTS)
alone = [logprobs(range(id, id + 1))[0] for id in range(count)]
together = logprobs(range(count, 2 * count))
apart = [
    max(abs(one - other) for one, other in zip(first, second, strict=True))
    for first, second in zip(alone, together, strict=True)
]
report(max(apart) > 1, f"together, they differ by up to {max(apart):.1f} from what they are alone")
