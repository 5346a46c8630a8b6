"""Headers of the pages for browsers: what they show can't run as a script, and they load nothing from other hosts."""

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
    """Returns the headers of a page. Directives given here replace the defaults, which allow only files of this server,
    and no inline script or style."""
    policy = "; ".join(f"{name} {value}" for name, value in {**_POLICY, **directives}.items())
    return {**NOSNIFF, "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"}
