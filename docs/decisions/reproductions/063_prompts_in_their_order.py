"""Does a short prompt wait until a long one that came before it is computed?"""

import random

from pipelines import config, pipeline, tensor
from verdict import report

LONG = tensor(*random.Random(3).choices(range(5, 200), k=2000))
STEP = 256

pipe = pipeline(scheduler={"max_num_batched_tokens": STEP, "enable_prefix_caching": True, "cache_size": 1})
long = pipe.add_request(0, LONG, config(ignore_eos=True))
pipe.step()
short = pipe.add_request(1, tensor(5, 6, 7), config(ignore_eos=True))
steps = 0
while not short.can_read():
    pipe.step()
    steps += 1
report(steps > 2, f"it has its first token in step {steps} after it came; a step computes {STEP} of the 2,000 tokens")
