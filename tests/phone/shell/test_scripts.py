"""Commands that a shell reads, one after the other, beside mksh; and users with their rights."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from ui_gym_phone.handset import Handset

SCRIPTS = {
    "loop over lines": "for i in 1 2\ndo\n  echo $i\ndone\n",
    "status": "false\necho $?\n",
    "read takes the next line": "read x\nthe line\necho got $x\n",
    "read within a loop": "while read a b\ndo echo $b $a\ndone\n1 2\n3 4\n",
    "cat takes the rest": "echo one\ncat\nrest 1\nrest 2\n",
    "here-document": "x=5\ncat <<EOF\nhi $((x + 1))\nEOF\necho after\n",
    "quoted here-document": "cat <<'EOF'\n$x `date`\nEOF\n",
    "tabs": "if true\nthen\n\tcat <<-END\n\t\ttext\n\tEND\nfi\n",
    "two documents": "cat <<A; cat <<B\na\nA\nb\nB\n",
    "document in a substitution": "x=$(cat <<E\nin\nE\n)\necho [$x]\n",
    "here-string": "cat <<<'a string'\n",
    "function": "f() {\n  echo in $1\n  return 3\n}\nf a\necho $?\n",
    "function that reads": "f() { read y; echo f $y; }\nf\nline\necho on\n",
    "case over lines": "case abc in\n  a*)\n    echo yes ;;\n  *) echo no ;;\nesac\n",
    "comments and blank lines": "# nothing\n\n  # more\necho x # tail\n\n",
    "continued line": "echo a \\\n  b\n",
    "quoted newline": "echo 'a\nb'\n",
    "exit": "echo a\nexit 4\necho b\n",
    "cd stays": "cd /\npwd\n",
    "syntax error ends it": "echo a\nfi\necho b\n",
    "no last newline": "echo a\necho b",
    "set -e": "set -e\nif false; then :; fi\nfalse\necho no\n",
    "set -u": "set -u\necho $nothing\necho no\n",
    "unclosed quote": 'echo a\necho "b\n',
    "unclosed if": "echo a\nif true\nthen echo x\n",
    "unclosed document": "echo a\ncat <<EOF\nx\n",
    "sh reads, too": "sh\necho inner $0\n",
    "subshell": "(\necho in\nexit 2\n)\necho $?\n",
    "and over lines": "true &&\n  echo yes |\n  tr a-z A-Z\n",
}


class Sent:
    """A client's input, which comes in pieces."""

    def __init__(self, data: bytes, piece: int) -> None:
        self.data, self.piece = data, piece

    def read(self, size: int = -1, /) -> bytes:
        found, self.data = self.data[: self.piece], self.data[self.piece :]
        return found


def played(handset: Handset, script: str, piece: int = 1 << 16) -> tuple[bytes, bytes, int]:
    """(out, err, exit code) of a script on a shell's standard input."""
    told: dict[int, bytes] = {1: b"", 2: b""}

    def write(fd: int, data: bytes) -> None:
        told[fd] += data

    code = handset.run("", Sent(script.encode(), piece), write)
    return told[1], told[2], code


@pytest.fixture(scope="module")
def handset() -> Handset:
    return Handset()


@pytest.mark.parametrize("name", list(SCRIPTS))
def test_a_script_is_read_as_by_mksh(handset: Handset, name: str) -> None:
    shell = shutil.which("mksh")
    if shell is None:
        pytest.skip("the reference needs mksh: apt-get install mksh")
    script = SCRIPTS[name]
    done = subprocess.run([shell], input=script.encode(), capture_output=True, cwd="/")
    out, err, code = played(handset, script)
    wanted = done.stdout.replace(b"mksh", b"sh")
    assert (out, bool(err), code) == (wanted, bool(done.stderr), done.returncode)


@pytest.mark.parametrize("piece", [1, 7, 64])
def test_it_does_not_matter_how_the_input_is_cut(handset: Handset, piece: int) -> None:
    for script in SCRIPTS.values():
        assert played(handset, script, piece) == played(handset, script)


def test_what_is_written_goes_out_before_more_is_asked_for(handset: Handset) -> None:
    told: list[bytes] = []
    when: list[int] = []

    class Waiting:
        lines = [b"echo a\n", b"svc wifi disable; read x\n", b"value\necho $x\n"]

        def read(self, size: int = -1, /) -> bytes:
            when.append(len(told))
            return self.lines.pop(0) if self.lines else b""

    handset.run("", Waiting(), lambda fd, data: told.append(data))
    assert told == [b"a\n", b"value\n"]
    assert when == [0, 1, 1, 2]


def test_each_command_of_a_script_has_the_whole_budget(handset: Handset) -> None:
    line = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done\n"
    out, err, code = played(handset, line * 3 + "echo $i\n")
    assert (out, err, code) == (b"20000\n", b"", 0)


def test_a_person_is_asked_and_forgiven(handset: Handset) -> None:
    told: list[bytes] = []
    sent = Sent(b"cd /sdcard\nfi\nfor i in 1\ndo echo $i\ndone\nexit 3\n", 1 << 16)
    code = handset.run("", sent, lambda fd, data: told.append(data), prompt=True)
    assert code == 3
    shown = b"".join(told).decode()
    assert shown.startswith("phone:/ $ phone:/sdcard $ /system/bin/sh: <stdin>[2]: syntax error")
    assert shown.endswith("phone:/sdcard $ > 1\nphone:/sdcard $ ")


# -- users --


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("ls /data/data", "ls: /data/data: Permission denied"),
        ("cat /data/user/0/com.android.providers.contacts/databases/contacts2.db",
         "Permission denied"),
        ("cd /data/data/com.android.providers.contacts", "Permission denied"),
        ("touch /data/data/x", "Permission denied"),
        ("rm -rf /data/data/com.android.providers.contacts", "Permission denied"),
        ("chmod 777 /data/data", "Permission denied"),
        ("cp /sdcard/x /data/app/x", "Permission denied"),
        ("echo x > /data/data/x", "Permission denied"),
        ("sqlite3 /data/data/com.android.providers.telephony/databases/mmssms.db 'SELECT 1'",
         "unable to open database"),
    ],
)  # fmt: skip
def test_a_shell_may_not_look_into_apps_and_root_may(line: str, error: str) -> None:
    handset = Handset()
    handset.shell("echo x > /sdcard/x")
    before = handset.snapshot()
    denied = handset.shell(line)
    assert error in denied.stderr.decode()
    assert denied.code != 0
    assert handset.snapshot() == before
    handset.set_root(True)
    assert handset.shell(line).stderr == b""


def test_what_may_not_be_seen_is_not_there_for_tests_and_patterns() -> None:
    handset = Handset()
    line = "test -e /data/data/com.android.providers.contacts/databases && echo there; "
    line += "echo /data/data/*; find /data -name mmssms.db"
    assert handset.shell(line).text == "/data/data/*"
    assert "mmssms.db" in handset.shell(f"su 0 sh -c '{line}'").text


def test_an_app_opens_its_own_folder_alone() -> None:
    handset = Handset()
    line = "run-as com.example.chess sh -c 'echo mine > own; cat own; ls ../com.example.transit'"
    result = handset.shell(line)
    assert result.stdout == b"mine\n"
    assert result.code != 0
    assert handset.shell("run-as com.example.chess id -un").text.startswith("u0_a")


def test_root_is_lost_with_the_phone_and_kept_with_its_snapshot() -> None:
    handset = Handset()
    handset.set_root(True)
    rooted = handset.snapshot()
    handset.renew()
    assert handset.shell("whoami").text == "shell"
    handset.renew(rooted)
    assert handset.shell("whoami; id -u").text == "root\n0"
