"""A `ModelServer` as a command: ``python served.py FOLDER HOST PORT``, serving ``policy``.

It wants the key that its environment has. A GET tells how much was asked of it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.engines.model_server import ModelServer


class Served(ModelServer):
    def __init__(self, folder: Path, host: str, port: int) -> None:
        super().__init__(folder)
        self.models["policy"] = self.models["tiny"]
        self.refused = 0
        self.outside = ThreadingHTTPServer((host, port), self._handler())

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server, inner = self, super()._handler()

        class Handler(inner):  # type: ignore[misc, valid-type]
            def do_POST(self) -> None:  # noqa: N802
                if self.headers["Authorization"] != f"Bearer {os.environ['VLLM_API_KEY']}":
                    server.refused += 1
                    self._send(401, b"{}")
                    return
                super().do_POST()

            def do_GET(self) -> None:  # noqa: N802
                asked = sum("messages" in body for body in server.requests)
                told = {"asked": asked, "log": server.log, "refused": server.refused}
                self._send(200, json.dumps(told).encode())

        return Handler


if __name__ == "__main__":
    served = Served(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    threading.Thread(target=served.outside.serve_forever, daemon=True).start()
    print("serving", flush=True)
    threading.Event().wait()
