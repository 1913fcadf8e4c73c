#!/usr/bin/env python3
"""A server for tests of transfers. Prints its port to standard error, then serves until it is killed.

range_server.py [CERTIFICATE KEY [old]]: with TLS if it gets a certificate; old: with TLS 1.1 only.

GET /NAME?size=N answers N bytes that are the same each time. More in the query:
  version=V     another content, and another ETag
  etag=no       no ETag;   etag=weak: a weak one
  ranges=no     ignores Range
  cut=N         ends the connection after N bytes, the first time that NAME is asked for
  hold=N        sends N bytes of the first answer, and the rest when /release/NAME is asked for
  status=S&times=T   answers the status S the first T times;   retry=R adds Retry-After
  wrong=range   answers a range with another one
  raw=TEXT      answers exactly these bytes, and ends the connection. If given several times, the n-th request gets the n-th, further ones
                the last. At <hold> it waits until /release/NAME is asked for. <9*x>
                stands for nine x. Works for uploads as well
PUT and POST keep the body: GET /kept/NAME. Any method of /redirect?to=URL&code=S redirects, with 302 by default. /loop redirects to itself.
GET /count/NAME?of=N answers once NAME was asked for N times, /count/NAME/body?of=N once N bodies have come.
GET /log tells each request, with its headers and the size of its body.
PUT /NAME?resumable=URL supports draft-ietf-httpbis-resumable-upload, interop version 6, at the address URL/upload/NAME. More in the query:
  break=N       ends the connection after N bytes of the first request's body
  again=N       ends the connection after N bytes of the first rest too
  lost=1        takes the body of the first request, and ends the connection without an answer
  forget=1      knows nothing of the upload afterwards
 GET /count/NAME?of=N answers once NAME was asked for N times.
"""

import hashlib
import json
import re
import socket
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

lock = threading.Condition()
counts, kept, log, gates, uploads = {}, {}, [], {}, {}


def content(name, version, size):
    seed = hashlib.sha256(f"{name} {version}".encode()).digest()
    return (seed * (size // len(seed) + 1))[:size]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def begin(self):
        parts = urlsplit(self.path)
        values = parse_qs(parts.query, encoding="latin-1")
        self.query = {key: values[0] for key, values in values.items()}
        self.raw = values.get("raw", [])
        self.name = parts.path
        with lock:
            counts[self.name] = counts.get(self.name, 0) + 1
            lock.notify_all()
            self.number = counts[self.name]
            self.entry = {"method": self.command, "path": self.path, "headers": dict(self.headers.items()), "body": 0}
            log.append(self.entry)

    def special(self):
        """Answers what every method answers alike."""
        if self.name == "/redirect":
            self.answer(int(self.query.get("code", "302")), b"elsewhere", Location=self.query["to"])
        elif self.name == "/loop":
            self.answer(302, Location="/loop")
        elif self.raw:
            raw = self.raw[min(self.number, len(self.raw)) - 1].encode("latin-1")
            before, _, after = re.sub(rb"(?s)<(\d+)\*(.*?)>", lambda match: match[2] * int(match[1]), raw).partition(b"<hold>")
            self.wfile.write(before)
            self.wfile.flush()
            if after:
                gates.setdefault(self.name, threading.Event()).wait()
                self.wfile.write(after)
            self.close_connection = True
        else:
            return False
        return True

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
        if self.special():
            return None
        if self.name.startswith("/count/"):
            with lock:
                wanted = self.name.removeprefix("/count")
                reached = lock.wait_for(lambda: counts.get(wanted, 0) >= int(query["of"]), 60)
            return self.answer(200, b"yes" if reached else b"no")
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

    def do_HEAD(self):
        self.begin()
        part = uploads.get(self.name.removeprefix("/upload"))
        if part is None or "forget" in part["query"]:
            return self.answer(404)
        complete = "?1" if part["complete"] else "?0"
        return self.answer(204, Upload_Offset=str(len(part["body"])), Upload_Complete=complete, Upload_Draft_Interop_Version="6")

    def hang_up(self):
        """Ends the connection. What the client still sends is read: else it may lose an answer that it has not read yet to the reset."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_WR)
        while self.connection.recv(65536):
            pass

    def create(self):
        """Takes an upload that can be resumed."""
        part = uploads[self.name] = {"body": b"", "complete": False, "query": self.query}
        length = int(self.headers["Content-Length"])
        place = f"{self.query['resumable']}/upload{self.name}"
        self.send_response_only(104, "Upload Resumption Supported")
        self.send_header("Location", place)
        self.send_header("Upload-Draft-Interop-Version", "6")
        self.end_headers()
        self.wfile.flush()
        broken = self.number == 1 and "break" in self.query
        part["body"] = self.rfile.read(min(length, int(self.query["break"])) if broken else length)
        self.entry["body"] = len(part["body"])
        part["complete"] = len(part["body"]) == length
        if broken or (self.number == 1 and "lost" in self.query):
            return self.hang_up()
        kept[self.name] = part["body"]
        return self.answer(201, b"whole")

    def append(self, part):
        """Takes the rest of an upload."""
        broken = part["query"].pop("again", None)
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(min(length, int(broken)) if broken else length)
        self.entry["body"] = len(body)
        if int(self.headers["Upload-Offset"]) != len(part["body"]) or self.headers["Content-Type"] != "application/partial-upload":
            return self.answer(409, Upload_Offset=str(len(part["body"])))
        part["body"] += body
        if broken:
            return self.hang_up()
        part["complete"] = True
        kept[self.name.removeprefix("/upload")] = part["body"]
        return self.answer(201, b"appended")

    def do_PUT(self):
        self.begin()
        part = uploads.get(self.name.removeprefix("/upload"))
        if self.command == "PATCH" and part is not None:
            return self.append(part)
        if "resumable" in self.query and self.headers.get("Upload-Draft-Interop-Version") == "6":
            return self.create()
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        with lock:
            self.entry["body"] = len(body)
            counts[self.name + "/body"] = counts.get(self.name + "/body", 0) + 1
            lock.notify_all()
        if self.special():
            return None
        if "status" in self.query and self.number <= int(self.query.get("times", "1000000")):
            return self.answer(int(self.query["status"]), b"no")
        kept[self.name] = body
        return self.answer(201, f"{len(body)} bytes".encode())

    do_POST = do_PUT
    do_PATCH = do_PUT


ThreadingHTTPServer.request_queue_size = 1000
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
server.handle_error = lambda *_: None
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    if len(sys.argv) > 3:
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    # The handshake is left to the thread of the connection.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_address[1], file=sys.stderr, flush=True)
server.serve_forever()
