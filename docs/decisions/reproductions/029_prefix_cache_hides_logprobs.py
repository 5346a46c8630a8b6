"""Does a prompt that lies in the prefix cache come back without its logprobs?"""

from pipelines import config, encode, finish, pipeline
from verdict import report

pipe, prompt = pipeline(scheduler={"enable_prefix_caching": True}), encode("hello " * 60)
counts = []
for id in range(2):
    [outputs] = finish(pipe, pipe.add_request(id, prompt, config(echo=True, logprobs=1, max_new_tokens=2)))
    counts.append(sum(len(part.generated_log_probs) for part in outputs))
report(counts[1] < counts[0], f"{counts[0]} logprobs at first, {counts[1]} for the same prompt again")
