"""Does the pipeline draw nonsense with a temperature that is nearly 0?"""

from pipelines import config, encode, finish, pipeline, tokens
from verdict import report

pipe, prompt = pipeline(), encode("hello")
greedy = tokens(finish(pipe, pipe.add_request(0, prompt, config()))[0])
drawn = tokens(finish(pipe, pipe.add_request(1, prompt, config(do_sample=True, temperature=1e-40)))[0])
same = sum(one == other for one, other in zip(greedy, drawn, strict=False))
report(drawn != greedy, f"with temperature 1e-40 {same} of {len(greedy)} tokens are the likeliest ones")
