#!/usr/bin/env python3
"""pgqueuer_drain.py SOCKET_DIRECTORY JOBS - submits jobs that do nothing to pgqueuer and runs them all.

The server is PostgreSQL's at a socket in that directory, with an empty database. One process submits arrays of 1,000 while others, one for
each core up to four, claim, run and record, as pgqueuer's guide advises for short jobs: asyncpg, a connection for each, large batches, no
limit to the jobs at once, its settings for vacuum. Prints the nanoseconds from the first submission until the last outcome is recorded, and
the number of jobs that were recorded as successful.
"""

import asyncio
import multiprocessing
import os
import sys
import time

import asyncpg
import uvloop
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.qm import QueueManager
from pgqueuer.queries import Queries

SUBMIT = 1000
CLAIM = 250
WORKERS = min(4, os.cpu_count())


async def connect(directory):
    return await asyncpg.connect(host=directory, port=5432, user="postgres", database="postgres")


async def install(directory):
    """Makes the tables."""
    connection = await connect(directory)
    queries = Queries(AsyncpgDriver(connection))
    await queries.install()
    await queries.optimize_autovacuum()
    await connection.close()


async def submit(directory, jobs):
    """Submits the jobs in arrays; returns when it began."""
    connection = await connect(directory)
    queries = Queries(AsyncpgDriver(connection))
    began = time.perf_counter_ns()
    for first in range(0, jobs, SUBMIT):
        count = min(SUBMIT, jobs - first)
        await queries.enqueue(["noop"] * count, [None] * count, [0] * count)
    await connection.close()
    return began


async def recorded(directory):
    """How many jobs have ended well."""
    connection = await connect(directory)
    try:
        return await connection.fetchval("SELECT count(*) FROM pgqueuer_log WHERE status = 'successful'")
    finally:
        await connection.close()


async def end_with(parent):
    """Ends this process soon after its parent, should that be killed."""
    while os.getppid() == parent:
        await asyncio.sleep(1)
    os._exit(1)


async def work(directory, left, over, ends, number):
    """Runs jobs until none is `left`, which the one that runs the last tells the others by the pipe `over`."""
    connection = await connect(directory)
    manager = QueueManager(Queries(AsyncpgDriver(connection)))

    @manager.entrypoint("noop")
    async def noop(job: Job) -> None:
        """Does nothing but count."""
        with left.get_lock():
            left.value -= 1
            if left.value == 0:
                os.write(over[1], b"x")

    def stop():
        asyncio.get_running_loop().remove_reader(over[0])
        manager.shutdown.set()

    asyncio.get_running_loop().add_reader(over[0], stop)
    watch = asyncio.create_task(end_with(multiprocessing.parent_process().pid))
    await manager.run(batch_size=CLAIM)  # records what is left to record before it returns
    ends[number] = time.perf_counter_ns()
    watch.cancel()
    await connection.close()


def main(directory, jobs):
    uvloop.run(install(directory))
    fork = multiprocessing.get_context("fork")
    left, ends, over = fork.Value("q", jobs), fork.Array("q", WORKERS), os.pipe()
    workers = [
        fork.Process(target=lambda number=number: uvloop.run(work(directory, left, over, ends, number)), daemon=True)
        for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    time.sleep(1)  # they listen by then
    began = uvloop.run(submit(directory, jobs))
    for worker in workers:
        worker.join()
    print(max(ends) - began, uvloop.run(recorded(directory)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
