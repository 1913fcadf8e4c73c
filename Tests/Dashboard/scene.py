"""A host with something of everything, for looking at the dashboard: failing, overdue, dead, running, waiting, planned work."""

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "Tests/SocketBridge"))
from socket_bridge import Bridge  # noqa: E402

HOSTILE = "<img src=x onerror=document.title='pwned'>\"'`{{content}}&amp\u202e<script>document.title='pwned'</script>"

CONFIGURATION = """
plugin_directories = ["plugins"]
state_directory = "state"
minimum_interval = "1s"
max_pending = 100000
overdue_after = "2s"

[history]
keep = "7d"

[retry]
initial = "1s"
maximum = "2s"

[command."backup.nightly"]
run = ["sh", "-c", "if [ -e allowed ]; then echo saved 3 files; else echo 'mount: /srv/backup: no such device' >&2; exit 1; fi"]
directory = "{directory}"
schedule = "cron 30 2 * * * Europe/Berlin"

[command."report.weekly"]
run = ["sh", "-c", "sleep 0.$((RANDOM % 5)); echo report written"]
schedule = "cron 0 8 * * 1 Europe/Berlin"

[command."mail.fetch"]
run = ["sh", "-c", "echo fetched 12 messages"]
schedule = "every 15m"

[command."disk.space"]
run = ["df", "-h", "/"]
schedule = "every 1h"

[command."video.transcode"]
run = ["sh", "-c", "for i in $(seq 1 600); do echo frame $i; sleep 0.5; done"]
budget = "10m"

[command."index.rebuild"]
run = ["true"]
schedule = "every 6h"
requires = ["power"]

[plugin."test.script"]
budget = "5m"

[plugin."test.script".entitlements]
network = [443]
read = ["/usr/share"]
"""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self.path)


class Host:
    """A real host with plugins and commands, in a folder of its own."""

    def __init__(self, build, directory=None):
        self.directory = directory or tempfile.mkdtemp(prefix="taskhost-dashboard-")
        os.chmod(self.directory, 0o755)
        plugins = os.path.join(self.directory, "plugins")
        os.makedirs(plugins, mode=0o755, exist_ok=True)
        fixtures = os.path.join(ROOT, "Tests/Fixtures/Plugins")
        for name, flags in (("script", []), ("typed", [])):
            subprocess.run(
                ["cc", "-shared", "-fPIC", "-I", os.path.join(ROOT, "SDK/CTaskHost/include"), *flags,
                 "-o", os.path.join(plugins, name + ".so"), os.path.join(fixtures, name + ".c")], check=True)
        shutil.copy(os.path.join(build, "libTransfers.so"), plugins)
        with open(os.path.join(plugins, "broken.so"), "w") as file:
            file.write("not a library\n")
        self.configuration = os.path.join(self.directory, "taskhost.toml")
        with open(self.configuration, "w") as file:
            file.write(CONFIGURATION.replace("{directory}", self.directory))
        self.socket = os.path.join(self.directory, "state/control.sock")
        self.program = os.path.join(build, "taskhost")
        self.log = open(os.path.join(self.directory, "log"), "ab")
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "run", "--config", self.configuration], stdout=self.log, stderr=self.log)
        self.wait(lambda: self.call("GET", "/healthz")[0] == 200)
        self.bridge = Bridge(self.socket)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(60)
            self.process = None

    def call(self, method, path, body=None, headers={}):
        connection = UnixConnection(self.socket)
        try:
            data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), dict((k.lower(), v) for k, v in answer.getheaders())
        finally:
            connection.close()

    def json(self, method, path, body=None):
        status, data, _ = self.call(method, path, body)
        answer = json.loads(data)
        if status >= 400:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer

    def submit(self, identifier, **members):
        return self.json("POST", "/v1/requests", {"identifier": identifier, **members})["id"]

    def script(self, steps, **members):
        return self.submit("test.script", payload=steps, **members)

    def wait(self, condition, limit=60):
        end = time.monotonic() + limit
        while True:
            try:
                if condition():
                    return
            except (OSError, http.client.HTTPException):
                if self.process.poll() is not None:
                    raise RuntimeError(f"the host ended: see {self.directory}/log")
            if time.monotonic() > end:
                raise TimeoutError("the host did not get there")
            time.sleep(0.05)

    def state(self, request):
        return self.json("GET", f"/v1/requests/{request}")["state"]

    def url(self, path="/"):
        return f"http://localhost:{self.bridge.port}{path}"

    def populate(self):
        """Something of everything. Returns the ids of requests by what they show."""
        ids = {}
        ids["dead"] = self.script("log 5 cannot reach the archive;message the archive is away;result 4", tags=["nightly"], retry={"attempts": 1})
        ids["hostile"] = self.script(
            f"log 4 {HOSTILE};message {HOSTILE};output {HOSTILE};result 4", unique_key=HOSTILE[:100], tags=[HOSTILE[:60]], retry={"attempts": 1})
        ids["succeeded"] = self.script("log 2 step one;progress 3 10;work 10 9 1 2048 4096;output {\"saved\":3};message saved three files")
        ids["retried"] = self.script("message not yet;result-until 3 3;log 2 third time lucky", retry={"attempts": 5, "initial_ms": 100, "maximum_ms": 200})
        for _ in range(12):
            self.script("sleep 30;message done")
        for name, count in (("mail.fetch", 14), ("report.weekly", 8), ("disk.space", 3), ("backup.nightly", 3)):
            for _ in range(count):
                request = self.json("POST", "/v1/simulate/launch", {"identifier": name})["id"]
                self.wait(lambda: self.state(request) != "running" and self.json("GET", f"/v1/requests/{request}").get("last_outcome"))
                last = None
        first = self.script("sleep 600000", tags=["chain"])
        second = self.script("sleep 1", after=[first])
        third = self.script("sleep 1", after=[first])
        ids["blocked"] = self.script("sleep 1", after=[second, {"request": third, "on_failure": "ignore"}], unique_key="publish")
        ids["running"] = self.script("progress-with 42 120 files copying holiday/report.pdf;log 2 copying;sleep 600000", unique_key="copy")
        ids["video"] = self.submit("video.transcode")
        ids["later"] = self.script("sleep 1", delay_ms=5400000, unique_key="later", tags=["evening"])
        self.json("PUT", "/v1/conditions", {"power": False})
        ids["waiting"] = self.script("sleep 1", conditions=["power"], unique_key="needs-power")
        self.json("POST", "/v1/transfers", {"payload": {"items": [
            {"url": "https://download.example.org/images/disk-2026.img", "to": "/srv/disk.img"},
            {"url": "https://download.example.org/b", "to": "/srv/b"}]}, "delay_ms": 3600000})
        long = "identifier:com.example." + "warehouse-" * 8 + "inventory.synchronisation"
        self.json("POST", "/v1/pauses", {"filter": long, "why": "the database moves to another machine room, and comes back on Sunday"})
        self.json("POST", "/v1/pauses", {"filter": "tag:archive payload.account:x", "why": HOSTILE, "until": "2030-01-01T00:00:00Z"})
        self.json("POST", "/v1/assertions", {"name": "package upgrade", "reason": "dpkg is unpacking", "for_ms": 300000})
        self.wait(lambda: self.state(ids["retried"]) == "succeeded" and self.state(ids["dead"]) == "failed" and self.state(ids["hostile"]) == "failed")
        self.wait(lambda: self.state(ids["running"]) == "running")
        return ids
