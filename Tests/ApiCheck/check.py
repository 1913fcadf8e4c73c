"""Checks /openapi.json of a running host: that it is OpenAPI 3.1, and, with schemathesis, that the host does what it says.

usage: check.py TASKHOST HELLO_PLUGIN [ARGUMENT_OF_SCHEMATHESIS...]

The host runs in a directory of its own. A thread passes TCP connections on to its control socket.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.request

from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../SocketBridge"))
from socket_bridge import Bridge  # noqa: E402

# What schemathesis must not call: it would end the host, or wait for the end of a stream.
EXCLUDED = ["shutDown", "streamEvents"]
# The plugin's.
IDENTIFIER = "org.taskhost.samples.hello-c"


def close(schema):
    """An answer has no members that are not declared: clients of a later version may meet more, but not in this check."""
    if isinstance(schema, dict):
        if "properties" in schema and "additionalProperties" not in schema:
            schema["additionalProperties"] = False
        for value in schema.values():
            close(value)
    elif isinstance(schema, list):
        for value in schema:
            close(value)


def wait_for(host):
    """The host's log says when clients can connect. What it says later is shown from errors upwards."""
    for line in host.stderr:
        if "control socket open" in line:
            threading.Thread(target=show_errors, args=(host.stderr,), daemon=True).start()
            return
        print(line, end="")
    sys.exit("the host ended: its log is above")


def show_errors(log):
    for line in log:
        if json.loads(line)["level"] in ("error", "critical"):
            print(line, end="", flush=True)


# Requests of all sorts, so that lists are not empty and links lead somewhere.
REQUESTS = [
    {"payload": {"a": [1, None]}, "tags": ["nightly"], "priority": 3, "unique_key": "k", "unique_window_ms": 1000},
    {"payload_base64": "AAEC", "delay_ms": 3_600_000, "flex_ms": 60_000, "jitter_ms": 1000, "conditions": ["network", "power"]},
    {"cron": "30 2 * * *", "time_zone": "Europe/Berlin", "missed": "all", "missed_limit": 3, "deadline": "2100-01-01T00:00:00Z"},
    {"every_ms": 86_400_000, "retry": {"attempts": 2, "backoff": "linear", "initial_ms": 1000, "maximum_ms": 5000}},
    {"event": "arrived", "debounce_ms": 10, "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
    {"watch": "/tmp/taskhost-api-check", "every_event": True, "idempotency_key": "i"},
    {"after": ["@0", {"request": "@1", "on_failure": "ignore"}]},
]


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def approve(url, document):
    """Approves the plugin, which waits for that. Nobody guesses what has to be sent, so both answers are compared here."""
    def checked(answer, method, path):
        schema = document["paths"][path][method]["responses"]["200"]["content"]["application/json"]["schema"]
        Draft202012Validator({**schema, "components": document["components"]}).validate(answer)
        return answer

    with urllib.request.urlopen(f"{url}/v1/plugins") as answer:
        [plugin] = checked(json.load(answer), "get", "/v1/plugins")["plugins"]
    order = {"fingerprint": plugin["approval"]["fingerprint"]}
    report = checked(post(f"{url}/v1/plugins/{IDENTIFIER}/approve", order), "post", "/v1/plugins/{identifier}/approve")
    if not report["in_force"]:
        sys.exit(f"the plugin is not in force after its approval: {report}")
    print("a plugin that waits, its approval and the reload after it are as declared", flush=True)


def prepare(url):
    post(f"{url}/v1/requests", [{"identifier": IDENTIFIER, **request} for request in REQUESTS])
    for number in range(20):
        post(f"{url}/v1/transfers", {"payload": {"url": f"https://localhost:1/{number}", "to": "/tmp/taskhost-api-check"}})


def main():
    taskhost, plugin, *arguments = sys.argv[1:]
    folder = tempfile.mkdtemp(prefix="taskhost-api-")
    try:
        return run(taskhost, plugin, arguments, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(taskhost, plugin, arguments, folder):
    os.mkdir(f"{folder}/plugins", 0o755)
    shutil.copy(plugin, f"{folder}/plugins/hello.so")
    with open(f"{folder}/taskhost.toml", "w") as file:
        file.write('permitted_identifiers = ["*", "org.taskhost.transfers"]\nmax_pending = 1000000\napprove_entitlements = true\n[log]\nformat = "json"\n')
    host = subprocess.Popen([taskhost, "run", "--allow-missing", "--config", f"{folder}/taskhost.toml"], stderr=subprocess.PIPE, text=True)
    try:
        wait_for(host)
        url = f"http://127.0.0.1:{Bridge(f'{folder}/state/control.sock').port}"
        with urllib.request.urlopen(f"{url}/openapi.json") as answer:
            document = json.load(answer)
        validate(document)
        operations = sum(len(path) for path in document["paths"].values())
        print(f"/openapi.json is valid OpenAPI {document['openapi']}: {len(document['paths'])} paths, {operations} operations", flush=True)
        schemas = document["components"]["schemas"]
        # Of other identifiers, the host says only that it does not know them.
        schemas["NewRequest"]["properties"]["identifier"] = {"enum": [IDENTIFIER]}
        for path in document["paths"].values():
            for operation in path.values():
                # The control socket asks for no token.
                del operation["security"]
        close(schemas)
        close(document["paths"])
        approve(url, document)
        prepare(url)
        with open(f"{folder}/openapi.json", "w") as file:
            json.dump(document, file)
        command = [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "--config-file", f"{os.path.dirname(__file__)}/schemathesis.toml"]
        command += ["run", f"{folder}/openapi.json", "--url", url, *arguments]
        for name in EXCLUDED:
            command += ["--exclude-operation-id", name]
        code = subprocess.run(command, cwd=folder).returncode
        if host.poll() is not None:
            sys.exit(f"the host ended with {host.returncode}")
        return code
    finally:
        # Asked to end, it would wait for the assertions that were taken.
        host.kill()
        host.wait()


if __name__ == "__main__":
    sys.exit(main())
