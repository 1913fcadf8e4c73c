#!/usr/bin/env python3
"""A task handler in Python, without C: a persistent command of taskhost.

taskhost starts this program once, and sends it a line of JSON on standard input for each run. The program answers with lines of JSON on
standard output; the last one of a run is its result. What it writes to standard error goes to the log of the run. When standard input ends,
the program ends.

In taskhost.toml:

    [command."org.example.hello"]
    run = ["./hello.py"]          # relative to the file
    persistent = true
    schedule = "every 15m"
"""

import json
import sys
import threading
import traceback
from queue import Queue


class Task:
    """One run: its payload, and what it may tell the host."""

    def __init__(self, message):
        self.run = message["run"]
        self.identifier = message["identifier"]
        self.request_id = message["request_id"]  # the same for all attempts: the key for doing things once
        self.attempt = message["attempt"]
        self.payload = message.get("payload")
        self.expired = threading.Event()  # set when the host asks the run to stop
        self.reason = None

    def progress(self, completed, total=0):
        send(type="progress", run=self.run, completed=completed, total=total)

    def log(self, message, level="info"):
        send(type="log", run=self.run, level=level, message=message)


write_lock = threading.Lock()


def send(**message):
    with write_lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def handle(task):
    """The work. Returns a result and its output; success, noop, snooze, retry or failure."""
    names = (task.payload or {}).get("names", ["world"])
    for number, name in enumerate(names, 1):
        if task.expired.is_set():
            return "snooze", {"greeted": number - 1}
        task.log(f"hello, {name}")
        task.progress(number, len(names))
        task.expired.wait((task.payload or {}).get("pause_s", 0))
    return "success", {"greeted": len(names)}


def read(queue):
    """Reads the host's lines on a thread of its own, so that an expiration arrives while a run works."""
    task = None
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "run":
            task = Task(message)
            queue.put(task)
        elif message["type"] == "expire" and task is not None and task.run == message["run"]:
            task.reason = message["reason"]
            task.expired.set()
    queue.put(None)


def main():
    queue = Queue()
    threading.Thread(target=read, args=(queue,), daemon=True).start()
    while (task := queue.get()) is not None:
        try:
            result, output = handle(task)
            send(type="result", run=task.run, result=result, output=output)
        except Exception as error:
            traceback.print_exc()
            send(type="result", run=task.run, result="retry", message=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
