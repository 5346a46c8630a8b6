"""Is a prompt answered otherwise after a request with the same prompt was cancelled half way?"""

import random

from openvino_genai import ContinuousBatchingPipeline
from pipelines import config, finish, pipeline, tensor, tokens
from verdict import report

PROMPT = tensor(*random.Random(3).choices(range(5, 200), k=250))
SCHEDULER = {"max_num_batched_tokens": 256, "enable_prefix_caching": True, "cache_size": 1}


def logprobs(pipe: ContinuousBatchingPipeline, id: int) -> tuple[list[int], list[float]]:
    (parts,) = finish(pipe, pipe.add_request(id, PROMPT, config(logprobs=1, ignore_eos=True)))
    return tokens(parts), [logprob for part in parts for logprob in part.generated_log_probs]


pipe = pipeline(scheduler=SCHEDULER)
# Sequences that take 20 tokens of each step, so that 236 of the prompt are computed in one.
others = [pipe.add_request(id, tensor(5 + id), config(max_new_tokens=500, ignore_eos=True)) for id in range(20)]
for _ in range(2):
    pipe.step()
cancelled = pipe.add_request(20, PROMPT, config())
pipe.step()
for handle in (cancelled, *others):
    handle.cancel()
for _ in range(2):
    pipe.step()
after, clean = logprobs(pipe, 21), logprobs(pipeline(scheduler=SCHEDULER), 0)
difference = max(abs(one - other) for one, other in zip(after[1], clean[1], strict=True))
same = "the same tokens" if after[0] == clean[0] else "other tokens"
report(difference > 0.05, f"it has {same}, whose logprobs differ by up to {difference:.2f}")
