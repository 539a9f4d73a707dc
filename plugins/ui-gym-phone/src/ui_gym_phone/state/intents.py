"""Intents: which activity answers what an app or the shell asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from ui_gym_phone import data
from ui_gym_phone.state import alarms, calling

if TYPE_CHECKING:
    from ui_gym_phone.state.packages import Package
    from ui_gym_phone.state.phone import Phone

ACTION = "android.intent.action."
CATEGORY = "android.intent.category."
EXTRA_ALARM = "android.intent.extra.alarm."

SETTINGS = "com.android.settings"
MESSAGING = "com.android.messaging"
FILES = "com.android.documentsui"

_TABLES = data.table("intents")
SETTINGS_PAGES: Mapping[str, str] = _TABLES["settings"]
"""Actions of `android.provider.Settings`, without ``android.settings.``, and their pages."""

_CONVERSATION = ".ConversationActivity"


@dataclass
class Intent:
    """What is asked for: Android's fields. `component` is (package, class)."""

    action: str = ""
    data: str = ""
    type: str = ""
    categories: tuple[str, ...] = ()
    package: str = ""
    component: tuple[str, str] | None = None
    flags: int = 0
    extras: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """As `am start` tells it: ``Intent { act=... dat=... cmp=p/.A }``."""
        parts = [f"act={self.action}"] if self.action else []
        if self.categories:
            parts.append(f"cat=[{','.join(self.categories)}]")
        if self.data:
            parts.append(f"dat={_shortened(self.data)}")
        if self.type:
            parts.append(f"typ={self.type}")
        if self.flags:
            parts.append(f"flg=0x{self.flags:x}")
        if self.package:
            parts.append(f"pkg={self.package}")
        if self.component:
            parts.append(f"cmp={short_component(*self.component)}")
        if self.extras:
            parts.append("(has extras)")
        return "Intent { " + "".join(p + " " for p in parts) + "}"


@dataclass(frozen=True)
class IntentTarget:
    """The activity that answers, and what it is told beside the intent's own extras."""

    package: str
    cls: str
    extras: dict[str, Any]


def short_component(package: str, cls: str) -> str:
    """``p/.A`` for a class within its package."""
    return f"{package}/{cls[len(package) :] if cls.startswith(package + '.') else cls}"


def home(intent: Intent) -> bool:
    """Whether it asks for the home screen."""
    return CATEGORY + "HOME" in intent.categories


def resolve(phone: Phone, intent: Intent) -> IntentTarget | None:
    """Which installed, enabled activity answers an intent; None if none does.

    An app's activity that shows just what is asked for (a conversation, a contact, an editor) is
    taken where the app declares it, and its main one elsewhere. Extras that follow from the data:
    ``url`` (http), ``number`` and ``body`` (sms, tel), ``id`` (content), ``path`` (file),
    ``package`` (package, market).
    """
    if intent.component is not None:
        package, cls = intent.component
        found = phone.packages.get(package)
        name = "" if found is None else _declared(found, cls)
        return (
            IntentTarget(package, name, told(intent)) if found and found.enabled and name else None
        )
    package, cls = _answering(intent)
    if not package or (intent.package and intent.package != package):
        return None
    found = phone.packages.get(package)
    if found is None or not found.enabled or not found.launchable:
        return None
    return IntentTarget(found.name, _declared(found, cls) or found.main, told(intent))


def start(phone: Phone, intent: Intent, *, fresh: bool = False) -> IntentTarget | None:
    """Open what answers an intent, as `startActivity` does; None if nothing does."""
    target = resolve(phone, intent)
    if target is None:
        return None
    if intent.action == ACTION + "SET_ALARM":
        _set_alarm(phone, intent.extras)
        if str(intent.extras.get(EXTRA_ALARM + "SKIP_UI", "")).lower() == "true":
            return target
    if intent.action == ACTION + "CALL" and target.extras.get("number"):
        calling.dial(phone, str(target.extras["number"]))
        return target
    phone.start(target.package, target.cls, target.extras, fresh=fresh)
    return target


def told(intent: Intent) -> dict[str, Any]:
    """An activity's extras: the intent's own, and those that follow from its action and data."""
    extras = dict(intent.extras)
    if intent.action not in ("", ACTION + "MAIN"):
        extras["action"] = intent.action
    scheme, _, rest = intent.data.partition(":")
    scheme = scheme.lower()
    if scheme in ("http", "https"):
        extras["url"] = intent.data
    elif scheme in ("sms", "smsto", "mmsto", "tel"):
        number, _, query = rest.partition("?")
        extras["number"] = unquote(number.lstrip("/"))
        body = parse_qs(query).get("body") or [intent.extras.get("sms_body", "")]
        if scheme != "tel" and body[0]:
            extras["body"] = body[0]
    elif scheme == "package":
        extras["package"] = rest
    elif scheme == "market":
        extras["package"] = (parse_qs(rest.partition("?")[2]).get("id") or [""])[0]
    elif scheme == "file":
        extras["path"] = unquote(rest.removeprefix("//"))
    elif scheme == "content":
        last = intent.data.rstrip("/").rpartition("/")[2]
        if last.isdecimal() and len(last) < 19:
            extras["id"] = int(last)
    if "android.provider.extra.APP_PACKAGE" in extras:
        extras["package"] = extras["android.provider.extra.APP_PACKAGE"]
    if intent.action == ACTION + "SEND" and "android.intent.extra.TEXT" in extras:
        extras["body"] = extras["android.intent.extra.TEXT"]
    if intent.action == ACTION + "WEB_SEARCH" and "query" in extras:
        extras["url"] = extras["query"]
    return extras


def _answering(intent: Intent) -> tuple[str, str]:
    """(package, class) that a free intent is for; an empty class is the main one."""
    action = intent.action
    if action.startswith("android.settings."):
        page = SETTINGS_PAGES.get(action[len("android.settings.") :], "")
        return (SETTINGS, page) if page else ("", "")
    if action in _TABLES["actions"]:
        package, cls = _TABLES["actions"][action]
        return package, cls
    for category in intent.categories:
        package = _TABLES["categories"].get(category.removeprefix(CATEGORY))
        if package:
            return package, ""
    if action in (ACTION + "MAIN", "") and intent.package and not intent.data:
        return intent.package, ""
    package = _for_data(intent.data) or _TABLES["types"].get(intent.type, "")
    if not package and intent.type.startswith("image/"):
        package = FILES
    if action in (ACTION + "INSERT", ACTION + "INSERT_OR_EDIT", ACTION + "EDIT"):
        return package, _TABLES["editors"].get(package, "")
    if package == MESSAGING and intent.data:
        return package, _CONVERSATION
    extra, cls = _TABLES["details"].get(package, ("", ""))
    return package, cls if told(intent).get(extra) else ""


def _for_data(data: str) -> str:
    try:
        parts = urlsplit(data)
    except ValueError:
        return ""
    if parts.scheme == "content":
        return str(_TABLES["authorities"].get(parts.netloc, ""))
    if parts.scheme == "file":
        return FILES
    return str(_TABLES["schemes"].get(parts.scheme, ""))


def _declared(package: Package, cls: str) -> str:
    """How a package calls one of its activities; empty where it has none of this name."""
    if not cls:
        return ""
    whole = package.component(cls)
    known = (package.main, *package.activities)
    return next((name for name in known if package.component(name) == whole), "")


def _set_alarm(phone: Phone, extras: dict[str, Any]) -> None:
    try:
        hour = int(extras[EXTRA_ALARM + "HOUR"])
        minute = int(extras.get(EXTRA_ALARM + "MINUTES", 0))
    except (KeyError, ValueError):
        return  # without a time, the Clock only opens
    if 0 <= hour < 24 and 0 <= minute < 60:
        alarms.add(phone, hour, minute, str(extras.get(EXTRA_ALARM + "MESSAGE", "")))


def _shortened(data: str) -> str:
    """Data as Android logs it: what is private (a number, a path's end) is left out."""
    scheme, _, rest = data.partition(":")
    if scheme in ("tel", "sms", "smsto", "mailto"):
        return f"{scheme}:xxxxxxxxxx"
    if scheme in ("http", "https") and rest.count("/") > 2:
        return "/".join(data.split("/")[:3]) + "/..."
    return data
