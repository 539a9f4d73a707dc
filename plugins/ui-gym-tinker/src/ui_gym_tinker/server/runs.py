"""Training runs: what clients ask of them, done in the order that they say.

A training request that cannot be done fails in its turn, so that those after it are not held up.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from tinker import types as sdk

from ui_gym_tinker.server import wire
from ui_gym_tinker.server.adapters import AdapterShape
from ui_gym_tinker.server.checkpoints import CheckpointFacts, CheckpointPath, expiry
from ui_gym_tinker.server.core import Reply, ServerCore, told
from ui_gym_tinker.server.data import read_data
from ui_gym_tinker.server.errors import BadRequest, HttpRefusal
from ui_gym_tinker.server.futures import Failure, JsonResult, ProtoResult, Result
from ui_gym_tinker.server.hosted import HostedModel
from ui_gym_tinker.server.losses import choose
from ui_gym_tinker.server.sessions import ClientSession, RunRecord, SamplerRecord
from ui_gym_tinker.server.snapshots import Snapshot
from ui_gym_tinker.server.training import AdamSettings, TrainingRun


class RunService:
    """What is asked of training runs. New adapters are scaled by ``lora_alpha / rank``."""

    def __init__(self, core: ServerCore, lora_alpha: float) -> None:
        self._core = core
        self._alpha = lora_alpha

    def create_model(self, asked: sdk.CreateModelRequest) -> Reply:
        session = self._core.sessions.get(asked.session_id)
        model = self._core.model(asked.base_model)
        lora = asked.lora_config or sdk.LoraConfig(rank=32)
        shape = AdapterShape(
            lora.rank, self._alpha, lora.train_attn, lora.train_mlp, lora.train_unembed
        )
        run = self._new_run(session, asked.model_seq_id, model, shape, asked.user_metadata)
        seed = secrets.randbits(31) if lora.seed is None else lora.seed

        def make() -> Result:
            _check_optimizer(asked.optimizer_config)
            self._give(run, lambda: TrainingRun(model, model.fresh(shape, seed)))
            return JsonResult({"type": "create_model", "model_id": run.id})

        return self._first(run, make)

    def _load_new(self, asked: sdk.LoadWeightsRequest) -> Reply:
        """A training run that begins with a checkpoint's weights."""
        if asked.session_id is None or asked.model_seq_id is None:
            raise HttpRefusal(422, "load_weights names a model_id, or a session and model_seq_id")
        session = self._core.sessions.get(asked.session_id)
        path, facts = self._core.facts(asked.path)
        model = self._core.model(asked.base_model or facts.base_model)
        run = self._new_run(session, asked.model_seq_id, model, facts.shape, asked.user_metadata)

        def make() -> Result:
            if asked.optimizer_config is not None:
                _check_optimizer(asked.optimizer_config)

            def loaded() -> TrainingRun:
                pairs = self._core.checkpoints.tensors(path)
                made = TrainingRun(model, model.restored(facts.shape, pairs))
                if asked.optimizer:
                    made.steps = self._core.checkpoints.load_optimizer(path, made.optimizer)
                return made

            self._give(run, loaded)
            return JsonResult({"type": "load_weights", "path": str(path), "model_id": run.id})

        return self._first(run, make)

    def _new_run(
        self,
        session: ClientSession,
        number: int,
        model: HostedModel,
        shape: AdapterShape,
        metadata: Mapping[str, str] | None,
    ) -> RunRecord:
        made = RunRecord(f"{session.id}:train:{number}", session.id, model, shape, metadata)
        return session.runs.setdefault(made.id, made)

    def _first(self, run: RunRecord, make: Callable[[], Result]) -> Reply:
        promised, new = self._core.futures.add(f"{run.id}:0", run.session)
        if new:
            self._core.compute.submit(lambda: promised.resolve(told(make)))
        return {"request_id": promised.request_id, "model_id": run.id}

    def _give(self, run: RunRecord, make: Callable[[], TrainingRun]) -> None:
        """Make a run's adapter, if there is room for it."""
        layers = [run.model.layers[name] for name in run.model.adapted(run.shape)]
        numbers = sum(run.shape.rank * (one.in_features + one.out_features) for one in layers)
        need = 16 * numbers  # the adapter, its gradients, and two moments, in float32
        self._core.memory.reserve(need, f"an adapter of rank {run.shape.rank} on {run.model.name}")
        try:
            run.training = make()
        except BaseException:
            self._core.memory.release(need)
            raise

    def _in_turn(self, run: RunRecord, seq: int | None, work: Callable[[], Result]) -> Reply:
        """Do `work` when those before it are done; once, however often it is asked for."""
        place = run.next_seq if seq is None else seq
        promised, new = self._core.futures.add(f"{run.id}:{place}", run.session)
        if new:

            def job() -> None:
                promised.resolve(told(work))

            if not self._core.sessions.in_order(run, place, job, self._core.compute.submit):
                promised.resolve(Failure(
                    f"the request {place} of {run.id} was done before, and its result is not kept "
                    "any more", "user",
                ))  # fmt: skip
        return {"request_id": promised.request_id, "model_id": run.id}

    def run_pass(self, request: wire.PassRequest) -> Reply:
        """A forward pass, or one forward and backward."""
        run = self._core.sessions.run(request.model_id)
        recorded = self._core.sessions.get(run.session).recorded
        reader, vocabulary = self._core.readers[run.model.name], run.model.vocabulary
        read = _tried(lambda: read_data(request, reader, vocabulary, recorded))

        def work() -> Result:
            examples = read()
            loss, config = choose(request.loss, request.config)
            training = run.ready()
            do = training.forward if request.forward_only else training.forward_backward
            passed = do(examples, loss, config)
            return ProtoResult(
                wire.pass_result(passed.loss, [one.numpy() for one in passed.logprobs])
            )

        return self._in_turn(run, request.seq_id or None, work)

    def optim_step(self, asked: sdk.OptimStepRequest) -> Reply:
        run = self._core.sessions.run(asked.model_id)
        params = asked.optim_params

        def work() -> Result:
            if not isinstance(params, sdk.AdamParams):
                raise BadRequest(f"this server has AdamW alone, and no {params.type!r}")
            return JsonResult({"metrics": run.ready().step(AdamSettings(**params.model_dump()))})

        return self._in_turn(run, asked.seq_id, work)

    # -- checkpoints --

    def save_weights(self, asked: sdk.SaveWeightsRequest) -> Reply:
        run = self._core.sessions.run(asked.model_id)

        def work() -> Result:
            training = run.ready()
            path = CheckpointPath.of(run.id, "weights", asked.path or f"step-{training.steps:06d}")
            facts = self._new_facts(run, asked.ttl_seconds, asked.user_metadata)
            self._core.checkpoints.save(
                path, training.adapter, facts, training.optimizer, overwrite=asked.overwrite
            )
            return JsonResult({"type": "save_weights", "path": str(path)})

        return self._in_turn(run, asked.seq_id, work)

    def save_for_sampler(self, asked: sdk.SaveWeightsForSamplerRequest) -> Reply:
        run = self._core.sessions.run(asked.model_id)

        def work() -> Result:
            if asked.path is not None:
                path = CheckpointPath.of(run.id, "sampler_weights", asked.path)
                facts = self._new_facts(run, asked.ttl_seconds, asked.user_metadata)
                self._core.checkpoints.save(path, run.ready().adapter, facts)
                return JsonResult({"type": "save_weights_for_sampler", "path": str(path)})
            snapshot = Snapshot(run.model, run.shape)
            self._core.memory.keep(snapshot, run.ready().adapter.copy())
            sampler = self._sampler_of(run, asked, snapshot)
            return JsonResult(
                {"type": "save_weights_for_sampler", "sampling_session_id": sampler.id}
            )

        return self._in_turn(run, asked.seq_id, work)

    def _sampler_of(
        self, run: RunRecord, asked: sdk.SaveWeightsForSamplerRequest, snapshot: Snapshot
    ) -> SamplerRecord:
        session = self._core.sessions.get(run.session)
        number = asked.sampling_session_seq_id
        name = secrets.token_hex(8) if number is None else str(number)
        made = SamplerRecord(f"{session.id}:sample:{name}", session.id, run.model)
        if asked.kind == "inflight":
            before, run.inflight, made.run = run.inflight, snapshot, run
            if before is not None:
                self._core.memory.drop(before)
        else:
            made.snapshot = snapshot
        session.samplers[made.id] = made
        return made

    def save_external(self, asked: sdk.SaveWeightsExternalRequest) -> Reply:
        """Is refused, in its turn."""
        run = self._core.sessions.run(asked.model_id)

        def work() -> Result:
            raise BadRequest(
                "this server has no bucket to export to: save_state writes the adapter in PEFT's "
                f"layout, into {self._core.checkpoints.folder}"
            )

        return self._in_turn(run, asked.seq_id, work)

    def load_weights(self, asked: sdk.LoadWeightsRequest) -> Reply:
        """Weights for a run that is there, or for a new one."""
        if asked.model_id is None:
            return self._load_new(asked)
        run = self._core.sessions.run(asked.model_id)

        def work() -> Result:
            training = run.ready()
            path = CheckpointPath.parse(asked.path)
            facts = self._core.checkpoints.facts(path)
            if facts.shape != run.shape:
                raise BadRequest(f"{path} is an adapter of another shape than that of {run.id}")
            loaded = run.model.restored(facts.shape, self._core.checkpoints.tensors(path))
            training.adapter.take({name: (a.data, b.data) for name, (a, b) in loaded.pairs.items()})
            training.forget_optimizer()
            if asked.optimizer:
                training.steps = self._core.checkpoints.load_optimizer(path, training.optimizer)
            return JsonResult({"type": "load_weights", "path": str(path), "model_id": run.id})

        return self._in_turn(run, asked.seq_id, work)

    def _new_facts(
        self, run: RunRecord, ttl: int | None, metadata: Mapping[str, str] | None
    ) -> CheckpointFacts:
        return CheckpointFacts(
            run.model.name,
            run.shape,
            run.ready().steps,
            time.time(),
            expiry(ttl),
            dict(metadata or {}),
        )

    def unload_model(self, model_id: str) -> Reply:
        run = self._core.sessions.run(model_id)

        def work() -> Result:
            self.free(run)
            self._core.sessions.unload(run)
            return JsonResult({"type": "unload_model", "model_id": run.id})

        return self._in_turn(run, None, work)

    def free(self, run: RunRecord) -> None:
        """Let go of a run. For the thread that computes."""
        if run.training is not None:
            self._core.memory.release(run.training.nbytes)
            run.training = None
        if run.inflight is not None:
            self._core.memory.drop(run.inflight)
            run.inflight = None


def _check_optimizer(config: Any) -> None:
    if config.type != "adamw":
        raise BadRequest(f"this server has the optimizer adamw alone, and no {config.type!r}")


def _tried(read: Callable[[], Any]) -> Callable[[], Any]:
    """Reads now, and gives what was read, or raises what went wrong, when it is called."""
    try:
        value = read()
    except BadRequest as error:
        known = error

        def refuse() -> Any:
            raise known

        return refuse
    return lambda: value
