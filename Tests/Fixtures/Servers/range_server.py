#!/usr/bin/env python3
"""A server for tests of transfers. Prints its port to standard error, then serves until it is killed.

GET /NAME?size=N answers N bytes that are the same each time. More in the query:
  version=V     another content, and another ETag
  etag=no       no ETag;   etag=weak: a weak one
  ranges=no     ignores Range
  cut=N         ends the connection after N bytes, the first time that NAME is asked for
  hold=N        sends N bytes of the first answer, and the rest when /release/NAME is asked for
  status=S&times=T   answers the status S the first T times;   retry=R adds Retry-After
  wrong=range   answers a range with another one
PUT and POST keep the body: GET /kept/NAME. GET /redirect?to=URL redirects. GET /log tells each request, with its headers.
"""

import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

lock = threading.Lock()
counts, kept, log, gates = {}, {}, [], {}


def content(name, version, size):
    seed = hashlib.sha256(f"{name} {version}".encode()).digest()
    return (seed * (size // len(seed) + 1))[:size]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def begin(self):
        parts = urlsplit(self.path)
        self.query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        self.name = parts.path
        with lock:
            counts[self.name] = counts.get(self.name, 0) + 1
            self.number = counts[self.name]
            log.append({"method": self.command, "path": self.path, "headers": dict(self.headers.items())})

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        self.begin()
        query = self.query
        if self.name == "/log":
            return self.answer(200, json.dumps(log).encode())
        if self.name == "/redirect":
            return self.answer(302, b"elsewhere", Location=query["to"])
        if self.name.startswith("/release/"):
            gates.setdefault(self.name.removeprefix("/release"), threading.Event()).set()
            return self.answer(200)
        if self.name.startswith("/kept/"):
            body = kept.get(self.name.removeprefix("/kept"))
            return self.answer(404) if body is None else self.answer(200, body)
        if "status" in query and self.number <= int(query.get("times", "1000000")):
            return self.answer(int(query["status"]), b"no", **({"Retry_After": query["retry"]} if "retry" in query else {}))
        if "size" not in query:
            return self.answer(404, b"not here")
        body = content(self.name, query.get("version", "1"), int(query["size"]))
        tag = {"no": None, "weak": f'W/"{query.get("version", "1")}"'}.get(query.get("etag"), f'"{query.get("version", "1")}"')
        headers = {"ETag": tag} if tag else {}
        wanted = self.headers.get("Range")
        if query.get("ranges") == "no" or (wanted and self.headers.get("If-Range") not in (None, tag)):
            wanted = None
        status, first = 200, 0
        if wanted:
            first = int(wanted.removeprefix("bytes=").split("-")[0])
            if first >= len(body):
                return self.answer(416, Content_Range=f"bytes */{len(body)}")
            status = 206
            told = first + 1 if query.get("wrong") == "range" else first
            headers["Content-Range"] = f"bytes {told}-{len(body) - 1}/{len(body)}"
        body = body[first:]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.number == 1 and "cut" in query:
            self.wfile.write(body[: int(query["cut"])])
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(2)
            return
        if self.number == 1 and "hold" in query:
            self.wfile.write(body[: int(query["hold"])])
            self.wfile.flush()
            gates.setdefault(self.name, threading.Event()).wait()
            body = body[int(query["hold"]) :]
        self.wfile.write(body)

    def do_PUT(self):
        self.begin()
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if "status" in self.query and self.number <= int(self.query.get("times", "1000000")):
            return self.answer(int(self.query["status"]), b"no")
        kept[self.name] = body
        self.answer(201, f"{len(body)} bytes".encode())

    do_POST = do_PUT
    do_PATCH = do_PUT


ThreadingHTTPServer.request_queue_size = 1000
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
server.handle_error = lambda *_: None
print(server.server_address[1], file=sys.stderr, flush=True)
server.serve_forever()
