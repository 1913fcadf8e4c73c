#!/usr/bin/env python3
"""Receives pushes of a server, and raises an event of taskhost for each: the fetch that waits for it runs once for many of them.

    listen.py URL EVENT

URL answers with server-sent events (text/event-stream). What a push says is not looked at: it only says that there may be something new, as a
silent push notification does on a phone. So a push that is lost, or comes twice, does no harm.

See taskhost.toml beside this file.
"""

import http.client
import os
import signal
import socket
import sys
import urllib.parse


class HostConnection(http.client.HTTPConnection):
    """HTTP over the host's control socket."""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(os.environ["TASKHOST_SOCKET"])


def raise_event(name):
    connection = HostConnection("localhost", timeout=30)
    try:
        connection.request("POST", "/v1/events/" + urllib.parse.quote(name, safe=""))
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        if answer.status >= 300:
            raise OSError(f"the host answered {answer.status}: {text}")
    finally:
        connection.close()


def listen(url, event):
    place = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
    # A server sends a comment now and then. After a minute of silence the connection counts as lost.
    connection = kind(place.netloc, timeout=60)
    connection.request("GET", place.path or "/", headers={"Accept": "text/event-stream"})
    answer = connection.getresponse()
    if answer.status != 200:
        raise OSError(f"{url} answered {answer.status}")
    print(f"listening to {url}", flush=True)
    # What was pushed while nobody listened is unknown: look once.
    raise_event(event)
    has_data = False
    while line := answer.readline(65536):
        if line.startswith(b"data:"):
            has_data = True
        elif not line.strip() and has_data:
            has_data = False
            print("a push has arrived", flush=True)
            raise_event(event)
    raise OSError("the server has ended the connection")


def main():
    # At the end of its budget, and when the host shuts down. Exit code 0 is mapped to snooze: it listens again soon.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        listen(sys.argv[1], sys.argv[2])
    except (OSError, http.client.HTTPException) as error:
        print(f"not listening: {error}", file=sys.stderr)
        sys.exit(75)


if __name__ == "__main__":
    main()
