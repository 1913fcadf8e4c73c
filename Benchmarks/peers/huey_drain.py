#!/usr/bin/env python3
"""huey_drain.py DATABASE JOBS - submits jobs that do nothing to huey and runs them all.

Huey has no submission of many jobs at once: each is a commit. 16 threads then run them; each takes a job in a commit of its own. A job's
end is not recorded, as nobody asks for results. Prints the nanoseconds from the first submission until the last job has run.
"""

import logging
import sys
import threading
import time

from huey import SqliteHuey

THREADS = 16


def durable_queue(database):
    """A queue in SQLite with a write-ahead log, each commit synced, as on a machine whose power may fail."""
    logging.getLogger("huey").setLevel(logging.WARNING)
    return SqliteHuey(filename=database, journal_mode="wal", fsync=True, results=False)


def main(database, jobs):
    queue = durable_queue(database)
    lock, ended = threading.Lock(), threading.Event()
    left = jobs

    @queue.task()
    def noop():
        """Does nothing; the last one tells."""
        nonlocal left
        with lock:
            left -= 1
            if left == 0:
                ended.set()

    consumer = queue.create_consumer(workers=THREADS, periodic=False)
    began = time.perf_counter_ns()
    for _ in range(jobs):
        noop()
    consumer.start()
    ended.wait()
    print(time.perf_counter_ns() - began)
    consumer.stop(graceful=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
