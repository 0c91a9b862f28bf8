"""Stands in for vLLM's server in tests of process logic: the same command line and addresses, no model behind them.

STAND_IN says how it goes wrong: `dies`, `hangs` (never answers), `stubborn` (hears no SIGTERM), `falls` (once, at its third
question), `slow` (half a second a question). It has a child, as vLLM has.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

words = sys.argv[1:]
given = {words[i]: words[i + 1] for i in range(len(words) - 1)}
how, name, key = os.environ.get("STAND_IN", ""), given["--served-model-name"], os.environ["VLLM_API_KEY"]
adapters, state, turns = {}, {"asleep": False}, itertools.count(1)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/version":
            return self.send({"version": "9.9"})
        if self.path == "/is_sleeping":
            return self.send({"is_sleeping": state["asleep"]})
        if self.path == "/health":
            return self.send({})
        self.behind_key(lambda _: self.send({"data": [{"id": each} for each in (name, *adapters)]}))

    def do_POST(self):
        if self.path.startswith(("/sleep", "/wake_up")):
            if "--enable-sleep-mode" not in words or "VLLM_SERVER_DEV_MODE" not in os.environ:
                return self.send({"detail": "Not Found"}, 404)
            state["asleep"] = self.path.startswith("/sleep")
            print("asleep" if state["asleep"] else "awake", flush=True)
            return self.send({})
        self.behind_key(self.load if self.path.endswith("/load_lora_adapter") else self.chat)

    def behind_key(self, answer):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.headers.get("Authorization") != f"Bearer {key}":
            return self.send({"error": "Unauthorized"}, 401)
        answer(body)

    def load(self, body):
        if "--enable-lora" not in words:
            return self.send({"detail": "Not Found"}, 404)
        adapters[body["lora_name"]] = body["lora_path"]
        self.send("Success")

    def chat(self, body):
        if state["asleep"]:
            return self.send({"error": {"message": "asleep"}}, 400)
        turn = next(turns)
        time.sleep(0.5 if how == "slow" else 0)
        if how == "falls" and turn == 3 and not Path("fallen").exists():
            Path("fallen").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        said = body["messages"][-1]["content"]
        if said == "wait":
            time.sleep(60)
        choice = {"index": 0, "message": {"role": "assistant", "content": f"{body['model']}: {said}"}, "finish_reason": "stop"}
        self.send({"choices": [choice], "usage": {"prompt_tokens": 2, "completion_tokens": 2}})

    def send(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("child", child.pid, flush=True)
print("words", json.dumps(words), flush=True)
if how == "dies":
    print("(EngineCore pid=1) ERROR [core.py:7] torch.OutOfMemoryError: CUDA out of memory", flush=True)
    print("RuntimeError: Engine core initialization failed", flush=True)
    sys.exit(3)
if how == "hangs":
    time.sleep(600)
if how == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
ThreadingHTTPServer((given["--host"], int(given["--port"])), Handler).serve_forever()
