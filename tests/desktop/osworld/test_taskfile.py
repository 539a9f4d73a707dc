"""Task files: what is read from them, what they need, and what is said of damaged ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ui_gym.desktop.osworld import taskfile
from ui_gym.errors import UserError

SIMPLE: dict[str, Any] = {
    "id": "one",
    "snapshot": "os",
    "instruction": "Write a file.",
    "source": "",
    "config": [{"type": "launch", "parameters": {"command": ["mousepad"]}}],
    "trajectory": "trajectories/",
    "related_apps": ["os"],
    "evaluator": {
        "func": "exact_match",
        "result": {"type": "vm_command_line", "command": ["cat", "a"]},
        "expected": {"type": "rule", "rules": {"expected": "b"}},
    },
    "proxy": False,
    "fixed_ip": False,
    "possibility_of_env_change": "low",
    "hint": "rare, and not known here",
}


def task(path: Path = Path("os/one.json"), **changes: Any) -> taskfile.TaskFile:
    return taskfile.parse(SIMPLE | changes, path)


def evaluator(**parts: Any) -> dict[str, Any]:
    return SIMPLE["evaluator"] | parts  # type: ignore[no-any-return]


def test_a_file_of_osworlds_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "os" / "one.json"
    path.parent.mkdir()
    path.write_text(json.dumps(SIMPLE))
    found = taskfile.read(path)
    assert (found.id, found.domain, found.instruction) == ("one", "os", "Write a file.")
    assert [(step.kind, step.place) for step in found.config] == [("launch", "config.0")]
    (check,) = found.checks
    assert check.metric == "exact_match"
    assert check.expected == {"type": "rule", "rules": {"expected": "b"}}
    assert check.options == {}
    assert found.conjunction == "and"
    assert not found.infeasible
    assert found.raw["hint"] == "rare, and not known here"


def test_a_task_may_have_no_config_and_several_metrics() -> None:
    raw = {key: value for key, value in SIMPLE.items() if key != "config"}
    raw["evaluator"] = {
        "func": ["exact_match", "check_list"],
        "conj": "or",
        "result": [{"type": "vm_file"}, {"type": "cache_file"}],
        "expected": [None, {"type": "rule"}],
        "options": [{}, {"ignore_case": True}],
    }
    found = taskfile.parse(raw, Path("a.json"))
    assert found.config == ()
    assert [check.expected for check in found.checks] == [None, {"type": "rule"}]
    assert [check.options for check in found.checks] == [{}, {"ignore_case": True}]
    assert found.conjunction == "or"


def test_infeasible_tasks_need_no_result() -> None:
    found = task(evaluator={"func": "infeasible"})
    assert found.infeasible
    assert found.checks == ()


def test_our_own_block_is_read_and_checked() -> None:
    found = task(ui_gym={"max_steps": 4, "device": "x11", "apps": ["mousepad"]})
    assert (found.max_steps, found.device, found.apps) == (4, "x11", ("mousepad",))
    with pytest.raises(UserError, match=r"ui_gym: there is no key 'max_step'. Did you mean"):
        task(ui_gym={"max_step": 4})
    with pytest.raises(UserError, match=r"ui_gym.max_steps: must be of type int, not \"4\""):
        task(ui_gym={"max_steps": "4"})


@pytest.mark.parametrize("device", ["osworld:http://evil", "qemu:/a.qcow2", "x11:none", ""])
def test_no_file_names_a_machine(device: str) -> None:
    with pytest.raises(UserError, match=r"ui_gym.device: must be one of x11, osworld, qemu"):
        task(ui_gym={"device": device})


@pytest.mark.parametrize("files", [None, ["url"], [{"url": 5}], {"url": "http://a"}])
def test_files_to_download_are_checked(files: object) -> None:
    with pytest.raises(UserError, match=r"config.0.parameters.files"):
        task(config=[{"type": "download", "parameters": {"files": files}}])


@pytest.mark.parametrize("path", [None, 5, [5], {}])
def test_addresses_of_expected_files_are_checked(path: object) -> None:
    with pytest.raises(UserError, match=r"evaluator.expected.path"):
        task(evaluator=evaluator(expected={"type": "cloud_file", "path": path}))


def test_nesting_has_an_end(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000)
    assert taskfile.find(tmp_path) == [path]
    with pytest.raises(UserError, match="is not JSON"):
        taskfile.read(path)


def test_everything_that_is_wrong_is_said_at_once_with_its_place() -> None:
    with pytest.raises(UserError) as caught:
        taskfile.parse(
            {
                "id": "",
                "config": [{"parameters": {}}, {"type": "sleep", "parameters": [1]}],
                "evaluator": {
                    "func": ["exact_match", "check_list"],
                    "result": [{"type": "rule"}],
                    "expected": [{"type": "rule"}, {"rules": []}],
                    "conj": "xor",
                    "postconfig": {},
                },
            },
            Path("broken.json"),
        )
    said = str(caught.value).splitlines()
    assert said[0] == "broken.json is no task file as OSWorld has them:"
    problems = {line.strip().partition(":")[0] for line in said[1:]}
    assert problems == {
        "id", "instruction", "config.0.type", "config.1.parameters", "evaluator.conj",
        "evaluator.postconfig", "evaluator.result", "evaluator.result.0", "evaluator.result.1",
        "evaluator.expected.1.type",
    }  # fmt: skip


@pytest.mark.parametrize(("text", "said"), [("{", "is not JSON"), ("[]", "must be an object")])
def test_what_is_no_task_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(UserError, match=said) as caught:
        taskfile.read(path)
    assert str(path) in str(caught.value)
    with pytest.raises(UserError, match="cannot be read"):
        taskfile.read(tmp_path / "none.json")


def test_what_is_not_known_here_is_listed_once() -> None:
    assert taskfile.lacks(task()) == []
    found = task(
        config=[{"type": "login", "parameters": {}}] * 2,
        evaluator=evaluator(func="compare_nothing", result={"type": "telepathy"}),
    )
    assert taskfile.lacks(found) == ["setup login", "getter telepathy", "metric compare_nothing"]


def test_infeasible_is_never_lacking() -> None:
    assert taskfile.lacks(task(evaluator={"func": "infeasible"})) == []


def test_the_files_that_a_task_needs_are_listed() -> None:
    def download(*urls: str) -> dict[str, Any]:
        files = [{"url": url, "path": "/home/user/a"} for url in urls]
        return {"type": "download", "parameters": {"files": files}}

    found = task(
        config=[download("http://a/1", "http://a/2")],
        evaluator=evaluator(
            postconfig=[download("http://a/3", "http://a/1")],
            result={"type": "vm_file", "path": "http://no.address"},
            expected={"type": "cloud_file", "multi": True, "path": ["http://a/4", "http://a/5"]},
        ),
    )
    assert taskfile.urls(found) == [f"http://a/{n}" for n in range(1, 6)]


def test_files_are_found_in_folders_and_by_meta_files(tmp_path: Path) -> None:
    for domain, name in (("os", "a"), ("os", "b"), ("vlc", "c")):
        path = tmp_path / "examples" / domain / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(SIMPLE | {"id": name}))
    (tmp_path / "settings.json").write_text('{"email": "a@b"}')
    meta = tmp_path / "test_all.json"
    meta.write_text('{"vlc": ["c"], "os": ["b"]}')
    assert [path.stem for path in taskfile.find(tmp_path)] == ["a", "b", "c"]
    assert [path.stem for path in taskfile.find(meta)] == ["c", "b"]
    single = tmp_path / "examples" / "os" / "a.json"
    assert taskfile.find(single) == [single]
    meta.write_text('{"vlc": ["d"]}')
    with pytest.raises(UserError, match=r"vlc/d.json, which is not there"):
        taskfile.find(meta)
    meta.write_text('{"vlc": ["c", "d"]}')
    assert [path.stem for path in taskfile.find(meta)] == ["c", "d"]
    with pytest.raises(UserError, match=r"vlc/d.json, which is not there"):
        taskfile.read_meta(meta)
    with pytest.raises(UserError, match="neither a folder"):
        taskfile.find(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no task file lies in"):
        taskfile.find(tmp_path / "empty")
