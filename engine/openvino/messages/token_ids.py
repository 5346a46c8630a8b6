"""How token ids of prompts travel: as bytes, which the server only counts and forwards. Its own module, since what
`messages.preprocess` imports takes a worker a tenth of its start."""

TOKEN_ID_BYTES = 8
"""An int64, in the machine's order."""
