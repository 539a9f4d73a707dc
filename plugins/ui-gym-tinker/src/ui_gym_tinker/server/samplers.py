"""Samplers: what clients ask of them, computed in batches of equal weights."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from weakref import WeakValueDictionary

from tinker import types as sdk

from ui_gym_tinker.server.checkpoints import WEIGHTS
from ui_gym_tinker.server.core import Reply, ServerCore
from ui_gym_tinker.server.errors import BadRequest, HttpRefusal
from ui_gym_tinker.server.futures import Failure, Promised
from ui_gym_tinker.server.prompts import SampleWork, read_sample, score_prompt, sequence_id
from ui_gym_tinker.server.sampling import GrowingSample, sample_all
from ui_gym_tinker.server.sessions import ClientSession, SamplerRecord
from ui_gym_tinker.server.snapshots import Snapshot


class SamplerService:
    """What is asked of samplers."""

    def __init__(self, core: ServerCore) -> None:
        self._core = core
        self._loaded: WeakValueDictionary[tuple[str, float], Snapshot] = WeakValueDictionary()

    def create(self, asked: sdk.CreateSamplingSessionRequest) -> Reply:
        session = self._core.sessions.get(asked.session_id)
        name = f"{session.id}:sample:{asked.sampling_session_seq_id}"
        if name not in session.samplers:
            session.samplers[name] = self._new_sampler(session, name, asked)
        return {"type": "create_sampling_session", "sampling_session_id": name}

    def _new_sampler(
        self, session: ClientSession, name: str, asked: sdk.CreateSamplingSessionRequest
    ) -> SamplerRecord:
        if asked.model_path is None:
            if asked.base_model is None:
                raise HttpRefusal(422, "a sampler is of a base_model or of a model_path")
            return SamplerRecord(name, session.id, self._core.model(asked.base_model))
        path, facts = self._core.facts(asked.model_path)
        model = self._core.model(asked.base_model or facts.base_model)
        key = (str(path), facts.created)
        snapshot = self._loaded.get(key)
        if snapshot is None:
            file = self._core.checkpoints.place(path) / WEIGHTS
            snapshot = Snapshot(model, facts.shape, file=file)
            self._loaded[key] = snapshot
        return SamplerRecord(name, session.id, model, snapshot, model_path=str(path))

    def sample(self, asked: sdk.SampleRequest) -> Reply:
        if asked.sampling_session_id is None:
            raise HttpRefusal(422, "a sample is asked of a sampling_session_id")
        sampler = self._core.sessions.sampler(asked.sampling_session_id)
        number = secrets.token_hex(8) if asked.seq_id is None else str(asked.seq_id)
        promised, new = self._core.futures.add(f"{sampler.id}:{number}", sampler.session)
        if new:
            try:
                self._core.compute.submit_sample(self._work(asked, sampler, promised))
            except BadRequest as error:
                promised.resolve(Failure(str(error), "user"))
        ids = [sequence_id(promised.request_id, i) for i in range(asked.num_samples)]
        return {"request_id": promised.request_id, "sample_sequence_ids": ids}

    def _work(
        self, asked: sdk.SampleRequest, sampler: SamplerRecord, promised: Promised
    ) -> SampleWork:
        model, snapshot = sampler.model, sampler.current
        if snapshot is None and sampler.run is not None:
            raise BadRequest(f"the training run {sampler.run.id} was unloaded, and its sampler too")
        shown, answers, questions = read_sample(asked, self._core.readers[model.name], model)
        for answer in answers:
            answer.abandoned = lambda: promised.done
        work = SampleWork(
            promised, model, snapshot, shown, questions, answers, asked=not questions.any
        )
        if asked.record_stability_info:
            work.record = self._core.sessions.get(sampler.session).record
        return work

    def compute(self, asked: Sequence[SampleWork]) -> None:
        """Compute samples of equal weights. For the thread that computes."""
        batch = [work for work in asked if not work.promised.done]
        if not batch:
            return
        model, snapshot = batch[0].model, batch[0].snapshot
        adapter = None if snapshot is None else self._core.memory.adapter_of(snapshot)
        asking = [work for work in batch if work.questions.any and not work.asked]
        if asking:
            with model.sampling(adapter):
                for work in asking:
                    work.scores, work.asked = score_prompt(work), True
        of = {id(answer): work for work in batch for answer in work.answers}

        def finished(answer: GrowingSample) -> None:
            of[id(answer)].finish()

        answers = [answer for work in batch for answer in work.answers]
        sample_all(model, adapter, answers, finished)

    def cancel(self, request_id: str) -> None:
        """Nobody waits for samples any more: they are not begun, or not gone on with."""
        promised = self._core.futures.get(request_id)
        if promised is not None and ":sample:" in request_id:
            promised.resolve(Failure("the client has cancelled this request", "user"))

    def free(self, sampler: SamplerRecord) -> None:
        """Let go of a sampler. For the thread that computes."""
        if sampler.snapshot is not None and sampler.snapshot.own:
            self._core.memory.drop(sampler.snapshot)
