"""Does a pipeline with prompt lookup end before `min_new_tokens`?"""

from openvino_genai import ContinuousBatchingPipeline, SchedulerConfig, Tokenizer
from pipelines import PRECISE, TINY_TEXT, config, encode, finish, tokens
from verdict import report

LEAST = 30

pipe = ContinuousBatchingPipeline(TINY_TEXT, SchedulerConfig(), "CPU", PRECISE | {"prompt_lookup": True})
asked = config(max_new_tokens=60, min_new_tokens=LEAST, num_assistant_tokens=4, max_ngram_size=3)
asked.set_eos_token_id(Tokenizer(TINY_TEXT).get_eos_token_id())
[outputs] = finish(pipe, pipe.add_request(0, encode("hello"), asked))
made = tokens(outputs)
report(len(made) < LEAST, f"{len(made)} tokens, though {LEAST} are the least")
