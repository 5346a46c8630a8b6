"""Does one bad grammar stop the other requests of a pipeline?"""

from openvino_genai import StructuredOutputConfig
from pipelines import config, encode, last_line, pipeline
from verdict import report

pipe, prompt = pipeline(), encode("hello")
healthy = pipe.add_request(0, prompt, config(max_new_tokens=500, ignore_eos=True))
pipe.step()
wrong = config()
wrong.structured_output_config = StructuredOutputConfig(grammar="root ::= nothing")
try:
    bad = pipe.add_request(1, prompt, wrong)
except RuntimeError:
    report(False, "add_request refuses a bad grammar")
raised = []
for step in range(3):
    if step == 2:
        bad.cancel()
    try:
        pipe.step()
    except RuntimeError as error:
        raised.append(last_line(error))
report(len(raised) == 3, f"{len(raised)} of 3 steps raised, the last one after the bad request was cancelled")
