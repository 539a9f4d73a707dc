"""How a run goes, for Prometheus: a page of numbers at a port (`RunSettings.metrics_port`).

``ui_gym_run_info`` (labels ``run``, ``plugin``), ``ui_gym_step``, ``ui_gym_steps``,
``ui_gym_elapsed_seconds``, ``ui_gym_last_step_time_seconds`` (Unix time), ``ui_gym_metric`` (label
``name``: what the trainer gave for the last step), ``ui_gym_evaluation_success``, ``_low`` and
``_high`` (label ``mode``), ``ui_gym_disk_free_bytes``; counted since this process began:
``ui_gym_episodes_total`` (label ``outcome``: success, failure, fault), ``ui_gym_faults_total`` (of
tries at episodes) and ``ui_gym_alerts_total`` (label ``rule``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents.collecting.fault import EpisodeFault
from ui_gym_agents.episode import Episode, Purpose
from ui_gym_agents.training import disk
from ui_gym_agents.training.listeners import RunInfo, RunListener, Status, SuccessReport
from ui_gym_agents.training.settings import RunSettings

CLOSE_SECONDS = 10.0
REQUEST_SECONDS = 10.0
"""How long somebody may take to ask: each connection has a thread of its own."""


@contextmanager
def metrics_ports(settings: RunSettings) -> Iterator[list[MetricsPort]]:
    """The page that a run's settings ask for, if any, served meanwhile.

    Raises:
        UserError: prometheus_client is not installed, or the port cannot be had.
    """
    if settings.metrics_port is None:
        yield []
        return
    port = MetricsPort(settings.metrics_port, settings.metrics_host)
    try:
        yield [port]
    finally:
        port.close()


class MetricsPort(RunListener):
    """Serves the page at `address`, from now on until the run has ended or it is closed."""

    def __init__(self, port: int, host: str) -> None:
        """Raises `UserError`: see `metrics_ports`."""
        try:
            client: Any = import_module("prometheus_client")
        except ModuleNotFoundError:
            raise UserError(
                "--run.metrics_port needs prometheus_client; to get it: "
                "pip install 'ui-gym[prometheus]'"
            ) from None
        self._registry = client.CollectorRegistry()

        def gauge(name: str, what: str, *labels: str) -> Any:
            return client.Gauge(f"ui_gym_{name}", what, labels, registry=self._registry)

        def counter(name: str, what: str, *labels: str) -> Any:
            return client.Counter(f"ui_gym_{name}", what, labels, registry=self._registry)

        self._info = gauge("run_info", "The run that this is.", "run", "plugin")
        self._step = gauge("step", "Finished steps.")
        self._steps = gauge("steps", "Steps in all.")
        self._elapsed = gauge("elapsed_seconds", "Seconds of training in all.")
        self._last = gauge("last_step_time_seconds", "When a step was finished last.")
        self._metric = gauge("metric", "What the trainer gave for the last step.", "name")
        self._rates = {
            name: gauge(f"evaluation_{name}", f"{what} of the last evaluation.", "mode")
            for name, what in (
                ("success", "The success rate"),
                ("low", "The lower end of the 95 % interval"),
                ("high", "The upper end of the 95 % interval"),
            )
        }
        self._free = gauge("disk_free_bytes", "What is free on the disk of the run.")
        self._episodes = counter("episodes", "Episodes that ended.", "outcome")
        self._faults = counter("faults", "Tries at episodes that failed by the machine.")
        self._alerts = counter("alerts", "Alerts.", "rule")
        try:
            self._server, self._thread = client.start_http_server(port, host, self._registry)
        except OSError as error:
            raise UserError(
                f"--run.metrics_port {port} at {host} cannot be had: {error}; name another, or 0 "
                "for any that is free"
            ) from error
        handler = self._server.RequestHandlerClass
        self._server.RequestHandlerClass = type(
            handler.__name__, (handler,), {"timeout": REQUEST_SECONDS}
        )
        self.address = f"http://{host}:{self._server.server_port}/metrics"

    def begun(self, run: RunInfo) -> None:
        self._info.labels(run.directory.absolute().name, run.config.plugin).set(1)
        self._step.set(run.resumed or 0)
        self._steps.set(run.config.run.steps)
        self._free.set_function(lambda: disk.free(run.directory).bytes)

    def step_begun(self, step: int, steps: int) -> None:
        self._steps.set(steps)

    def episode(self, episode: Episode) -> None:
        outcome = "fault" if episode.failure else "success" if episode.success else "failure"
        self._episodes.labels(outcome).inc()

    def fault(self, fault: EpisodeFault) -> None:
        self._faults.inc()

    def alert(self, step: int, rule: str, message: str) -> None:
        self._alerts.labels(rule).inc()

    def step_finished(self, step: int, metrics: Mapping[str, float], elapsed: float) -> None:
        self._step.set(step)
        self._elapsed.set(elapsed)
        self._last.set_to_current_time()
        self._metric.clear()  # A metric that is not given any more is not what it was.
        for name, value in metrics.items():
            self._metric.labels(name).set(value)

    def evaluation_finished(self, purpose: Purpose, report: SuccessReport, elapsed: float) -> None:
        low, high = report.interval
        for name, value in (("success", report.success), ("low", low), ("high", high)):
            self._rates[name].labels(purpose.mode).set(float(value))

    def ended(self, status: Status, step: int, error: str = "") -> None:
        self.close()

    def close(self) -> None:
        """Serve no more. Closing twice is harmless."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join(CLOSE_SECONDS)
