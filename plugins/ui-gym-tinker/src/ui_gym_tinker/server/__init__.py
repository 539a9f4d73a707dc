"""A local server of Tinker's protocol, for tests, offline work and teaching: see SERVER.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ui_gym_tinker.server.tinker_server import TinkerServer

__all__ = ["TinkerServer"]


def __getattr__(name: str) -> Any:
    """Import torch and the SDK when the server is asked for, and not before."""
    if name != "TinkerServer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ui_gym_tinker.server.tinker_server import TinkerServer

    return TinkerServer
