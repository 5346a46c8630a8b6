# /// script
# requires-python = ">=3.11"
# dependencies = ["instructor>=1.17"]
# ///
"""instructor's ways to a structured output. Prints a JSON object a line: what came of them."""

import json
import sys

import instructor
from openai import OpenAI
from place import Place
from pydantic import field_validator

(url,) = sys.argv[1:]
MODES = (
    instructor.Mode.TOOLS,
    instructor.Mode.TOOLS_STRICT,
    instructor.Mode.JSON_SCHEMA,
    instructor.Mode.RESPONSES_TOOLS,
)
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Where?"}], "temperature": 0}


def shown(**values):
    print(json.dumps(values), flush=True)


for mode in MODES:
    refused = []

    class Reviewed(Place):
        """A place that is refused once."""

        @field_validator("city")
        @classmethod
        def another_one(cls, city: str, refused=refused) -> str:
            if not refused:
                refused.append(city)
                raise ValueError("Think again.")
            return city

    with OpenAI(base_url=url, api_key="none", max_retries=0) as openai:
        client = instructor.from_openai(openai, mode=mode)
        answer = client.create(response_model=Place, max_retries=0, **ASKED)
        shown(way=mode.name, job="object", object=answer.model_dump())
        *_, answer = client.create_partial(response_model=Place, max_retries=0, **ASKED)
        shown(way=mode.name, job="stream", object=answer.model_dump())
        answer = client.create(response_model=Reviewed, max_retries=1, **ASKED)
        shown(way=mode.name, job="second turn", object=answer.model_dump(), refused=refused)
