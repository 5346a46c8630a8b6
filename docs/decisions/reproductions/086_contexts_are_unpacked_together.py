"""Does a step unpack the keys and values of all of its prompts at a time, also those in the prefix cache?"""

import psutil
from pipelines import config, finish, pipeline, tensor
from verdict import report

LENGTH, PROMPTS = 2_050, 64
PROMPT = tensor(*(5 + index % 200 for index in range(LENGTH)))
# Keys and values of a layer of the tiny model: 32 elements each, of four bytes.
UNPACKED = LENGTH * 2 * 32 * 4

pipe = pipeline(scheduler={"max_num_batched_tokens": 256, "enable_prefix_caching": True, "cache_size": 1})
two = config(max_new_tokens=2, ignore_eos=True)
finish(pipe, pipe.add_request(0, PROMPT, two))
before = psutil.Process().memory_info().rss
finish(pipe, *(pipe.add_request(id, PROMPT, two) for id in range(1, 1 + PROMPTS)))
grown = (psutil.Process().memory_info().rss - before) / UNPACKED
report(grown > PROMPTS / 2, f"{PROMPTS} prompts take {grown:.0f} times the memory of one")
