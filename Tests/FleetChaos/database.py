"""PostgreSQL servers of their own, a standby of one, and a PgBouncer in front."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

SERVER = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))[-1]
OWNER = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
BOUNCER = "/usr/sbin/pgbouncer"
MEBIBYTE = 1 << 20


class Server:
    """A PostgreSQL server of its own. Where that may be mounted, its log of writes and its tables have a disk each."""

    def __init__(self, folder, port=5432, of=None, disk=False):
        self.folder, self.port, self.environment = folder / f"server{port}", port, {}
        self.wal = self.folder / "wal" if disk else None
        data = self.folder / "data"
        self.folder.mkdir()
        if OWNER:
            shutil.chown(self.folder, "postgres", "postgres")
        if disk:
            for place, size in (self.wal, "512m"), (data, "6g"):
                place.mkdir()
                subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0777", "tmpfs", place], check=True)
            # PostgreSQL takes only a folder of its own.
            data = data / "tables"
        self.data = data
        if of:
            self.run("pg_basebackup", "-D", data, "-R", "-C", "-S", "standby", "-c", "fast", "-d", f"host={of.folder} user=taskhost application_name=standby")
        else:
            place = ["--waldir", self.wal / "log"] if disk else []
            self.run("initdb", "-D", data, "-A", "trust", "-U", "taskhost", "--no-sync", "--wal-segsize=1", *place)
            with (data / "pg_hba.conf").open("a") as rules:
                rules.write("host all all 10.7.0.0/16 trust\n")
        self.start()

    def run(self, program, *arguments):
        subprocess.run(
            [*OWNER, str(SERVER / program), *map(str, arguments)], check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **self.environment})

    def start(self):
        options = (
            f"-c listen_addresses={'*' if OWNER else ''} -c port={self.port} -c unix_socket_directories={self.folder} -c max_connections=60"
            " -c min_wal_size=2MB -c max_wal_size=64MB")
        for _ in range(40):
            # A new one refuses to begin while processes of a killed one have its memory.
            with contextlib.suppress(subprocess.CalledProcessError):
                return self.run("pg_ctl", "-D", self.data, "-l", self.folder / "log", "-w", "-t", "5", "-o", options, "start")
            time.sleep(0.5)
        raise SystemExit(f"PostgreSQL does not start: see {self.folder}/log")

    def stop(self, mode):
        with contextlib.suppress(subprocess.CalledProcessError):
            self.run("pg_ctl", "-D", self.data, "-m", mode, "-w", "stop")

    def kill(self):
        mark = self.data / "postmaster.pid"
        os.kill(int(mark.read_text().split()[0]), signal.SIGKILL)
        # Its processes end when they see that. Where nobody reaps it soon, its mark would still count.
        time.sleep(1)
        if OWNER or os.access(mark, os.W_OK):
            mark.unlink(missing_ok=True)

    def session(self):
        """The command of a session."""
        return [
            "psql", "-h", str(self.folder), "-p", str(self.port), "-U", "taskhost", "-d", "postgres", "-AtXq"]

    def sql(self, text):
        done = subprocess.run([*self.session(), "-c", text], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    def await_sql(self, text, answer, seconds=30):
        deadline = time.monotonic() + seconds
        while self.sql(text) != answer:
            if time.monotonic() > deadline:
                raise SystemExit(f"after {seconds} s this does not return {answer}: {text}")
            time.sleep(0.1)

    def terminate(self):
        """Ends all sessions of hosts."""
        self.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'taskhost'"
                 " AND backend_type = 'client backend'")

    @staticmethod
    def fill(place):
        """Leaves no room on the disk of a folder. Returns what fills it."""
        ballast = place / "ballast"
        with ballast.open("wb", buffering=0) as file:
            size = MEBIBYTE
            while size >= 4096:
                try:
                    file.write(bytes(size))
                except OSError:
                    size //= 2
        return ballast


class Pool:
    """PgBouncer in transaction mode, with fewer connections than hosts."""

    def __init__(self, folder, server, size):
        self.folder = folder / "pool"
        self.folder.mkdir(exist_ok=True)
        (self.folder / "pool.ini").write_text(
            f"[databases]\npostgres = host={server.folder} port={server.port} user=taskhost\n"
            f"[pgbouncer]\nunix_socket_dir = {self.folder}\nlisten_addr = {'*' if OWNER else ''}\nlisten_port = 6432\nauth_type = any\n"
            f"pool_mode = transaction\ndefault_pool_size = {size}\nserver_login_retry = 1\n")
        if OWNER:
            shutil.chown(self.folder, "postgres", "postgres")
        self.start()

    def start(self):
        (self.folder / ".s.PGSQL.6432").unlink(missing_ok=True)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*(["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if OWNER else []), BOUNCER, self.folder / "pool.ini"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self):
        self.process.kill()
        self.process.wait()
