"""A chat server with a fixed latency and no limit of requests at once, for benchmarks and fault tests.

`python mock_server.py --port 0 --latency 0.05` prints its port. POST anything: the reply is the number between the Qs
of the last message. GET /stats: {"requests": n}. It counts and answers; it parses as little as it can.
"""

import argparse
import asyncio
import json
import re

REPLY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "mock",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "%s"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 22},
    }
)
ASKED = re.compile(rb"Q(\d+)Q")


class Mock(asyncio.Protocol):
    requests = 0
    latency = 0.05

    def connection_made(self, transport):
        self.transport, self.buffer = transport, bytearray()

    def data_received(self, data):
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = bytes(self.buffer[:end])
            found = re.search(rb"content-length:\s*(\d+)", head, re.IGNORECASE)
            length = int(found.group(1)) if found else 0
            if len(self.buffer) < end + 4 + length:
                return
            body = bytes(self.buffer[end + 4 : end + 4 + length])
            del self.buffer[: end + 4 + length]
            self.asked(head, body)

    def asked(self, head, body):
        if head.startswith(b"GET"):
            known = {"object": "list", "data": [{"id": "mock", "object": "model"}]}
            self.send(json.dumps(known if b"/models" in head else {"requests": Mock.requests}))
            return
        Mock.requests += 1
        found = ASKED.findall(body)
        reply = REPLY.replace("%s", found[-1].decode() if found else "0")
        asyncio.get_running_loop().call_later(Mock.latency, self.send, reply)

    def send(self, text):
        if not self.transport.is_closing():
            body = text.encode()
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            self.transport.write(head + body)


async def serve(port):
    server = await asyncio.get_running_loop().create_server(Mock, "127.0.0.1", port, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    words = argparse.ArgumentParser()
    words.add_argument("--port", type=int, default=0)
    words.add_argument("--latency", type=float, default=0.05)
    chosen = words.parse_args()
    Mock.latency = chosen.latency
    try:
        import uvloop

        uvloop.install()
    except ImportError:
        pass
    asyncio.run(serve(chosen.port))
