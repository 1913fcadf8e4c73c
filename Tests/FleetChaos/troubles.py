"""What goes wrong: each is called while requests run, and leaves all as it was."""

import os
import signal
import subprocess
import time

from database import BOUNCER, Pool, Server

LEASE = 2
CLOCK = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"


def needs(reason):
    """Skips the phase if the fleet gives a reason."""
    def marked(phase):
        phase.reason = reason
        return phase
    return marked


def nothing(fleet):
    """nothing"""


def killed(fleet):
    """kill -9 of a host, three times"""
    for host in fleet.hosts:
        time.sleep(LEASE)
        host.end(signal.SIGKILL)
        time.sleep(1)
        host.start()


def frozen(fleet):
    """a host is frozen for two leases"""
    fleet.hosts[0].send(signal.SIGSTOP)
    time.sleep(2 * LEASE)
    fleet.hosts[0].send(signal.SIGCONT)


def database_killed(fleet):
    """kill -9 of PostgreSQL, twice"""
    for _ in range(2):
        time.sleep(1)
        fleet.server.kill()
        fleet.server.start()


def database_away(fleet):
    """PostgreSQL is stopped for two leases"""
    fleet.server.stop("fast")
    time.sleep(2 * LEASE)
    fleet.server.start()


def connections(fleet):
    """all connections are killed, ten times"""
    for _ in range(10):
        time.sleep(0.5)
        fleet.server.terminate()


def exhausted(fleet):
    """no connection is left for two leases"""
    # Its session is open before: later there is no room for it.
    killer = subprocess.Popen(fleet.server.session(), stdin=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(sessions):
        killer.stdin.write(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND {sessions};\n")
        killer.stdin.flush()

    holders, deadline = [], time.monotonic() + 2 * LEASE
    while time.monotonic() < deadline:
        # Those who find no room end; the others take what hosts had.
        holders += [
            subprocess.Popen([*fleet.server.session(), "-c", "SELECT pg_sleep(60)"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for _ in range(30)]
        end("application_name LIKE 'taskhost %'")
        time.sleep(0.3)
    for holder in holders:
        holder.kill()
        holder.wait()
    end("query LIKE '%pg_sleep(60)%'")
    killer.stdin.close()
    killer.wait()


def snapshot(fleet):
    """a session is idle in a transaction, with rows locked"""
    holder = subprocess.Popen(
        fleet.server.session(), stdin=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    holder.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM (SELECT 1 FROM taskhost.ready LIMIT 50 FOR UPDATE) AS q;\n")
    holder.stdin.flush()
    time.sleep(3 * LEASE)
    holder.kill()
    holder.wait()


def clock(fleet):
    """the leases' wall times are set back and forth by a year"""
    for year in (-31_536_000_000, 31_536_000_000):
        fleet.server.sql(f"UPDATE taskhost.host SET lease_until = lease_until + ({year})")
        time.sleep(LEASE)


def fenced(fleet):
    """an operator fences each host"""
    for host in fleet.hosts:
        time.sleep(1)
        subprocess.run(
            [str(host.programs / "taskhost"), "fleet", "fence", host.name, "--yes", "--url", fleet.address()], check=True,
            stdout=subprocess.DEVNULL)


def fenced_now(fleet):
    """an operator fences each host, and does not wait for its runs"""
    for host in fleet.hosts:
        time.sleep(1)
        subprocess.run(
            [str(host.programs / "taskhost"), "fleet", "fence", host.name, "--yes", "--now", "--url", fleet.address()], check=True,
            stdout=subprocess.DEVNULL)


def drained(fleet):
    """hosts leave and come back one after the other"""
    for host in fleet.hosts:
        host.end()
        host.start()


@needs(lambda fleet: fleet.without)
def partition(fleet):
    """a host is cut off from the database for three leases, each in turn"""
    for host in fleet.hosts:
        host.network.cut()
        time.sleep(3 * LEASE)
        host.network.heal()
        time.sleep(LEASE)


@needs(lambda fleet: fleet.without)
def half_open(fleet):
    """only one direction is cut for three leases, then the other one"""
    for number, directions in enumerate([{"to_database": False}, {"to_host": False}]):
        fleet.hosts[number].network.cut(**directions)
        time.sleep(3 * LEASE)
        fleet.hosts[number].network.heal()
        time.sleep(LEASE)


@needs(lambda fleet: fleet.without)
def lossy(fleet):
    """a fifth, then a half of all packets between hosts and the database is lost"""
    for share in (0.2, 0.5):
        for host in fleet.hosts:
            host.network.lose(share)
        time.sleep(3 * LEASE)
        for host in fleet.hosts:
            host.network.heal()
        time.sleep(LEASE)


@needs(lambda fleet: fleet.without)
def all_cut(fleet):
    """all hosts are cut off from the database for three leases"""
    for host in fleet.hosts:
        host.network.cut()
    time.sleep(3 * LEASE)
    for host in fleet.hosts:
        host.network.heal()


def promotion(fleet):
    """kill -9 of the primary, its synchronous standby is promoted"""
    old = fleet.server
    standby = Server(fleet.folder, port=old.port + 1, of=old)
    old.sql("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
    old.sql("SELECT pg_reload_conf()")
    # It has to catch up with what is written meanwhile.
    old.await_sql("SELECT sync_state FROM pg_stat_replication", "sync", seconds=180)
    fleet.move(lambda host: fleet.address(host, standby))
    time.sleep(2 * LEASE)
    old.kill()
    standby.run("pg_ctl", "-D", standby.data, "-w", "promote")
    fleet.server = standby


@needs(lambda fleet: "" if os.access(BOUNCER, os.X_OK) else "needs pgbouncer")
def pool(fleet):
    """PgBouncer with 2 connections; sessions and it are killed"""
    bouncer = Pool(fleet.folder, fleet.server, size=2)
    try:
        fleet.move(lambda host: f"host={host.network.database if host.network else bouncer.folder} port=6432 user=taskhost dbname=postgres")
        for _ in range(10):
            time.sleep(0.5)
            fleet.server.terminate()
        for _ in range(2):
            time.sleep(LEASE)
            bouncer.kill()
            time.sleep(1)
            bouncer.start()
        time.sleep(2 * LEASE)
        fleet.move(fleet.address)
    finally:
        bouncer.kill()


@needs(lambda fleet: fleet.without or ("" if fleet.server.wal else "its server has no disk of its own: run it before promotion"))
def full_disk(fleet):
    """the disk of PostgreSQL's log is full for two leases"""
    ballast = fleet.server.fill(fleet.server.wal)
    deadline = time.monotonic() + 20
    # Until the files that it has from before are used up, each switch takes one; then it ends.
    while fleet.server.sql("SELECT pg_switch_wal()") is not None or fleet.server.sql("SELECT 1") is not None:
        fleet.server.sql("CREATE TEMPORARY TABLE filler AS SELECT generate_series(1, 20000)")
        if time.monotonic() > deadline:
            raise SystemExit("PostgreSQL has not noticed that its disk is full")
    time.sleep(2 * LEASE)
    ballast.unlink()
    fleet.server.stop("immediate")
    fleet.server.start()


@needs(lambda fleet: fleet.without or ("" if fleet.server.wal else "its server has no disk of its own: run it before promotion"))
def full_tables(fleet):
    """the disk of PostgreSQL's tables is full for two leases"""
    ballast = fleet.server.fill(fleet.server.data.parent)
    deadline = time.monotonic() + 20
    # What ended before has left room in the tables.
    while fleet.server.sql("CREATE TABLE filler AS SELECT generate_series(1, 2000)") is not None:
        fleet.server.sql("DROP TABLE filler")
        if time.monotonic() > deadline:
            raise SystemExit("PostgreSQL has not noticed that its disk is full")
    time.sleep(2 * LEASE)
    ballast.unlink()


def with_jumps(fleet, thing):
    mark = fleet.folder / "clock"
    mark.write_text("+0")
    mark.chmod(0o644)
    try:
        thing.environment = {
            "LD_PRELOAD": CLOCK, "FAKETIME_TIMESTAMP_FILE": str(mark), "FAKETIME_NO_CACHE": "1", "DONT_FAKE_MONOTONIC": "1"}
        restart(thing)
        for jump in ("+1h", "-1h", "+0"):
            time.sleep(LEASE)
            mark.write_text(jump)
        time.sleep(LEASE)
    finally:
        thing.environment = {}
    restart(thing)


@needs(lambda fleet: "" if os.access(CLOCK, os.R_OK) else "needs libfaketime")
def database_clock(fleet):
    """PostgreSQL's clock jumps by an hour, forward and back"""
    with_jumps(fleet, fleet.server)


@needs(lambda fleet: "" if os.access(CLOCK, os.R_OK) else "needs libfaketime")
def host_clock(fleet):
    """a host's clock jumps by an hour, forward and back"""
    with_jumps(fleet, fleet.hosts[1])


def restart(thing):
    if isinstance(thing, Server):
        thing.stop("fast")
    else:
        thing.end()
    thing.start()


PHASES = [
    nothing, killed, frozen, database_killed, database_away, partition, half_open, lossy, all_cut, connections, exhausted, snapshot, clock,
    database_clock, host_clock, full_disk, full_tables, pool, drained, fenced, promotion]
# Only by its name: two hosts may run a request until the first one knows.
BY_NAME = [fenced_now]
