"""A worker process: ``python -m ui_gym.playing.worker_main CONTROL CHANNEL``.

``worker_client.py`` starts it. It makes envs when it is asked to on the control socket, each served
by a thread on a socket of its own (which, like the memory of its screenshots, comes over the
channel socket). When the parent ends, in whatever way, the sockets close, and so do the envs and
this process.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import sys
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

from ui_gym.errors import TaskError, UserError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.slot import call_env, daemon, quietly
from ui_gym.playing.worker_client import ANSWER_SECONDS, Blueprint, SharedImage


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = Connection(int(sys.argv[1]))
    channel = socket.socket(fileno=int(sys.argv[2]))
    envs: dict[int, UIEnv] = {}
    with contextlib.suppress(EOFError, OSError):
        template = _first(control)
        while True:
            what, env_id = control.recv()
            try:
                if what == "open":
                    _, descriptors, _, _ = socket.recv_fds(channel, 1, 2)
                    envs[env_id] = template.clone()
                    _start(envs[env_id], *descriptors)
                elif env_id in envs:
                    daemon("ui-gym-closer", quietly, envs.pop(env_id).abandon)
                control.send(None)
            except Exception as error:
                control.send(_portable(error))
    # The parent is gone, or wants an end: devices close by themselves, within bounds.
    closing = [daemon("ui-gym-closer", quietly, env.abandon) for env in envs.values()]
    for thread in closing:
        thread.join(ANSWER_SECONDS / 2)
    with contextlib.suppress(Exception):
        template.close()
    os._exit(0)  # threads that hang would keep a normal exit waiting


def _first(control: Connection) -> UIEnv:
    """The env that all others are clones of; it plays nothing itself, but owns the pool."""
    try:
        blueprint: Blueprint = control.recv()
        env = UIEnv(blueprint.open(), **blueprint.arguments)
        env.copies_pictures = False  # they are written into the shared memory
    except (EOFError, OSError):
        raise
    except Exception as error:
        control.send(_portable(error))
        raise EOFError from error
    control.send(None)
    return env


def _start(env: UIEnv, connection: int, image: int) -> None:
    """Serve one env in a thread."""
    shared = SharedImage(env.size, image)
    daemon("ui-gym-served", _serve, env, Connection(connection), shared)


def _serve(env: UIEnv, connection: Connection, shared: SharedImage) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            sequence, method, arguments = connection.recv()
            error: Exception | None = None
            answer: Any = None
            try:
                answer = _call(env, method, arguments, shared)
            except Exception as raised:
                error = _portable(raised)
            connection.send((sequence, error, answer))
    with contextlib.suppress(Exception):
        env.close()
    shared.close()


def _call(env: UIEnv, method: str, arguments: tuple[Any, ...], shared: SharedImage) -> Any:
    if method == "step":
        answer: Any = env.step(*arguments)
    elif method == "reset":
        answer = env.reset(seed=arguments[0], options=arguments[1])
    elif method == "call":
        name, given, named = arguments
        return _sendable(call_env(env, name, given, named), name)
    elif method == "set":
        return env.set_wrapper_attr(*arguments)
    else:
        return env.close()
    screenshot = answer[0].pop("screenshot", None)
    if screenshot is not None:
        shared.array[:] = screenshot
    return answer


def _sendable(value: Any, name: str) -> Any:
    try:
        ForkingPickler.dumps(value)
    except Exception as error:
        raise UserError(
            f"{name!r} of an env in another process cannot come over here ({error}): play in "
            "threads"
        ) from None
    return value


def _portable(error: Exception) -> Exception:
    """An error that the parent can read."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  our own bytes
    except Exception:
        return TaskError(f"{type(error).__name__}: {error}")
    return error


if __name__ == "__main__":
    main()
