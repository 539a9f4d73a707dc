"""When two addresses are the same to a task."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit, urlunsplit

SECOND_LEVEL = {"ac", "co", "com", "edu", "gov", "go", "mil", "ne", "net", "or", "org"}
"""Labels that make one suffix with a country's ("co.uk", "com.sg")."""


def same_url(first: str | None, second: str | None) -> bool:
    """Whether two addresses name one page.

    Without a scheme ``http`` is meant; "www" alone, the suffix of the site's name ("com",
    "com.sg"), its port and the path "/" do not count; the rest must be equal.
    """
    if first is None or second is None:
        return first == second
    return _plain(first) == _plain(second)


def without_query(url: str) -> str:
    """The address without what follows its question mark; a fragment stays."""
    try:
        return urlunsplit(urlsplit(url)._replace(query=""))
    except ValueError:
        return url


def _plain(url: str) -> str:
    if not re.match(r"[a-zA-Z][a-zA-Z0-9+\-.]*://", url):
        url = f"http://{url}"
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return url
    path = "" if parts.path == "/" else parts.path
    return urlunsplit((parts.scheme.lower(), _site(host), path, parts.query, parts.fragment))


def _site(host: str) -> str:
    """A host's name without its suffix, and without "www" where that is the whole rest."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        return host
    labels = host.rstrip(".").split(".")
    if len(labels) == 1:
        return host
    suffix = 1
    if len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in SECOND_LEVEL:
        suffix = 2
    labels = labels[:-suffix]
    return ".".join(labels[1:] if labels[0] == "www" and len(labels) == 2 else labels)
