"""media, cmd media_session: volumes and media keys (AOSP ``VolumeCtrl``)."""

from __future__ import annotations

from ui_gym_phone.shell.machine import (
    machine_of,
    options,
    phone_of,
    refused,
    subcommand,
)
from ui_gym_phone.shell.registry import Context, command
from ui_gym_phone.state import switches

USAGE = """usage: media_session [subcommand] [options]
       media_session dispatch KEY
       media_session list-sessions
       media_session volume [options]

media_session volume:  the options are as follows: 
        --stream STREAM selects the stream to control, see AudioManager.STREAM_*
                        controls AudioManager.STREAM_MUSIC if no stream is specified
        --set INDEX     sets the volume index value
        --adj DIRECTION adjusts the volume, use raise|same|lower for the direction
        --get           outputs the current volume
        --show          shows the UI during the volume change
"""  # noqa: W291 - the blank is Android's

_KEYS = {
    "play": 126,
    "pause": 127,
    "play-pause": 85,
    "mute": 91,
    "stop": 86,
    "next": 87,
    "previous": 88,
}
_STEPS = {"raise": 1, "lower": -1, "same": 0}


@command("media")
def media(ctx: Context, argv: list[str]) -> int:
    """The older name of ``cmd media_session``."""
    return media_session(ctx, argv)


def media_session(ctx: Context, argv: list[str]) -> int:
    table = {"volume": _volume, "dispatch": _dispatch, "list-sessions": _sessions}
    return subcommand(ctx, argv, table, USAGE)


def set_stream(ctx: Context, stream: str, level: str) -> int:
    """Set a stream's volume from two words."""
    found = _stream(stream)
    if found is None:
        return refused(ctx, f"Error: invalid stream: {stream}")
    if not level.isdecimal() or not found.low <= int(level[:9]) <= found.high:
        return refused(ctx, f"Error: invalid volume index: {level}")
    switches.set_volume(phone_of(ctx), found.index, int(level))
    return 0


def _stream(word: str) -> switches.VolumeStream | None:
    return switches.STREAMS.get(int(word)) if word.isdecimal() and len(word) < 3 else None


def _volume(ctx: Context, argv: list[str]) -> int:
    found, rest, unknown = options(argv[1:], "--get --show", "--stream --set --adj")
    if unknown or rest:
        return refused(ctx, f"Error: Unknown option: {unknown or rest[0]}")
    stream = _stream(found.get("--stream", str(switches.MUSIC)))
    if stream is None:
        return refused(ctx, f"Error: invalid stream: {found['--stream']}")
    phone = phone_of(ctx)
    _say(ctx, f"will control stream={stream.index} ({stream.name})")
    if "--get" in found:
        _say(ctx, "will get volume")
    _say(ctx, "Connecting to AudioService")
    if "--set" in found:
        _say(ctx, f"will set volume to index={found['--set']}")
        code = set_stream(ctx, str(stream.index), found["--set"])
        if code:
            return code
    if "--adj" in found:
        step = _STEPS.get(found["--adj"])
        if step is None:
            return refused(ctx, "Error: no valid volume adjustment was given")
        _say(ctx, f"will adjust volume {found['--adj']}")
        switches.set_volume(phone, stream.index, switches.volume(phone, stream.index) + step)
    if "--get" in found:
        level = switches.volume(phone, stream.index)
        _say(ctx, f"volume is {level} in range [{stream.low}..{stream.high}]")
    return 0


def _say(ctx: Context, message: str) -> None:
    ctx.out(f"[V] {message}\n")


def _dispatch(ctx: Context, argv: list[str]) -> int:
    code = _KEYS.get(argv[1]) if len(argv) > 1 else None
    if code is None:
        return refused(ctx, f"Error: unknown dispatch code '{' '.join(argv[1:])}'")
    machine_of(ctx).key(code)
    return 0


def _sessions(ctx: Context, argv: list[str]) -> int:
    ctx.out("Sessions:\n")
    return 0
