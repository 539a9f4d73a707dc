"""A served model, for the tests of evaluations."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from serving import QuietHandler, serving

Chat = Callable[..., tuple[str, list[dict[str, Any]]]]
"""Given what a model always says, what it waits for, and further fields of each answer by its
number (from 1), the address of its OpenAI-compatible server, and the list of what it is asked."""


@pytest.fixture
def chat() -> Iterator[Chat]:
    with contextlib.ExitStack() as stack:

        def start(
            said: str,
            wait: Callable[[], None] = lambda: None,
            told: Callable[[int], dict[str, Any]] = lambda number: {},
        ) -> tuple[str, list[dict[str, Any]]]:
            asked: list[dict[str, Any]] = []

            class Handler(QuietHandler):
                def answer(self) -> None:
                    asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                    wait()
                    answer = {"choices": [{"message": {"content": said}}]} | told(len(asked))
                    self.say(json.dumps(answer).encode())

            server = stack.enter_context(serving(Handler))
            return f"http://127.0.0.1:{server.server_port}/v1", asked

        yield start
