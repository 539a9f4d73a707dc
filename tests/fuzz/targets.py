"""What is fuzzed, and how much of it a whole run feeds."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.fuzz.running import Bounds


@dataclass(frozen=True)
class FuzzKind:
    """A target by name."""

    where: str
    """What makes it, as ``module:name``."""
    count: int
    """Parts of a whole run."""
    about: str
    bounds: Bounds = field(default_factory=Bounds)


TARGETS = {
    "dialects": FuzzKind(
        "tests.fuzz.dialect_texts:DialectTexts", 1_000_000, "texts, through `UIEnv.step`"
    ),
    "phone-lines": FuzzKind(
        "tests.fuzz.phone_lines:PhoneLines", 150_000, "shell lines on the built-in phone"
    ),
    "phone-packets": FuzzKind(
        "tests.fuzz.phone_packets:PhonePackets", 150_000, "packets of ADB to the built-in phone",
        # A line goes on though its client went, as on a phone: up to 6 s until its million steps
        # are over. What is left of 25 cases is waited for at once.
        Bounds(seconds=60.0),
    ),
    "env-server": FuzzKind(
        "tests.fuzz.env_messages:EnvMessages", 100_000, "messages to the env server"
    ),
    "policy-server": FuzzKind(
        "tests.fuzz.policy_requests:PolicyRequests", 100_000, "requests to the policy server",
        Bounds(seconds=30.0, memory=1 << 30),
    ),
    "task-files": FuzzKind(
        "tests.fuzz.stored_files:task_files", 10_000, "lists of tasks to train on"
    ),
    "osworld-files": FuzzKind(
        "tests.fuzz.stored_files:osworld_files", 10_000, "OSWorld's task files"
    ),
    "episode-files": FuzzKind(
        "tests.fuzz.stored_files:episode_files", 10_000, "recorded episodes, by three readers"
    ),
    "checkpoints": FuzzKind(
        "tests.fuzz.stored_files:Checkpoints", 10_000, "checkpoints with damage anywhere"
    ),
}  # fmt: skip
