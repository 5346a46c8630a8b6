"""Do stop strings break a pipeline that searches with beams and has a prefix cache?"""

from pipelines import config, encode, failure, pipeline
from verdict import report

pipe, prompt = pipeline(scheduler={"enable_prefix_caching": True}), encode("hello")
search = {"num_beams": 3, "num_return_sequences": 2, "max_new_tokens": 30}
error = next(
    (
        error
        for id in range(4)
        if (error := failure(pipe, prompt, config(stop_strings={" can", "never"}, **search), id))
    ),
    "",
)
report(bool(error), error or "four searches ended well")
