"""Ten minutes of honest and hostile clients, killed and frozen processes, beside a server of its own.

`plan.py` says what comes when, `honest.py` and `hostile/` who asks, `faults.py` what breaks; `ends.py`, `census.py` and
`latency.py` judge, and `report.py` tells.
"""
