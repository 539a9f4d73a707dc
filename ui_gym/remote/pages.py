"""Pages of a server for whoever looks after it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ui_gym.remote import wire
from ui_gym.remote.lending import Lender
from ui_gym.remote.sockets import Sessions


def routes(lender: Lender, sessions: Sessions) -> list[Route]:
    """``/healthz`` (whether it lives), ``/capacity`` (what is free), ``/metrics`` (Prometheus)."""

    async def healthz(request: Request) -> Response:
        if lender.ending.is_set():
            return PlainTextResponse("ending\n", 503)
        return PlainTextResponse("ok\n")

    async def capacity(request: Request) -> Response:
        return JSONResponse(
            {
                "protocol": wire.PROTOCOL, "version": wire.VERSION, "slots": lender.limits.slots,
                "free": lender.free, "sessions": len(sessions), "playing": lender.playing,
                "ending": lender.ending.is_set(), "tasks": sorted(lender.tasks) or None,
            }
        )  # fmt: skip

    async def metrics(request: Request) -> Response:
        gauges = {
            "slots": lender.limits.slots, "slots_free": lender.free, "sessions": len(sessions),
            "episodes_playing": lender.playing,
        }  # fmt: skip
        lines = [
            f"# TYPE ui_gym_{name} gauge\nui_gym_{name} {value}" for name, value in gauges.items()
        ]
        for name, value in lender.counts.items():
            lines.append(f"# TYPE ui_gym_{name}_total counter\nui_gym_{name}_total {value}")
        return PlainTextResponse("\n".join(lines) + "\n")

    return [
        Route("/healthz", healthz), Route("/capacity", capacity), Route("/metrics", metrics),
    ]  # fmt: skip
