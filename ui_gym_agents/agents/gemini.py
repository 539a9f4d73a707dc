"""Google's Gemini models by ``generateContent``, with its computer use tool.

Source of the format: ``google.genai.types`` of google-genai 3.4, Google's guide of computer use,
and its reference agent (google-gemini/computer-use-preview). What a model says goes back as it
came, with its thought signatures. Coordinates are 0 to 999 whatever the size of the screen, so that
pictures go as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ui_gym.errors import UserError
from ui_gym_agents.agents.usage import CONTENT
from ui_gym_agents.agents.vendor import (
    WORDS,
    Json,
    Reply,
    VendorAgent,
    VendorQuestion,
    action_text,
    functions,
    log,
)
from ui_gym_agents.engines.protocol import EngineError

ENVIRONMENTS = {"browser": "ENVIRONMENT_BROWSER", "android": "ENVIRONMENT_MOBILE"}
"""What the tool is told of a suite; else it is a desktop."""

URL = "about:blank"
"""The address of a page that a model asks for after each call: pages of tasks have none."""

EXCLUDED = {"browser": ("navigate", "go_back", "go_forward"), "android": ("list_apps",)}
"""Functions that no env of a suite offers: a browser's shows the page of its task and no other."""

_OLD = re.compile(r"gemini-(2|3-)")
"""Models whose functions are older, and with those two more."""

_CUT = "MAX_TOKENS"
_WRONG_KEY = "API key not valid"


class GeminiAgent(VendorAgent):
    """A Gemini model, or one of who speaks its API."""

    prefix = "gemini:"
    server = "https://generativelanguage.googleapis.com/v1beta"
    keys = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    example = "gemini-3.5-flash"
    key_header = "x-goog-api-key"
    usage = CONTENT
    words = WORDS

    @classmethod
    def dialects(cls, model: str) -> tuple[str, ...]:
        return ("gemini",)

    def path(self) -> str:
        return f"/models/{quote(self.model, safe='')}:generateContent"

    def payload(self, words: str, questions: Sequence[VendorQuestion]) -> Json:
        contents: list[Json] = []
        calls: Sequence[Json] = ()
        for question in questions:
            contents.append({"role": "user", "parts": self._shown(question, calls)})
            if question.reply is not None:
                calls = question.reply.calls
                if said := question.reply.items or _plain(question.reply.action_text):
                    contents.append({"role": "model", "parts": list(said)})
        asked: Json = {
            "contents": contents,
            "tools": [{"computerUse": self._computer()}, {"functionDeclarations": _functions()}],
            "generationConfig": {"maxOutputTokens": self.max_new_tokens},
        }
        return asked | ({"systemInstruction": {"parts": [{"text": words}]}} if words else {})

    def read(self, found: Any, asked: VendorQuestion) -> Reply:
        if not found.get("candidates"):
            log.info("%s was not asked: %s", self.model, found["promptFeedback"]["blockReason"])
            return Reply("")
        candidate = found["candidates"][0]
        items = candidate.get("content", {}).get("parts", [])
        calls = [item["functionCall"] for item in items if "functionCall" in item]
        said = [said for item in items for said in _said(item)]
        if not said or (candidate.get("finishReason") == _CUT and not calls):
            return Reply("")
        return Reply(action_text(said), items, calls)

    def refused(self, error: EngineError) -> EngineError:
        if _WRONG_KEY in str(error):  # told as a wrong request, with status 400
            raise UserError(f"the key was refused: check it ({error})")
        return error

    def _computer(self) -> Json:
        excluded = EXCLUDED.get(self.suite, ())
        if _OLD.match(self.model) and self.suite == "browser":
            excluded += ("open_web_browser", "search")
        return {
            "environment": ENVIRONMENTS.get(self.suite, "ENVIRONMENT_DESKTOP"),
            "excludedPredefinedFunctions": list(excluded),
        }

    def _shown(self, question: VendorQuestion, calls: Sequence[Json]) -> list[Json]:
        """Answers to all calls, each with the picture, or without any the picture alone."""
        data = self._pictures.url(question.picture).partition(",")[2]
        picture = {"inlineData": {"mimeType": "image/png", "data": data}}
        parts: list[Json] = [{"functionResponse": self._answer(call, picture)} for call in calls]
        if question.text:
            parts.append({"text": question.text})
        return parts if calls else [*parts, picture]

    def _answer(self, call: Json, picture: Json) -> Json:
        told = {"url": URL}
        if decision := (call.get("args") or {}).get("safety_decision"):
            log.info("confirmed to %s: %s", self.model, decision)
            told["safety_acknowledgement"] = "true"
        answer: Json = {"name": call["name"], "response": told, "parts": [picture]}
        return answer | ({"id": call["id"]} if call.get("id") else {})


def _functions() -> list[Json]:
    return [
        {"name": name, "description": description, "parameters": _schema(schema)}
        for name, description, schema in functions()
    ]


def _schema(schema: Json) -> Json:
    """A JSON schema as Google's, whose types are written in capitals."""
    return {
        key: _schema(value)
        if isinstance(value, dict)
        else value.upper()
        if key == "type"
        else value
        for key, value in schema.items()
    }


def _said(part: Json) -> list[Json]:
    """What a part is in the dialect ``gemini``."""
    if "functionCall" in part:
        call = part["functionCall"]
        return [{"name": call["name"], "args": call.get("args") or {}}]
    text = "" if part.get("thought") else part.get("text", "").strip()
    return [{"text": text}] if text else []


def _plain(text: str) -> list[Json]:
    return [{"text": text}] if text.strip() else []
