"""The configuration: precedence, the sources of mistakes, and what is shown of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from ui_gym_agents.training import config_view, yaml_text
from ui_gym_agents.training.config import ConfigError, ConfigLoader, Loaded
from ui_gym_agents.training.settings import MAIN_TASK, RunConfig

Train = Callable[..., tuple[int, str, str]]


class Optimizer(BaseModel):
    """How it steps."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    lr: float = Field(default=1e-4, description="Step size.")
    betas: tuple[float, float] = (0.9, 0.999)


class Config(BaseModel):
    """A trainer's settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    loss: Literal["mean", "sum"] = "mean"
    note: str | None = None
    optimizer: Optimizer = Field(default_factory=Optimizer)


MODEL = RunConfig.with_trainer(Config)


def load(
    *flags: str, files: tuple[Path, ...] = (), env: dict[str, str] | None = None, **defaults: Any
) -> Loaded[Any]:
    loader: ConfigLoader[Any] = ConfigLoader(MODEL)
    loader.add_defaults(defaults.get("defaults", {}), "default of the plugin x")
    for file in files:
        loader.add_file(file)
    loader.add_environment(env or {})
    loader.add_flags(flags, {"resume": "run.resume"})
    return loader.load()


def problems(*flags: str, **layers: Any) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        load(*flags, **layers)
    return caught.value.problems


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_each_layer_overrides_the_one_below(tmp_path: Path) -> None:
    first = write(tmp_path / "a.yaml", "run: {seed: 2, steps: 2, keep: 2, eval_every: 2}")
    second = write(tmp_path / "b.yaml", "run:\n  steps: 3\n  keep: 3\n  eval_every: 3\n")
    loaded = load(
        "--run.eval_every=5",
        files=(first, second),
        env={"UI_GYM_RUN__KEEP": "4", "UI_GYM_RUN__EVAL_EVERY": "4", "HOME": "/"},
        defaults={"run.seed": 1, "run.save_every": 1},
    )
    run = loaded.config.run
    assert (run.save_every, run.seed, run.steps, run.keep, run.eval_every) == (1, 2, 3, 4, 5)
    assert loaded.sources["run.save_every"] == "default of the plugin x"
    assert loaded.sources["run.steps"] == f"{second}:2"
    assert loaded.sources["run.keep"] == "environment variable UI_GYM_RUN__KEEP"
    assert loaded.sources["run.eval_every"] == "flag --run.eval_every"


def test_all_mistakes_are_told_at_once_each_with_its_source(tmp_path: Path) -> None:
    file = write(tmp_path / "run.yaml", "run:\n  sede: 3\n  steps: many\n")
    told = problems(
        "--tasks.categry", "input", "--trainer.loss", "max",
        files=(file,), env={"UI_GYM_ENV__NUM_ENVS": "0"},
    )  # fmt: skip
    assert set(told) == {
        f"{file}:2: run.sede: unknown key; did you mean run.seed?",
        "flag --tasks.categry: unknown key; did you mean --tasks.category?",
        f"{file}:3: run.steps: Input should be a valid integer, unable to parse string as an "
        "integer (got 'many')",
        "environment variable UI_GYM_ENV__NUM_ENVS: env.num_envs: Input should be greater than or "
        "equal to 1 (got '0')",
        "flag --trainer.loss: Input should be 'mean' or 'sum' (got 'max')",
    }


def test_a_mistyped_key_finds_the_nearest_anywhere_in_the_tree() -> None:
    for flag, meant in {
        "--lr": "--trainer.optimizer.lr",
        "--traner.lr": "--trainer.optimizer.lr",
        "--trainer.optimizer.learning_rate": "--trainer.optimizer.lr",
        "--step_size": "--trainer.optimizer.lr",
        "--optimizer.betas": "--trainer.optimizer.betas",
        "--run.seeds": "--run.seed",
        "--num_env": "--env.num_envs",
        "--trainer.max_steps": "--env.max_steps",
        "--env.observations": "--env.observation",
    }.items():
        assert problems(flag, "1") == (f"flag {flag}: unknown key; did you mean {meant}?",)
    (told,) = problems("--zzz", "1")
    assert told.endswith("unknown key; known sections: env, evaluation, policy, run, tasks, "
                         "trainer, trainer.optimizer")  # fmt: skip


def test_a_section_is_no_setting() -> None:
    (told,) = problems("--run", "7")
    assert told.startswith("flag --run: run is a section; set its keys, such as run.directory")


def test_bare_words_and_missing_values_are_refused() -> None:
    assert problems("oops", "--run.steps") == (
        "unexpected argument 'oops'; settings are written as --section.key value",
        "flag --run.steps: a value is missing",
    )


def test_the_pitfalls_of_yaml_are_none(tmp_path: Path) -> None:
    file = write(
        tmp_path / "run.yaml",
        "trainer: {note: no, optimizer: {lr: 1e-5}}\ntasks: {arguments: {rate: 2e-3, name: on}}\n",
    )
    config = load(files=(file,)).config
    assert config.trainer.note == "no"
    assert config.trainer.optimizer.lr == 1e-5
    assert config.tasks.arguments == {"compact": True, "rate": 2e-3, "name": "on"}
    assert load("--trainer.optimizer.lr", "1e-5").config.trainer.optimizer.lr == 1e-5


def test_lists_dicts_bools_and_null_from_flags() -> None:
    config = load(
        "--tasks.ids", "A,B", "--policy.lora_targets", '["q", "v"]', "--no-evaluation.greedy",
        "--run.fall-back", "--tasks.arguments", '{"rows": 3}', "--tasks.arguments.long", "true",
        "--run.time_limit", "null", "--trainer.optimizer.betas=[0.8, 0.9]", "--resume", "there",
    ).config  # fmt: skip
    assert config.tasks.ids == ("A", "B")
    assert config.policy.lora_targets == ("q", "v")
    assert load("--policy.lora_targets", "auto").config.policy.lora_targets == "auto"
    assert config.evaluation.greedy is False
    assert config.run.fall_back is True
    assert config.tasks.arguments == {"rows": 3, "long": True}
    assert config.run.time_limit is None
    assert config.trainer.optimizer.betas == (0.8, 0.9)
    assert config.run.resume == Path("there")


def test_text_that_should_be_json_is_told_so() -> None:
    told = problems("--tasks.arguments", "rows=3", "--tasks.more", "[{", "--run.seed", "-1")
    assert told[0] == (
        "flag --tasks.arguments: this is written as JSON, such as {\"name\": 1} (got 'rows=3')"
    )
    assert "flag --tasks.more: this is not JSON" in told[1]
    assert "flag --run.seed: Input should be greater than or equal to 0" in told[2]


def test_damaged_and_missing_files_are_named(tmp_path: Path) -> None:
    broken = write(tmp_path / "broken.yaml", "run:\n  seed: [1\n")
    twice = write(tmp_path / "twice.yaml", "run:\n  seed: 1\n  seed: 2\n")
    flat = write(tmp_path / "flat.yaml", "- run\n")
    told = problems(files=(broken, twice, flat, tmp_path / "none.yaml"))
    assert told[0].startswith(f"{broken}:3: this is not YAML:")
    assert told[1] == f"{twice}:3: run.seed is given twice"
    assert told[2] == f"{flat}:1: the file must hold keys and values"
    assert told[3].startswith(f"{tmp_path / 'none.yaml'}: this file cannot be read:")


def test_a_file_cannot_make_objects(tmp_path: Path) -> None:
    evil = write(tmp_path / "evil.yaml", "tasks: {arguments: !!python/object/apply:os.getcwd []}\n")
    (told,) = problems(files=(evil,))
    assert "could not determine a constructor" in told


def test_a_required_setting_is_asked_for() -> None:
    class Needy(BaseModel):
        model_config = ConfigDict(frozen=True, extra="forbid")
        data: Path

    loader: ConfigLoader[Any] = ConfigLoader(RunConfig.with_trainer(Needy))
    loader.add_flags(["--run.seed", "1"])
    with pytest.raises(ConfigError) as caught:
        loader.load()
    assert "trainer" in caught.value.problems[0]
    assert "a value is required" in caught.value.problems[0]


def test_the_main_task_stands_in_where_none_is_chosen() -> None:
    assert load().config.tasks.ids == (MAIN_TASK,)
    assert load().config.tasks.arguments == {"compact": True}
    chosen = load("--tasks.category", "input").config.tasks
    assert chosen.ids == ()
    assert chosen.arguments == {}


def test_what_is_printed_loads_again_and_explains_itself(tmp_path: Path) -> None:
    loaded = load("--trainer.note", "no", "--run.seed", "7", "--trainer.optimizer.lr", "1e-5")
    text = config_view.as_yaml(loaded)
    assert "  seed: 7  # Seed of everything random. [flag --run.seed]\n" in text
    assert "    lr: 1.0e-05  # Step size. [flag --trainer.optimizer.lr]\n" in text
    again = load(files=(write(tmp_path / "again.yaml", text),))
    assert again.config == loaded.config
    assert again.config.digest() == loaded.config.digest()


@given(
    st.recursive(
        st.text() | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=5,
    )
)
def test_any_plain_value_survives_a_line_of_yaml(value: Any) -> None:
    node = yaml.compose(f"key: {yaml_text.dump(value)}", Loader=yaml_text.StrictLoader)
    assert node is not None
    assert yaml_text.construct(node) == {"key": value}


def test_print_config_and_help_of_the_command(train: Train) -> None:
    status, output, _ = train("--plugin", "toy", "--print-config")
    assert status == 0
    assert "steps: 6  # Training steps in all. [default of the plugin toy]" in output
    status, output, _ = train("--plugin", "toy", "--help")
    assert status == 0
    assert "--trainer.lr" in output
    assert "How the toy learns." in output
    assert "UI/Toy-v0" in output
    status, output, _ = train("--help")
    assert status == 0
    assert "--plugin NAME --help shows them" in output
    assert "--run.steps" in output


def test_the_command_reports_every_mistake_and_exits_with_2(train: Train) -> None:
    status, _, errors = train("--plugin", "toy", "--run.sedd", "1", "--trainer.lr", "-1")
    assert status == 2
    assert "error: flag --run.sedd: unknown key; did you mean --run.seed" in errors
    assert "error: flag --trainer.lr: Input should be greater than 0 (got '-1')" in errors


def test_a_dry_run_shows_the_tasks_and_makes_nothing(train: Train, work: Path) -> None:
    status, output, _ = train("--plugin", "toy", "--dry-run")
    assert status == 0
    assert "toy would train 6 steps in a new folder in runs/ on\n  UI/Toy-v0\n" in output
    assert list(work.iterdir()) == []
    status, _, errors = train("--plugin", "toy", "--tasks.ids", "UI/Toi-v0")
    assert status == 2
    assert "there is no task 'UI/Toi-v0'. Did you mean 'UI/Toy-v0'" in errors
    assert list(work.iterdir()) == []
