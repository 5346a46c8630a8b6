"""Do a repeated prompt's logprobs change where it fills its blocks of the prefix cache? With the default model, pulled
if it isn't there: the tiny ones are sure of what they say."""

from pipelines import config, finish, pipeline, tensor
from verdict import report

from specvino.engine.models import resolve

pipe = pipeline(str(resolve("smollm2").path), scheduler={"enable_prefix_caching": True})
prompt = tensor(*(1000 + number * 4801 % 19000 for number in range(64)))
sums = []
for id in range(4):
    [outputs] = finish(pipe, pipe.add_request(id, prompt, config(logprobs=1, ignore_eos=True)))
    sums.append(round(sum(sum(part.generated_log_probs) for part in outputs), 3))
report(len(set(sums[1:])) > 1, f"the logprobs of the same prompt's answers add up to {sums}")
