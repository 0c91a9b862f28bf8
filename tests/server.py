"""A real model server for tests: answers every chat request by a function of its text, and keeps what it was sent."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ModelServer:
    """answer: the last user message -> reply text. bodies: every request body, in order of arrival. A context manager.

    adapters: name -> folder of those that it was given; refuses: why it takes none.
    """

    def __init__(self, answer: Callable[[str], str], refuses: str | None = None):
        self.bodies: list[dict] = []
        self.adapters: dict[str, str] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                names = ("solver", "proposer", *outer.adapters)
                self._send({"object": "list", "data": [{"id": name, "object": "model"} for name in names]})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path.endswith("/load_lora_adapter"):
                    return self._send({"detail": refuses}, 404) if refuses else self._load(body)
                outer.bodies.append(body)
                text = answer(body["messages"][-1]["content"])
                choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
                usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
                self._send({"id": "1", "object": "chat.completion", "created": 1, "choices": [choice], "usage": usage})

            def _load(self, body):
                """As vLLM does it."""
                name = body["lora_name"]
                if name in outer.adapters:
                    return self._send({"message": f"The lora adapter '{name}' has already been loaded."}, 400)
                outer.adapters[name] = body["lora_path"]
                return self._send(f"Success: LoRA adapter '{name}' added successfully.")

            def _send(self, value, status=200):
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
