#!/usr/bin/env python3
"""A server for tests of pushes. Prints its port to standard error, then serves until it is killed.

GET /events          server-sent events, until the client goes
GET /push?n=N        waits until a client listens, and pushes N times
GET /feed            the content, with an ETag
GET /set?to=TEXT     changes the content
GET /fail?times=N    the next N answers of /feed are 503
"""

import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

changed = threading.Condition()
listeners = []
state = {"content": "first", "failures": 0}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/events":
            return self.listen()
        with changed:
            if url.path == "/feed":
                tag = f'"{hash(state["content"])}"'
                if state["failures"]:
                    state["failures"] -= 1
                    return self.reply(503)
                if self.headers.get("If-None-Match") == tag:
                    return self.reply(304)
                return self.reply(200, state["content"].encode(), ETag=tag)
            if url.path == "/push":
                changed.wait_for(lambda: listeners, timeout=30)
                for listener in listeners:
                    for number in range(int(query["n"])):
                        listener.put(number)
            if url.path == "/set":
                state["content"] = query["to"]
            if url.path == "/fail":
                state["failures"] = int(query["times"])
        self.reply(200)

    def listen(self):
        pushes = queue.Queue()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        with changed:
            listeners.append(pushes)
            changed.notify_all()
        self.wfile.write(b": hello\n\n")
        self.wfile.flush()
        while True:
            self.wfile.write(b"event: push\ndata: %d\n\n" % pushes.get())
            self.wfile.flush()


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], file=sys.stderr, flush=True)
server.serve_forever()
