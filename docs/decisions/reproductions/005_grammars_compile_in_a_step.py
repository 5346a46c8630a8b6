"""Does the pipeline compile a grammar within a step, where every other request waits?"""

import time

from openvino_genai import StructuredOutputConfig
from pipelines import config, encode, finish, pipeline
from verdict import report

# Many places where most tokens fit, each of which takes its time.
GRAMMAR = 'root ::= "\\"" [a-zA-Z0-9 .,]{0,800} "\\""\n'

pipe, prompt = pipeline(), encode("hello")
steps = []
for id in range(2):
    request = config(max_new_tokens=2)
    request.structured_output_config = StructuredOutputConfig(grammar=GRAMMAR)
    handle = pipe.add_request(id, prompt, request)
    begin = time.thread_time()
    pipe.step()
    steps.append(time.thread_time() - begin)
    finish(pipe, handle)
report(
    steps[0] > 3 * steps[1],
    f"the first step with a grammar took {steps[0] * 1000:.0f} ms, with the same one again {steps[1] * 1000:.0f} ms",
)
