"""Recording what a desktop shows, as an MP4 file by ffmpeg."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from ui_gym.desktop.http.message import HttpAnswer, Request
from ui_gym.desktop.http.routes import Route
from ui_gym.desktop.http.shared import SharedDesktop
from ui_gym.errors import UIGymError
from ui_gym.remote.guard import Mistake

RATE = 4
"""Pictures a second."""

LONGEST = 3600.0
"""Seconds after which a recording ends by itself."""

FINISHING = 60.0
"""Seconds that ffmpeg has to write the end of the file."""


class ScreenRecorder:
    """At most one recording of `desktop` at a time."""

    def __init__(self, desktop: SharedDesktop) -> None:
        self._desktop = desktop
        self._lock = threading.Lock()
        self._recording: _Recording | None = None

    def start(self) -> None:
        """`Mistake` where one goes on, or there is no ffmpeg."""
        program = shutil.which("ffmpeg")
        if program is None:
            raise Mistake(
                501, "recordings need ffmpeg on the host of this server: apt-get install ffmpeg"
            )
        with self._lock:
            if self._recording is not None:
                raise Mistake(400, "Recording is already in progress.")
            self._recording = _Recording(program, self._desktop)

    def end(self) -> bytes:
        """The file. `Mistake` where nothing is being recorded, or ffmpeg failed."""
        with self._lock:
            recording, self._recording = self._recording, None
        if recording is None:
            raise Mistake(400, "No recording in progress to stop.")
        return recording.finish()

    def close(self) -> None:
        """End the recording, if there is one, and throw it away."""
        with self._lock:
            recording, self._recording = self._recording, None
        if recording is not None:
            recording.abort()


class _Recording:
    """A thread that hands pictures to ffmpeg."""

    def __init__(self, program: str, desktop: SharedDesktop) -> None:
        self._desktop = desktop
        self._stop = threading.Event()
        self._folder = tempfile.TemporaryDirectory(prefix="ui-gym-recording-")
        self._file = Path(self._folder.name) / "recording.mp4"
        width, height = desktop.device.size
        source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(RATE)]
        # Odd sizes are none for this codec.
        even = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"]
        try:
            self._ffmpeg = subprocess.Popen(
                [program, "-y", "-loglevel", "error", *source, "-i", "-", *even, str(self._file)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            self._folder.cleanup()
            raise Mistake(500, f"ffmpeg cannot be started: {error}") from None
        self._thread = threading.Thread(target=self._film, daemon=True)
        self._thread.start()

    def finish(self) -> bytes:
        """The file, once ffmpeg has written its end."""
        try:
            self._end(FINISHING)
            data = self._file.read_bytes() if self._file.exists() else b""
        finally:
            self.abort()
        if not data:
            raise Mistake(500, f"ffmpeg wrote nothing (exit code {self._ffmpeg.returncode})")
        return data

    def abort(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._end(0.5)
        self._ffmpeg.kill()
        self._ffmpeg.wait()
        self._thread.join()
        self._folder.cleanup()

    def _end(self, seconds: float) -> None:
        self._stop.set()
        self._thread.join(seconds)
        try:
            self._ffmpeg.wait(seconds)
        except subprocess.TimeoutExpired:
            if seconds == FINISHING:
                raise Mistake(500, f"ffmpeg did not end within {FINISHING:g} s") from None
            raise

    def _film(self) -> None:
        """Write a picture for each tick; a late one stands for those that it missed."""
        pipe = self._ffmpeg.stdin
        assert pipe is not None
        started, written = time.monotonic(), 0
        with contextlib.suppress(OSError, UIGymError), pipe:
            while not self._stop.is_set() and time.monotonic() - started < LONGEST:
                with self._desktop.turn:
                    picture = self._desktop.device.capture().image.tobytes()
                due = max(written + 1, int((time.monotonic() - started) * RATE) + 1)
                for _ in range(due - written):
                    pipe.write(picture)
                written = due
                self._stop.wait(max(0.0, started + written / RATE - time.monotonic()))


def routes(recorder: ScreenRecorder) -> Mapping[tuple[str, str], Route]:
    """The routes of a recorder."""

    def start(desktop: SharedDesktop, request: Request) -> HttpAnswer:
        recorder.start()
        return HttpAnswer.json({"status": "success", "message": "Started recording successfully."})

    def end(desktop: SharedDesktop, request: Request) -> HttpAnswer:
        return HttpAnswer(recorder.end(), "video/mp4")

    return {("POST", "/start_recording"): start, ("POST", "/end_recording"): end}
