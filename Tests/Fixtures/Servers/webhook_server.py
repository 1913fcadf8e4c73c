#!/usr/bin/env python3
"""A receiver of notifications for tests. Prints its port to standard error, then serves until it is killed.

Arguments: PORT (0: any), FILE, SECRET
POST /…              appends a line of JSON to FILE: path, headers, body, and whether the signature is right
     /status/N       answers N
     /down/N/NAME    answers 503 the first N times, then 200
     /later/N/NAME   the same with a Retry-After of one second
     /silent         takes the request and never answers
     /endless        answers 200 with a body that never ends
     /redirect       answers 302 to /moved
"""

import base64
import hashlib
import hmac
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, path, secret = int(sys.argv[1]), sys.argv[2], sys.argv[3].encode()
lock = threading.Lock()
down = {}


def is_signed(headers, body):
    content = f"{headers.get('webhook-id')}.{headers.get('webhook-timestamp')}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(secret, content, hashlib.sha256).digest()).decode()
    fresh = abs(time.time() - int(headers.get("webhook-timestamp", 0))) < 300
    return fresh and hmac.compare_digest(expected, headers.get("webhook-signature", ""))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        entry = {"path": self.path, "headers": headers, "body": body.decode(), "signed": is_signed(headers, body), "time_ms": int(time.time() * 1000)}
        with lock, open(path, "a") as file:
            file.write(json.dumps(entry) + "\n")
        parts = self.path.split("?")[0].strip("/").split("/")
        if parts[0] == "status":
            return self.reply(int(parts[1]))
        if parts[0] == "silent":
            threading.Event().wait()
        if parts[0] == "endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                return
        if parts[0] == "redirect":
            return self.reply(302, Location="/moved")
        if parts[0] == "down":
            with lock:
                down[parts[2]] = down.get(parts[2], 0) + 1
                fails = down[parts[2]] <= int(parts[1])
            return self.reply(503 if fails else 200)
        if parts[0] == "later":
            with lock:
                down[parts[2]] = down.get(parts[2], 0) + 1
                fails = down[parts[2]] <= int(parts[1])
            return self.reply(503, **{"Retry-After": "1"}) if fails else self.reply(200)
        self.reply(200)


server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
server.daemon_threads = True
print(server.server_address[1], file=sys.stderr, flush=True)
server.serve_forever()
