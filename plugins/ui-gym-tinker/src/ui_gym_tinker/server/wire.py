"""Between the SDK's wire and ours: requests in, results out, by the SDK's own types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
import zstandard
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from pydantic import BaseModel, ValidationError
from tinker.proto import tinker_public_pb2 as pb
from tinker.types import ImageChunk, ModelInput
from tinker.types.encoded_text_chunk import EncodedTextChunk

from ui_gym_tinker.server.errors import BadRequest, HttpRefusal
from ui_gym_tinker.server.inputs import Part, PicturePart, TextPart

MOST_BYTES = 256 << 20
"""Of a request, also when it is unpacked."""

T = TypeVar("T", bound=BaseModel)

_NUMPY: dict[int, np.dtype[Any]] = {
    pb.DTYPE_FLOAT32: np.dtype(np.float32),
    pb.DTYPE_INT64: np.dtype(np.int64),
    pb.DTYPE_INT32: np.dtype(np.int32),
}


def parsed(kind: type[T], body: bytes) -> T:
    """A JSON request as the SDK's type of it.

    Raises:
        HttpRefusal: (422) it is none.
    """
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        told = "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:3]
        )
        raise HttpRefusal(422, f"this is no {kind.__name__} of SDK 0.38: {told}") from None


def unpacked(body: bytes, encoding: str) -> bytes:
    """A request's body without its ``Content-Encoding``.

    Raises:
        HttpRefusal: (400) it is damaged, too large, or packed otherwise than by zstd.
    """
    if encoding in ("", "identity"):
        return body
    if encoding != "zstd":
        raise HttpRefusal(400, f"a request is sent plainly or as zstd, not as {encoding[:50]!r}")
    try:
        with zstandard.ZstdDecompressor().stream_reader(body) as reader:
            found: bytes = reader.read(MOST_BYTES + 1)
    except zstandard.ZstdError as error:
        raise HttpRefusal(400, f"the request is no zstd: {error}") from None
    if len(found) > MOST_BYTES:
        raise HttpRefusal(413, f"a request has {MOST_BYTES >> 20} MiB at most")
    return found


def parts_of(given: ModelInput) -> list[Part]:
    """The chunks of a model input of a JSON request."""
    found: list[Part] = []
    for number, chunk in enumerate(given.chunks):
        if isinstance(chunk, EncodedTextChunk):
            found.append(TextPart(chunk.tokens))
        elif isinstance(chunk, ImageChunk):
            found.append(PicturePart(chunk.data, chunk.format, chunk.expected_tokens))
        else:
            raise BadRequest(f"chunk {number}: this server takes tokens and pictures, and no "
                             f"{type(chunk).__name__}")  # fmt: skip
    return found


# -- forward_backward --


@dataclass(frozen=True)
class PassRequest:
    """A request for a pass; its data are read by `data_of`."""

    model_id: str
    seq_id: int
    loss: str
    config: Mapping[str, float | str]
    forward_only: bool
    message: Any


def pass_request(body: bytes) -> PassRequest:
    """A ``/forward_backward`` request.

    Raises:
        HttpRefusal: (400) it is no such message.
    """
    message = pb.ForwardBackwardRequest()
    try:
        message.ParseFromString(body)
    except DecodeError as error:
        raise HttpRefusal(400, f"this is no ForwardBackwardRequest: {error}") from None
    if not message.model_id:
        raise HttpRefusal(400, "this is no ForwardBackwardRequest: it names no model")
    config: dict[str, float | str] = dict(message.loss_fn_config)
    for key, value in message.loss_fn_config_v2.items():
        config[key] = value.text if value.WhichOneof("value") == "text" else value.number
    return PassRequest(
        message.model_id, message.seq_id, message.loss_fn, config, message.forward_only, message
    )


@dataclass(frozen=True)
class Span:
    """So many of a datum's targets: those of a sequence from `offset` on, or (None) a prompt's."""

    sequence_id: str | None
    offset: int
    length: int


@dataclass(frozen=True)
class WireDatum:
    """A datum as it came: `inputs` are int64 or float32 arrays, `spans` say whose targets are."""

    parts: list[Part]
    inputs: dict[str, np.ndarray]
    spans: list[Span]


def data_of(request: PassRequest) -> Iterator[WireDatum]:
    """The data of a request.

    Raises:
        BadRequest: a tensor is damaged, or a chunk is neither tokens nor a picture.
    """
    for number, datum in enumerate(request.message.data):
        try:
            parts = [_part(i, chunk) for i, chunk in enumerate(datum.model_input)]
            inputs = {name: _array(name, value) for name, value in datum.loss_fn_inputs.items()}
            spans = [_span(one) for one in datum.loss_fn_input_spans]
        except BadRequest as error:
            raise BadRequest(f"datum {number}: {error}") from None
        yield WireDatum(parts, inputs, spans)


def _span(span: Any) -> Span:
    if span.WhichOneof("span") == "sampled_tokens":
        sampled = span.sampled_tokens
        return Span(sampled.sequence_id, sampled.offset, sampled.length)
    return Span(None, span.prompt_tokens.offset, span.prompt_tokens.length)


def _part(number: int, chunk: Any) -> Part:
    kind = chunk.WhichOneof("chunk")
    if kind == "encoded_text":
        try:
            return TextPart(np.frombuffer(chunk.encoded_text.tokens, dtype=np.int32).tolist())
        except ValueError as error:
            raise BadRequest(f"chunk {number}: its tokens are damaged: {error}") from None
    if kind == "image":
        image = chunk.image
        expected = image.expected_tokens if image.HasField("expected_tokens") else None
        return PicturePart(image.data, image.format, expected)
    raise BadRequest(f"chunk {number}: this server takes tokens and pictures, and no {kind}")


def _array(name: str, tensor: Any) -> np.ndarray:
    dtype = _NUMPY.get(tensor.dtype)
    if dtype is None:
        raise BadRequest(f"{name} is neither float32 nor int64")
    shape = tuple(tensor.shape)
    try:
        if tensor.WhichOneof("encoding") == "sparse_csr":
            found = _dense(tensor.sparse_csr, dtype, shape)
        else:
            found = np.frombuffer(tensor.dense, dtype=dtype)
            found = found.reshape(shape) if shape else found
    except (ValueError, IndexError) as error:
        raise BadRequest(f"{name} is damaged: {error}") from None
    return found.astype(np.float32 if dtype.kind == "f" else np.int64)


def _dense(csr: Any, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    rows, columns = shape
    ends = np.frombuffer(csr.crow_indices, dtype=np.int64)
    counts = ends[1:] - ends[:-1]
    if len(counts) != rows:
        raise ValueError(f"{rows} rows have {len(counts)} counts")
    if rows * columns * dtype.itemsize > MOST_BYTES:
        raise ValueError(f"{rows} rows of {columns} are more than {MOST_BYTES >> 20} MiB")
    found = np.zeros((rows, columns), dtype=dtype)
    where = np.repeat(np.arange(rows), counts)
    found[where, np.frombuffer(csr.col_indices, dtype=np.int64)] = np.frombuffer(
        csr.values, dtype=dtype
    )
    return found


def pass_result(loss: float, logprobs: Sequence[np.ndarray]) -> bytes:
    """A ``ForwardBackwardOutput``: the sum of the loss, and the log-probabilities of each datum."""
    message = pb.ForwardBackwardOutput(loss_fn_output_type="ArrayRecord")
    message.metrics["loss:sum"] = loss
    for trailing, some in groupby(logprobs, key=lambda one: one.shape[1:]):
        arrays = [np.ascontiguousarray(one, dtype=np.float32) for one in some]
        record = message.loss_fn_outputs.add(type_tag="ArrayRecord", num_datums=len(arrays))
        field = record.fields["logprobs"]
        field.data = b"".join(one.tobytes() for one in arrays)
        field.offsets = np.cumsum([0, *(one.nbytes for one in arrays)], dtype=np.int64).tobytes()
        field.dtype = pb.DTYPE_FLOAT32
        field.trailing_shape.extend(trailing)
    data: bytes = message.SerializeToString()
    return data


# -- samples --


@dataclass(frozen=True)
class SampledRow:
    """One sample: `top` are ids and log-probabilities of the likeliest, each (tokens, k)."""

    ids: Sequence[int]
    logprobs: Sequence[float]
    stopped: bool
    top: tuple[np.ndarray, np.ndarray] | None = None


@dataclass(frozen=True)
class PromptScores:
    """What is told of a prompt's tokens, as far as it was asked for.

    `logprobs` (tokens,) float32 with NaN where there is none; `top` as in `SampledRow`; `targets`
    and `alternatives` are tensors of the wire.
    """

    logprobs: np.ndarray | None = None
    top: tuple[np.ndarray, np.ndarray] | None = None
    targets: Any = None
    alternatives: tuple[np.ndarray, np.ndarray] | None = None


def sample_result(rows: Sequence[SampledRow], scores: PromptScores) -> bytes:
    """A ``SampleResponse``."""
    message = pb.SampleResponse()
    for row in rows:
        sequence = message.sequences.add(
            stop_reason=pb.STOP_REASON_STOP if row.stopped else pb.STOP_REASON_LENGTH,
            tokens=np.asarray(row.ids, dtype=np.int32).tobytes(),
            logprobs=np.asarray(row.logprobs, dtype=np.float32).tobytes(),
        )
        if row.top is not None:
            _put_top(sequence.topk_sampled_logprobs, row.top)
    if scores.logprobs is not None:
        message.prompt_logprobs = scores.logprobs.astype(np.float32).tobytes()
    if scores.top is not None:
        _put_top(message.topk_prompt_logprobs, scores.top)
    if scores.targets is not None:
        message.target_prompt_logprobs.CopyFrom(scores.targets)
    if scores.alternatives is not None:
        ids, values = scores.alternatives
        message.prompt_alt_tokens.tokens.CopyFrom(dense(ids.astype(np.int64)))
        message.prompt_alt_tokens.logprobs.CopyFrom(dense(values.astype(np.float32)))
    data: bytes = message.SerializeToString()
    return data


def dense(array: np.ndarray) -> Any:
    """An int64 or float32 array as a tensor of the wire."""
    kind = pb.DTYPE_FLOAT32 if array.dtype.kind == "f" else pb.DTYPE_INT64
    return pb.Tensor(dense=np.ascontiguousarray(array).tobytes(), dtype=kind, shape=array.shape)


def _put_top(message: Any, top: tuple[np.ndarray, np.ndarray]) -> None:
    ids, values = top
    message.token_ids = ids.astype(np.int32).tobytes()
    message.logprobs = values.astype(np.float32).tobytes()
    message.length, message.k = ids.shape
