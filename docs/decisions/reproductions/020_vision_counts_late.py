"""Is the length of a prompt with images unknown until its answer has ended?"""

import numpy
import openvino
from pipelines import TINY_VISION, config, finish, last_line, pipeline
from verdict import report

pipe = pipeline(TINY_VISION)
image = openvino.Tensor(numpy.zeros((28, 28, 3), numpy.uint8))
handle = pipe.add_request(0, "<ov_genai_image_0> x", [image], config(apply_chat_template=False))
pipe.step()
try:
    count = handle.get_perf_metrics().get_num_input_tokens()
except RuntimeError as error:
    finish(pipe, handle)
    count = handle.get_perf_metrics().get_num_input_tokens()
    report(True, f"while it runs: {last_line(error)} At its end: {count} tokens")
report(False, f"{count} tokens after one step")
