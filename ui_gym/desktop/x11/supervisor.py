"""The supervisor: the first process of a sandbox, which runs commands and keeps files for us there.

The sandbox sees none of our files but this one, which therefore imports the standard library alone.
Its standard output is a socket, over which our side sends it one end of a new pair of sockets for
each request: a line of JSON comes in, then what belongs to it; a line of JSON goes back, then the
bytes that it announces. When the socket closes, the supervisor ends, and the sandbox with it.

Nobody beside the supervisor can read or trace its memory, though all of the sandbox is one user.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import threading
import time
from collections.abc import Iterable
from typing import Any

LIMITS = {
    "RLIMIT_NPROC": 400,
    "RLIMIT_FSIZE": 1 << 30,
    "RLIMIT_CORE": 0,
    "RLIMIT_NOFILE": 4096,
    "RLIMIT_DATA": 6 << 30,
}
"""What each program of the sandbox is bound to: processes of the user, bytes, descriptors."""

MOST_OUTPUT = 64 << 20
"""Bytes of a command's output that are kept; a command that writes more is ended."""

MOST_FILE = 64 << 20
"""Bytes of the largest file that is read."""

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36


CRASHES = frozenset(
    (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP,
     signal.SIGKILL)
)  # fmt: skip

WAITS = {
    ("x86_64", "7"): (2, False), ("x86_64", "232"): (3, False), ("x86_64", "281"): (3, False),
    ("x86_64", "271"): (2, True), ("aarch64", "22"): (3, False), ("aarch64", "73"): (2, True),
}  # fmt: skip
"""The system calls by which programs wait for files (poll, epoll_wait, epoll_pwait, ppoll): which
argument is the time, and whether that is where it lies or the milliseconds themselves."""

SWITCHES = ("voluntary", "nonvoluntary")

notices: list[socket.socket] = []
started: set[int] = set()
starting = threading.Lock()
"""Held from the start of a command until it is among `started`: it may have ended by then."""


def main() -> None:
    """Serve requests until the socket closes, then end all that was started."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    threading.Thread(target=bury, daemon=True).start()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    control = socket.socket(fileno=os.dup(1))
    os.dup2(2, 1)
    notices.append(control)
    while True:
        try:
            said, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        except OSError:
            break
        if not said:
            break
        for descriptor in descriptors:
            line = socket.socket(fileno=descriptor)
            threading.Thread(target=serve, args=(line,), daemon=True).start()
    end_descendants()


def serve(line: socket.socket) -> None:
    """Answer one request."""
    try:
        with line, line.makefile("rb") as said:
            request = json.loads(said.readline())
            try:
                head, parts = KINDS[request.pop("kind")](line, said, **request)
            except (OSError, ValueError) as error:  # ValueError: a name that holds a zero byte
                number = getattr(error, "errno", None) or errno.EINVAL
                head = {"errno": number, "error": getattr(error, "strerror", None) or str(error)}
                parts = ()
            head["sizes"] = [len(part) for part in parts]
            line.sendall(json.dumps(head).encode() + b"\n")
            for part in parts:
                line.sendall(part)
            line.shutdown(socket.SHUT_RDWR)  # closing does not, while another thread listens
    except (OSError, ValueError):
        return  # our side has gone, or said what it did not mean


def run(line: Any, said: Any, command: list[str], cwd: str, env: dict[str, str]) -> Any:
    """Run a command and wait; it is ended when our side stops listening."""
    try:
        process = start(command, cwd, env, subprocess.PIPE)
    except OSError as error:
        code = 127 if error.errno == errno.ENOENT else 126
        what = error.filename or command[0]  # the program, or the folder to run it in
        return {"code": code}, (b"", f"{what}: {error.strerror}\n".encode())
    threading.Thread(target=end_with, args=(line, process), daemon=True).start()
    outputs: list[bytes] = [b"", b""]
    readers = [
        threading.Thread(target=keep, args=(outputs, n, stream, process), daemon=True)
        for n, stream in enumerate((process.stdout, process.stderr))
    ]
    for reader in readers:
        reader.start()
    code = process.wait()
    # What the command left running may hold its output open: it is not waited for.
    deadline = time.monotonic() + 0.5
    for reader in readers:
        reader.join(max(deadline - time.monotonic(), 0))
    return {"code": code}, tuple(outputs)


def spawn(
    line: Any, said: Any, command: list[str], cwd: str, env: dict[str, str], vital: bool
) -> Any:
    """Start a command and do not wait. Should it crash, or end at all where it is vital, that is
    told in a line over the first socket."""
    process = start(command, cwd, env, subprocess.DEVNULL)
    threading.Thread(target=watch, args=(process, command[0], vital), daemon=True).start()
    return {"pid": process.pid}, ()


def watch(process: subprocess.Popen[bytes], name: str, vital: bool) -> None:
    code = process.wait()
    if vital or -code in CRASHES:
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
        notices[0].sendall(f"{os.path.basename(name)} {how}\n".encode())


def start(
    command: list[str], cwd: str, env: dict[str, str], output: int
) -> subprocess.Popen[bytes]:
    with starting:
        process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True, preexec_fn=limit,
        )  # fmt: skip
        started.add(process.pid)
    return process


def limit() -> None:
    """Bind a new process, before it becomes another program."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for name, most in LIMITS.items():
        number = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(number, (value, value))
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("900")  # should memory run out, ours goes before the host's
    except OSError:
        return


def keep(outputs: list[bytes], n: int, stream: Any, process: subprocess.Popen[bytes]) -> None:
    kept = []
    size = 0
    while piece := stream.read1(1 << 16):
        kept.append(piece)
        size += len(piece)
        outputs[n] = b"".join(kept) if size < 1 << 20 else outputs[n]
        if size > MOST_OUTPUT:
            end_group(process)
            break
    outputs[n] = b"".join(kept)


def end_with(line: socket.socket, process: subprocess.Popen[bytes]) -> None:
    """End the command if our side closes the line while it runs."""
    try:
        line.recv(1, socket.MSG_PEEK)
    except OSError:
        return
    if process.poll() is None:
        end_group(process)


def end_group(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        return


def read(line: Any, said: Any, path: str) -> Any:
    """A file's bytes; what the user cannot read, or is no file, or too much, is as good as
    missing."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_FILE:
                return {"missing": True}, ()
            data = file.read(MOST_FILE + 1)  # it may grow while it is read
            return ({"missing": True}, ()) if len(data) > MOST_FILE else ({}, (data,))
    except OSError:
        return {"missing": True}, ()


def write(line: Any, said: Any, path: str, size: int, mtime: int | None) -> Any:
    """Write a file, with the folders above it, which get its time as well."""
    data = said.read(size)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK
    with open(os.open(path, flags, 0o644), "wb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a file")
        file.write(data)
    home = os.environ["HOME"]
    while mtime is not None and path.startswith(home):
        os.utime(path, (mtime, mtime))
        path = os.path.dirname(path)
    return {}, ()


def connect(line: Any, said: Any, address: int | str, seconds: float) -> Any:
    """Hand over a connection to a port of this sandbox, or to the socket of a path."""
    if isinstance(address, int):
        made = socket.create_connection(("127.0.0.1", address), seconds)
    else:
        made = socket.socket(socket.AF_UNIX)
        made.settimeout(seconds)
        made.connect(address)
    with made:
        made.settimeout(None)
        socket.send_fds(line, [b"\0"], [made.fileno()])
    return {}, ()


def look(line: Any, said: Any) -> Any:
    """What all threads of the sandbox do at this moment."""
    return {"threads": threads_of(relatives())}, ()


def threads_of(processes: Iterable[int]) -> dict[str, tuple[str, int, int, int]]:
    """By their ids: the state (``S``: it sleeps), how often it has been switched to and from, for
    how long it waited for a processor (ms), and the time that it has set itself to wake up after
    (ms; -1 without one)."""
    found = {}
    for process in processes:
        try:
            names = os.listdir(f"/proc/{process}/task")
        except OSError:
            continue
        for name in names:
            folder = f"/proc/{process}/task/{name}/"
            try:
                status = contents(folder + "status")
            except OSError:
                continue  # it has ended
            # By name: from Linux 6.6 on, other lines may come after those of the switches.
            told = dict(line.partition(":")[::2] for line in status.splitlines())
            state = told.get("State", "").strip()[:1]
            switches = sum(int(told.get(kind + "_ctxt_switches", 0)) for kind in SWITCHES)
            waited = waited_of(folder)
            if state and state not in "ZX":
                timer = timer_of(folder) if state == "S" else -1
                found[name] = (state, switches, waited, timer)
    return found


def waited_of(folder: str) -> int:
    """For how many milliseconds a thread waited for a processor; 0 where the kernel does not count
    that."""
    try:
        return int(contents(folder + "schedstat").split()[1]) // 1_000_000
    except (OSError, ValueError, IndexError):
        return 0


def timer_of(folder: str) -> int:
    """After how many milliseconds a thread that waits for files will wake up; -1: not by itself, or
    nobody says."""
    try:
        number, *arguments = contents(folder + "syscall").split()
        waits = WAITS.get((os.uname().machine, number))
        if waits is None:
            return -1
        value = int(arguments[waits[0]], 16)
        if waits[1]:  # it is the address of a time
            with open(folder + "mem", "rb") as memory:
                memory.seek(value)
                seconds, nanoseconds = struct.unpack("qq", memory.read(16)) if value else (-1, 0)
            return -1 if seconds < 0 else seconds * 1000 + -(-nanoseconds // 1_000_000)
        return -1 if value & 1 << 31 else value & 0xFFFFFFFF
    except (OSError, ValueError, IndexError, struct.error):
        return -1


def contents(path: str) -> str:
    """A short file of the kernel's, without the buffers of `open`, which cost more than reading."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 1 << 16).decode("ascii", "replace")
    finally:
        os.close(descriptor)


def end_descendants() -> None:
    """Kill all that was started here. Orphans have become our children, so that none is lost."""
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        pids = descendants()
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, os.WNOHANG)
            except OSError:
                continue
        time.sleep(0.005)


def bury() -> None:
    """Wait for orphans that have ended."""
    while True:
        time.sleep(0.5)
        bury_ended()


def bury_ended() -> None:
    """Wait for those that have ended by now, and are nobody else's: the exit code of a command
    that was waited for here would be lost to who started it, and read as 0."""
    for pid in relatives():
        try:
            with starting:
                state, parent = contents(f"/proc/{pid}/stat").rpartition(")")[2].split()[:2]
                if state == "Z" and int(parent) == os.getpid() and pid not in started:
                    os.waitpid(pid, os.WNOHANG)
        except OSError:
            continue


def relatives() -> set[int]:
    """As `descendants` of this process, for who looks again: the kernel tells of children without
    looking at all processes of the machine, and may miss one while another ends."""
    if not os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children"):
        return descendants()  # this kernel does not tell
    found: set[int] = set()
    unseen = [os.getpid()]
    while unseen:
        more = children(unseen.pop()) - found
        found |= more
        unseen += more
    return found


def children(process: int) -> set[int]:
    found: set[int] = set()
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:
        return found  # it has ended
    for thread in threads:
        try:
            found.update(map(int, contents(f"/proc/{process}/task/{thread}/children").split()))
        except OSError:
            continue
    return found


def descendants(of: int = 0) -> set[int]:
    """The processes that this one, or that of an id, has started, and theirs."""
    first = of or os.getpid()
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                status = contents(f"/proc/{name}/stat")
            except OSError:
                continue
            parents[int(name)] = int(status.rpartition(")")[2].split()[1])
    found = {first}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} | found
        if more == found:
            return found - {first}
        found = more


KINDS: dict[str, Any] = {
    "run": run, "spawn": spawn, "read": read, "write": write, "connect": connect,
    "look": look,
}  # fmt: skip

if __name__ == "__main__":
    main()
