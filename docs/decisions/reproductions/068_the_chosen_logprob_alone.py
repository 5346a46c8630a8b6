"""Does a pipeline that is asked for the five likeliest tokens tell one logprob for each token, and take no bias?"""

from openvino_genai import GenerationConfig
from pipelines import config, encode, finish, pipeline
from verdict import report

pipe = pipeline()
[outputs] = finish(pipe, pipe.add_request(0, encode("hello"), config(logprobs=5, max_new_tokens=3)))
logprobs = [logprob for part in outputs for logprob in part.generated_log_probs]
biases = [name for name in dir(GenerationConfig) if "bias" in name]
report(len(logprobs) == 3 and not biases, f"{len(logprobs)} logprobs for 3 tokens; settings with a bias: {biases}")
