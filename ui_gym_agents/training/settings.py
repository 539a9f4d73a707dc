"""What can be configured: the sections of a run as frozen models. A field is a flag is a key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    create_model,
    field_validator,
    model_validator,
)

from ui_gym.catalog import TaskSource
from ui_gym.contract.spec import TaskSpec
from ui_gym.errors import UserError
from ui_gym_agents.engines.protocol import RequestLimits
from ui_gym_agents.tasks.curriculum import Candidate, Curriculum
from ui_gym_agents.tasks.sources import TaskEntry, entries_of, from_recipe, merge

MAIN_TASK = "UI/DataEntry-v0"
"""What is trained on when nothing is asked for, in the compact form that the tiny VLM reads."""


class SettingsSection(BaseModel):
    """Base of every section: immutable, and a key that it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskSettings(TaskSource):
    """Which tasks are trained on, with which arguments, and how often each."""

    file: Path | None = Field(
        default=None,
        description="A file of tasks: an id a line, or JSON lines with arguments, split, seeds, "
        "weight, category; ui-gym-tasks show checks it.",
    )
    more: tuple[TaskSource, ...] = Field(
        default=(),
        description="More sources; their tasks are added. Those of the CUA recipe "
        "(source_type, task_ids, ...) are read as well.",
    )
    arguments: dict[str, Any] = Field(
        default_factory=dict, description="Keyword arguments of the tasks."
    )
    curriculum: Literal["uniform", "learnability"] = Field(
        default="uniform",
        description="uniform: tasks by their own weights; learnability: those with a success rate "
        "p near a half most, by p(1-p).",
    )
    quotas: dict[str, float] = Field(
        default_factory=dict,
        description="Shares of the groups by category; the other categories share the rest.",
    )

    @model_validator(mode="before")
    @classmethod
    def _main_task(cls, given: Any) -> Any:
        """Where no task is named and no filter set, the main task, compact."""
        choosing = ("suite", "ids", "category", "difficulty", "tags", "file", "custom", "more")
        if not isinstance(given, Mapping) or any(given.get(key) for key in choosing):
            return given
        arguments = given.get("arguments") or {}
        if not isinstance(arguments, Mapping):
            return given
        return {**given, "ids": (MAIN_TASK,), "arguments": {"compact": True, **arguments}}

    @field_validator("more", mode="before")
    @classmethod
    def _read_recipe(cls, given: Any) -> Any:
        """Sources in the words of the CUA recipe."""
        return [from_recipe(one) for one in given] if isinstance(given, list | tuple) else given

    def entries(self) -> list[TaskEntry]:
        """All that is trained on, each once.

        Raises:
            UserError: a name is unknown, nothing is left, or a task file is damaged.
        """
        own = TaskSource(**{name: getattr(self, name) for name in TaskSource.model_fields})
        has_own = bool(own.model_dump(exclude_defaults=True, exclude={"split"}))
        sources = [*([own] if has_own else []), *self.more]
        return merge(
            entry
            for source in sources
            for entry in entries_of(source, split=self.split, arguments=self.arguments)
        )

    def make_curriculum(self, entries: Iterable[TaskEntry]) -> Curriculum:
        """What draws among entries. `UserError` where the quotas cannot be kept."""
        candidates = [Candidate(entry.name, entry.category, entry.weight) for entry in entries]
        return Curriculum(candidates, self.curriculum, self.quotas)

    def chosen(self) -> list[TaskSpec]:
        """The tasks of `entries`, each once, after a check that one run can play them.

        Raises:
            UserError: as `entries`; they cannot be played together; or the quotas cannot be kept.
        """
        entries = self.entries()
        self.make_curriculum(entries)
        if len({entry.variant for entry in entries}) > 1:
            # Imported only here: it makes tasks, and so imports their modules.
            from ui_gym_agents.tasks.mix import members

            members(entries, self.arguments)
        return list(dict.fromkeys(entry.spec for entry in entries))


class EnvSettings(SettingsSection):
    """The environments that episodes are played in."""

    num_envs: int = Field(default=24, ge=1, description="How many environments run side by side.")
    workers: str = Field(
        default="threads",
        description="What plays them: threads of this process, which are enough until Python "
        "itself is what keeps its core busy; processes:4, worker processes here; or what other "
        "machines serve (docs/scale.md).",
    )
    per_rank: bool = Field(
        default=False,
        description="Where several processes learn as one, each plays whole groups of its own in "
        "num_envs envs of its own, rather than the main one alone.",
    )
    dialect: str = Field(default="cells", description="How the model writes its actions.")
    observation: Literal["screenshot", "elements", "both"] = Field(
        default="screenshot",
        description="What is observed: the picture, the elements as text, or both.",
    )
    reward: Literal["success", "progress"] = Field(
        default="success",
        description="When the env rewards: at the end, or what the score gained in each step, "
        "which advantages of turns take in (a critic's, gigpo's).",
    )
    device: str = Field(default="auto", description="What tasks are played on, such as chromium.")
    episode_timeout: float | None = Field(
        default=None,
        gt=0,
        description="Seconds after which an episode is left and counts as failed for the machine's "
        "sake; a run that must repeat to the bit goes without.",
    )
    schedule: Literal["free", "cohorts"] | None = Field(
        default=None,
        description="cohorts: runs repeat to the bit; free: no env waits for a slow one; "
        "null: free where a server samples, else cohorts.",
    )
    max_steps: int | None = Field(
        default=None,
        ge=1,
        description="Steps after which an episode is cut; null: the task's own number.",
    )
    timeout: float = Field(
        default=20.0, gt=0, description="Longest single wait on a device, in seconds."
    )

    def options(self) -> dict[str, Any]:
        """What the envs of a run are made with."""
        names = {"device", "dialect", "observation", "timeout", "max_steps"}
        given = self.model_dump(include=names)
        if self.reward != "success":  # which an argument of the tasks may say as well
            given["reward"] = self.reward
        if self.workers != "threads":
            given["workers"] = self.workers
        return {name: value for name, value in given.items() if value is not None}


class PolicySettings(SettingsSection):
    """The model that acts, and how it is sampled."""

    model: str = Field(
        default="tiny-clerk",
        description="A shipped checkpoint's name, a folder of a model, or a model of the hub such "
        "as Qwen/Qwen2.5-VL-7B-Instruct.",
    )
    adapter: Path | None = Field(
        default=None, description="A folder of a LoRA adapter to start from."
    )
    lora_rank: int = Field(
        default=16, ge=0, description="Rank of the LoRA adapter; 0: train all weights."
    )
    lora_alpha: float = Field(default=32.0, gt=0, description="Scale of the adapter: alpha / rank.")
    lora_targets: tuple[str, ...] | Literal["auto"] = Field(
        default="auto", description="Names of the layers that get an adapter, or auto."
    )
    freeze: tuple[Literal["vision", "embeddings"], ...] = Field(
        default=(), description="With a lora_rank of 0, the parts whose weights stay as they are."
    )
    temperature: float = Field(
        default=1.0, gt=0, description="Sampling temperature while training."
    )
    max_new_tokens: int = Field(default=24, ge=1, description="Most tokens that one turn may have.")
    history: int | None = Field(
        default=None,
        ge=1,
        description="How many of the last screenshots the model sees; null: as trained, or 1.",
    )
    history_drop: int | None = Field(
        default=None,
        ge=1,
        description="How many of the oldest screenshots leave at once where there are more than "
        "history; above 1, prompts extend each other in between; null: as trained, or 1.",
    )
    prompt: str = Field(
        default="auto",
        description="bare: goal and picture only; full: with instructions, dialect and past turns; "
        "auto: as the model's prompt.json says, else full; your own as module:Class.",
    )
    dtype: Literal["float32", "bfloat16", "auto"] = Field(
        default="auto",
        description="Number format of the weights; an adapter is trained in float32 always.",
    )
    attention: Literal["auto", "sdpa", "eager", "flash_attention_2"] = Field(
        default="auto", description="The attention kernel; auto: as transformers chooses, sdpa."
    )
    quantize: Literal["nf4", "int8"] | None = Field(
        default=None,
        description="Keep the text model's weights in 4 bits (QLoRA) or 8, by bitsandbytes, and "
        "train an adapter on them.",
    )
    max_pixels: int | None = Field(
        default=None,
        ge=1,
        description="Pictures of more pixels are made smaller before the model sees them; null: "
        "as its processor has it.",
    )
    device: str = Field(default="auto", description="cpu, cuda, cuda:1, ... or auto.")
    threads: int | None = Field(
        default=None, ge=1, description="CPU threads of torch; null: torch decides."
    )
    batch_tokens: int = Field(
        default=4096, ge=1, description="Most tokens of a micro-batch when learning."
    )
    gradient_checkpointing: bool = Field(
        default=False, description="Compute layers again on the way back, to save memory."
    )
    merge_turns: bool = Field(
        default=False,
        description="Learn from turns whose prompts extend each other in one pass (history > 1).",
    )
    reuse_bytes: int | None = Field(
        default=None,
        ge=0,
        description="Memory for keys and values of the last turns of open episodes, which sampling "
        "computes once; 0: none; null: with a history, 2 GiB, or a quarter of a GPU.",
    )
    picture_bytes: int | None = Field(
        default=None,
        ge=0,
        description="Memory for what the vision tower makes of pictures; null: 256 MiB, or more "
        "where the screenshots that all envs show take more.",
    )
    shard: bool = Field(
        default=False,
        description="Divide the model's frozen weights among the processes of a launch (FSDP2), "
        "for a model that one GPU cannot hold; its adapter is whole in each.",
    )
    engine: str | None = Field(
        default=None,
        description="A server that samples: openai:MODEL@URL for vLLM, sglang:MODEL@URL for "
        "SGLang; ray:vllm?n=2, two that are started in Ray; null: this process.",
    )
    engine_timeout: float = Field(
        default=RequestLimits.timeout,
        gt=0,
        description="Seconds that one attempt at an answer of the engine may take.",
    )
    engine_attempts: int = Field(
        default=RequestLimits.attempts,
        ge=1,
        description="How often an answer is asked for of the engine, before its episode fails and "
        "is played again.",
    )
    agent: str | None = Field(
        default=None,
        description="Somebody else's agent that plays with the policy's words, got over OpenAI's "
        'APIs (docs/integrations.md): command:"python my_agent.py", or a function '
        "module:play; null: the policy itself.",
    )
    exchange: Path | None = Field(
        default=None,
        description="A folder that the engine can read, for adapters, in which each run has its "
        "own; null: a temporary one.",
    )

    @field_validator("prompt")
    @classmethod
    def _known_prompt(cls, name: str) -> str:
        # Imported only here: settings are read where no model is.
        from ui_gym_agents.policy.prompts import KINDS, builder_class

        if name not in KINDS:
            try:
                builder_class(name)
            except UserError as error:
                raise ValueError(str(error)) from None
        return name


class RunSettings(SettingsSection):
    """Where a run lives, how long it lasts, and how often it is saved."""

    directory: Path | None = Field(
        default=None, description="The run's folder; null: runs/<plugin>-<date>-<time>."
    )
    seed: int = Field(default=0, ge=0, description="Seed of everything random.")
    steps: int = Field(default=60, ge=0, description="Training steps in all.")
    eval_every: int = Field(
        default=10, ge=0, description="Steps between quick evaluations; 0: none."
    )
    save_every: int = Field(
        default=10, ge=0, description="Steps between checkpoints; 0: only the last."
    )
    keep: int = Field(default=3, ge=1, description="How many checkpoints are kept.")
    keep_pictures: int = Field(
        default=1,
        ge=0,
        description="The screenshots of every so many groups of a step are kept with their "
        "episodes; 1: of all, 0: of none. Evaluations keep all.",
    )
    records: str = Field(
        default="auto",
        description="The database of records: auto (UI_GYM_DATABASE_URL, DATABASE_URL or "
        "POSTGRES_*, else a file in the run's folder), off, or a URL without password.",
    )
    loggers: tuple[Literal["tensorboard", "trackio", "wandb"], ...] = Field(
        default=(),
        description="Who gets the curves beside metrics.jsonl: tensorboard, trackio, wandb.",
    )
    project: str = Field(
        default="ui-gym", min_length=1, description="The project of the run in trackio and wandb."
    )
    resume: Path | None = Field(
        default=None, description="The folder of a run to continue (--resume)."
    )
    fall_back: bool = Field(
        default=False,
        description="If the newest checkpoint is damaged, resume from the one before.",
    )
    time_limit: float | None = Field(
        default=None,
        gt=0,
        description="Seconds of training after which the run ends; null: no limit.",
    )
    episode_limit: int | None = Field(
        default=None,
        ge=1,
        description="Episodes of training with which the run ends, after the step that reaches "
        "them; null: no limit.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least that the run's log.txt takes in."
    )
    log_format: Literal["text", "json"] = Field(
        default="text", description="How log.txt is written; json: an object a line."
    )
    metrics_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="A port at which Prometheus finds how the run goes; 0: any that is free.",
    )
    metrics_host: str = Field(
        default="127.0.0.1",
        description="The address that metrics_port listens on; others than this machine see it "
        "at 0.0.0.0.",
    )
    on_end: str | None = Field(
        default=None,
        description="A command that is started when the run is over, without a shell; {status}, "
        "{directory} and {name} in it are filled in. It is kept with the settings: no secrets.",
    )
    on_alert: str | None = Field(
        default=None,
        description="A command that is started at an alert (docs/long_runs.md), likewise, with "
        "{rule}, {step}, {message}, {directory} and {name}.",
    )
    alert_stalled: float = Field(
        default=10.0,
        ge=0,
        description="An alert when a step takes so many times as long as the median; 0: none.",
    )
    alert_failures: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description="An alert when a larger share of the last tries at episodes fails for the "
        "machine's sake; 1: none.",
    )


class EvaluationSettings(SettingsSection):
    """How the policy is measured: before, during and after training, on the same seeds, unless
    there is a `target`."""

    episodes: int = Field(
        default=200, ge=0, description="Episodes before and after training; 0: none."
    )
    quick_episodes: int = Field(
        default=48, ge=0, description="Episodes of the evaluations in between."
    )
    attempts: int = Field(
        default=1,
        ge=1,
        description="Episodes of each instance where answers are sampled, which gives pass@k.",
    )
    split: Literal["train", "heldout"] = Field(
        default="heldout", description="Whose parameters are drawn."
    )
    greedy: bool = Field(
        default=True, description="Take the likeliest token, rather than sample, in between."
    )
    before: bool = Field(default=True, description="Measure before training, too.")
    both: bool = Field(
        default=True,
        description="Before and after training, measure greedily and by sampling.",
    )
    target: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Stop once a quick evaluation's success rate reaches this. Quick evaluations "
        "then play other instances than the final one, whose figure so owes nothing to their luck.",
    )


class RunConfig(SettingsSection):
    """A run, whole. `trainer` is the chosen plugin's own section."""

    plugin: str = Field(default="", description="Name of the trainer plugin (--plugin).")
    tasks: TaskSettings = Field(default_factory=TaskSettings)
    env: EnvSettings = Field(default_factory=EnvSettings)
    policy: PolicySettings = Field(default_factory=PolicySettings)
    run: RunSettings = Field(default_factory=RunSettings)
    evaluation: EvaluationSettings = Field(default_factory=EvaluationSettings)
    trainer: Any = None

    @classmethod
    def with_trainer(cls, config: type[BaseModel] | None) -> type[Self]:
        """This model with `trainer` typed as a plugin's `Config`."""
        if config is None:
            return cls
        if any(field.is_required() for field in config.model_fields.values()):
            field: Any = (config, ...)
        else:
            field = (config, Field(default_factory=config))
        return create_model("RunConfig", __base__=cls, trainer=field)

    def changes(self, other: RunConfig) -> dict[str, tuple[Any, Any]]:
        """The keys whose values differ and bear on the result: ``{key: (mine, other's)}``."""
        mine, theirs = (flatten(c.model_dump(mode="json")) for c in (self, other))
        return {
            key: (mine.get(key), theirs.get(key))
            for key in sorted(mine.keys() | theirs.keys())
            if mine.get(key) != theirs.get(key) and not _free_to_change(key)
        }

    def digest(self) -> str:
        """A hash of all that bears on the result."""
        values = flatten(self.model_dump(mode="json"))
        kept = {key: value for key, value in values.items() if not _free_to_change(key)}
        return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def flatten(values: Mapping[str, Any]) -> dict[str, Any]:
    """Two levels of a dumped configuration as dotted keys."""
    flat: dict[str, Any] = {}
    for section, value in values.items():
        if isinstance(value, Mapping):
            flat.update({f"{section}.{key}": inner for key, inner in value.items()})
        else:
            flat[section] = value
    return flat


def _free_to_change(key: str) -> bool:
    """Whether a resumed run may have another value: it does not bear on the steps already done."""
    names = (
        "run.directory", "run.records", "run.loggers", "run.project", "run.resume",
        "run.fall_back", "run.steps", "run.time_limit", "run.episode_limit",
        "run.on_end", "run.on_alert", "run.alert_stalled", "run.alert_failures", "run.log_level",
        "run.log_format", "run.metrics_port", "run.metrics_host", "policy.engine_timeout",
        "policy.engine_attempts", "policy.shard", "env.workers",
    )  # fmt: skip
    return key in names or key.startswith("evaluation.")
