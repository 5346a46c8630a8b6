"""Does a step raise with prompt lookup, where the cache is too small for all requests?"""

from pipelines import config, encode, finish, last_line, pipeline, tokens
from verdict import report

pipe = pipeline(scheduler={"num_kv_blocks": 30, "enable_prefix_caching": True}, prompt_lookup=True)
handles = [
    pipe.add_request(
        id,
        encode(f"hello {id} " * 40),
        config(num_assistant_tokens=5, max_ngram_size=3, max_new_tokens=200, ignore_eos=True),
    )
    for id in range(8)
]
try:
    outputs = finish(pipe, *handles, steps=3000)
except RuntimeError as error:
    report(True, last_line(error))
else:
    short = sum(len(tokens(parts)) != 200 for parts in outputs)
    report(short > 0, f"{short} of {len(handles)} requests lack tokens")
