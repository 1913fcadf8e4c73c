#!/usr/bin/env python3
"""An OAuth token endpoint for tests. Prints its port to standard error, then serves until it is killed.

POST /token takes a refresh token once: a second use is invalid_grant. GET /log tells how many requests came.
GET /lifetime?s=N sets how long the next access tokens live; 3600 at first. GET /hold lets requests wait until GET /release.
GET /begun answers once a request has come.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

lock = threading.Lock()
opened = threading.Event()
opened.set()
begun = threading.Event()
state = {"requests": 0, "lifetime": 3600}
used = set()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/hold":
            opened.clear()
        if url.path == "/begun":
            begun.wait(30)
        if url.path == "/release":
            opened.set()
        if url.path == "/lifetime":
            state["lifetime"] = int(query["s"])
        self.answer(200, {"requests": state["requests"]})

    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        token = form["refresh_token"][0]
        with lock:
            state["requests"] += 1
            number = state["requests"]
            is_good = token not in used and token.startswith("REFRESH-")
            used.add(token)
        begun.set()
        opened.wait(60)
        if not is_good:
            return self.answer(400, {"error": "invalid_grant"})
        self.answer(
            200,
            {
                "access_token": f"ACCESS-number-{number}",
                "refresh_token": f"REFRESH-number-{number}",
                "token_type": "Bearer",
                "expires_in": state["lifetime"],
            },
        )


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], file=sys.stderr, flush=True)
server.serve_forever()
