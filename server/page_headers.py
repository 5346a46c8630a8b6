"""Headers of the pages for browsers, by which nothing that they show can become a script or lead to another host."""

from collections.abc import Mapping

NOSNIFF = {"X-Content-Type-Options": "nosniff"}

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}


def page_headers(directives: Mapping[str, str]) -> dict[str, str]:
    """Returns the headers of a page whose policy differs in these directives: files of this server only, and no script
    or style in the page itself, are the others."""
    policy = "; ".join(f"{name} {value}" for name, value in {**_POLICY, **directives}.items())
    return {**NOSNIFF, "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"}
