"""Cases and capabilities as YAML, in a folder for each endpoint; the plan and the run of the cases."""
