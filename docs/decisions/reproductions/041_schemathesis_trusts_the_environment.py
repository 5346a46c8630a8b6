"""Do Schemathesis' sessions take proxies and passwords from the environment, with no setting against it?"""

from dataclasses import fields

from schemathesis.config import ProjectConfig
from schemathesis.transport.requests import SameHostRedirectsSession
from verdict import report

settings = [field.name for field in fields(ProjectConfig) if "trust" in field.name or "netrc" in field.name]
trusting = SameHostRedirectsSession().trust_env
report(trusting and not settings, f"trust_env is {trusting} in its sessions; settings for it: {settings or 'none'}")
