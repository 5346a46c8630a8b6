"""Does a prompt that lies in the prefix cache come back without its logprobs, or do prompts that are scored together
get wrong ones?"""

from pipelines import config, encode, finish, pipeline
from verdict import report

WANTED = config(echo=True, logprobs=1, max_new_tokens=2)

pipe, prompt = pipeline(scheduler={"enable_prefix_caching": True}), encode("hello " * 60)
counts = []
for id in range(2):
    [outputs] = finish(pipe, pipe.add_request(id, prompt, WANTED))
    counts.append(sum(len(part.generated_log_probs) for part in outputs))

PROMPTS = [encode("hello " * count) for count in (10, 30, 60)] * 2
uncached = pipeline()


def logprobs(ids: range) -> list[list[float]]:
    """Returns all logprobs of requests that run at the same time."""
    handles = [uncached.add_request(id, PROMPTS[id % len(PROMPTS)], config(echo=True, logprobs=1)) for id in ids]
    return [[each for part in parts for each in part.generated_log_probs] for parts in finish(uncached, *handles)]


count = len(PROMPTS)
alone = [logprobs(range(id, id + 1))[0] for id in range(count)]
together = logprobs(range(count, 2 * count))
apart = max(
    abs(one - other)
    for first, second in zip(alone, together, strict=True)
    for one, other in zip(first, second, strict=True)
)
report(
    counts[1] < counts[0] or apart > 1,
    f"{counts[0]} logprobs at first, {counts[1]} for the same prompt again; together, prompts' logprobs differ by up "
    f"to {apart:.1f} from what they are alone",
)
