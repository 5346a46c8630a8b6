# /// script
# requires-python = ">=3.11,<3.13"
# dependencies = ["aider-chat>=0.86.2"]
# ///
"""Two turns of aider on a file: the model changes it, and is asked about it."""

import contextlib
import json
import os
import sys
from pathlib import Path

url, file, *turns = sys.argv[1:]

# It keeps its settings in the user's folder, and asks GitHub about models that aren't described there.
home = Path.cwd()
os.environ |= {"HOME": str(home), "OPENAI_API_BASE": url, "OPENAI_API_KEY": "none", "LITELLM_LOCAL_MODEL_COST_MAP": "1"}
limits = {"max_input_tokens": 131_072, "litellm_provider": "openai", "mode": "chat"}
(home / ".aider.model.metadata.json").write_text(json.dumps({"openai/m": limits}))

from aider.main import main

OPTIONS = (
    "--model openai/m --edit-format diff --yes-always --no-git --no-pretty "
    "--no-check-update --no-show-release-notes --no-show-model-warnings --analytics-disable --restore-chat-history"
)
for turn in turns:
    with contextlib.redirect_stdout(sys.stderr):
        main([*OPTIONS.split(), "--message", turn, file])
    print(json.dumps({"file": Path(file).read_text()}), flush=True)
