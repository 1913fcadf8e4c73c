#!/usr/bin/env python3
"""huey_submit.py DATABASE JOBS - submits jobs to huey, each durable before the next; prints the nanoseconds it took."""

import sys
import time

from huey_drain import durable_queue


def main(database, jobs):
    queue = durable_queue(database)

    @queue.task()
    def noop():
        """Is never run."""

    began = time.perf_counter_ns()
    for _ in range(jobs):
        noop.schedule(delay=365 * 86_400)
    print(time.perf_counter_ns() - began)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
