"""Are texts wrong with a draft model, where prompts don't fit into one step?"""

from openvino_genai import draft_model
from pipelines import PRECISE, TINY_TEXT, config, encode, finish, last_line, pipeline, tokens
from verdict import report

PROMPTS = [encode("The quick brown fox. " * (20 + 7 * number) + "count") for number in range(4)]


def texts(most: int) -> list[list[int]]:
    """Returns the tokens of greedy answers, by a pipeline that takes at most so many tokens a step."""
    pipe = pipeline(scheduler={"max_num_batched_tokens": most}, draft_model=draft_model(TINY_TEXT, "CPU", **PRECISE))
    handles = [
        pipe.add_request(id, prompt, config(num_assistant_tokens=5, max_new_tokens=40))
        for id, prompt in enumerate(PROMPTS)
    ]
    return [tokens(parts) for parts in finish(pipe, *handles)]


try:
    differing = sum(one != other for one, other in zip(texts(256), texts(2**20), strict=True))
except RuntimeError as error:
    report(True, last_line(error))
report(differing > 0, f"{differing} of {len(PROMPTS)} greedy texts change with the most tokens of a step")
