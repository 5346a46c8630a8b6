"""Does a rejected draft break a pipeline that has a prefix cache?"""

from openvino_genai import draft_model
from pipelines import PRECISE, TINY_TEXT, config, encode, failure, pipeline
from verdict import report

prompt, error = encode("hello"), ""
for seed in range(5):
    pipe = pipeline(scheduler={"enable_prefix_caching": True}, draft_model=draft_model(TINY_TEXT, "CPU", **PRECISE))
    wild = config(num_assistant_tokens=5, do_sample=True, temperature=3.0, rng_seed=seed, max_new_tokens=60)
    error = failure(pipe, prompt, wild)
    if error:
        break
report(bool(error), error or "five drawn texts ended well")
