"""What a client did wrong, and how it is told.

    UserError                     (ui_gym.errors) somebody's mistake, with the remedy
    |- BadRequest                 this request cannot be done: its future fails, category "user"
    `- HttpRefusal                it is not even taken on: an HTTP status

A future that fails is how the service tells of mistakes in a request, since a training request has
its place in an order (`seq_id`), and one that was answered by a status would leave a gap there.
"""

from __future__ import annotations

from ui_gym.errors import UserError


class BadRequest(UserError):
    """A request that cannot be done; nothing of it was."""


class HttpRefusal(UserError):
    """A request that is not taken on, with the status of the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
