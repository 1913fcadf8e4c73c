#!/usr/bin/env python3
"""Uploads a file through the transfers plugin to NIOResumableUpload of swift-nio-extras, whose connection is cut twice, and checks that the
server got every byte, and none twice beyond what it had acknowledged. Usage: check.py DIRECTORY SERVER, with taskhost, taskhost-worker and
libTransfers.so in DIRECTORY.
"""

import filecmp
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

SIZE = 50_000_000
CUTS = [20_000_000, 17_000_000]

CONFIGURATION = """\
[retry]
initial = "200ms"
[plugin."org.taskhost.transfers".entitlements]
network = "connect"
read = ["{folder}/files"]
"""


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


def line_with(words, stream):
    for line in stream:
        if words in line:
            return
        print(line, end="", file=sys.stderr)
    sys.exit(f"there was no line with {words}")


def check(requests, kept, sent):
    """What the server saw, request by request."""
    for request in requests:
        print(json.dumps(request))
    uploads = [request for request in requests if request["method"] in ("PUT", "PATCH")]
    asked = [request for request in requests if request["method"] == "HEAD"]
    assert [request["method"] for request in uploads] == ["PUT", "PATCH", "PATCH"], "each cut is followed by one PATCH"
    assert 104 in uploads[0]["statuses"], "the server names a place to go on before it has the file"
    assert [request["bytes"] for request in uploads[:2]] == CUTS, "the cuts are where they were wished"
    assert len(asked) == 2, "the plugin asks once after each cut"
    end = 0
    for request, question in zip(uploads[1:], asked):
        assert request["offset"] == question["answered"], f"it goes on at {request['offset']}, and the server had {question['answered']}"
        assert int(request["offset"]) <= end + uploads[uploads.index(request) - 1]["bytes"]
        end = int(request["offset"])
    assert int(uploads[-1]["offset"]) + uploads[-1]["bytes"] == SIZE, "the last PATCH has the rest, and no more"
    assert uploads[-1]["statuses"][-1] == 201
    assert filecmp.cmp(sent, kept, shallow=False), "the file that arrived is the one that was sent"


def main():
    programs, server = (os.path.abspath(path) for path in sys.argv[1:])
    folder = tempfile.mkdtemp(prefix="taskhost-upload-")
    os.chmod(folder, 0o755)
    processes = []
    try:
        for name in ("plugins", "files"):
            os.mkdir(f"{folder}/{name}", 0o755)
        shutil.copy(f"{programs}/libTransfers.so", f"{folder}/plugins/")
        with open(f"{folder}/taskhost.toml", "w") as file:
            file.write(CONFIGURATION.format(folder=folder))
        sent, kept = f"{folder}/files/big", f"{folder}/kept"
        with open(sent, "wb") as file:
            file.write(random.Random(14).randbytes(SIZE))
        port = free_port()
        uploads = subprocess.Popen([server, str(port), kept, *map(str, CUTS)], stdout=subprocess.PIPE, text=True)
        processes.append(uploads)
        line_with("listening", uploads.stdout)
        requests = []
        reader = threading.Thread(target=lambda: requests.extend(json.loads(line) for line in uploads.stdout))
        reader.start()
        host = subprocess.Popen(
            [f"{programs}/taskhost", "run", "--config", f"{folder}/taskhost.toml"], stderr=subprocess.PIPE, text=True, cwd=folder)
        processes.append(host)
        line_with("control socket open", host.stderr)
        threading.Thread(target=lambda: [print(line, end="", file=sys.stderr) for line in host.stderr], daemon=True).start()
        environment = dict(os.environ, TASKHOST_SOCKET=f"{folder}/state/control.sock")
        done = subprocess.run(
            [f"{programs}/taskhost", "transfers", "submit", "--from", sent, f"http://127.0.0.1:{port}/big", "--wait"], env=environment, timeout=300)
        host.terminate()
        host.wait()
        uploads.terminate()
        reader.join()
        assert done.returncode == 0, f"the transfer ended with {done.returncode}"
        check(requests, kept, sent)
        print(f"{SIZE} bytes arrived over {len(CUTS) + 1} connections")
    finally:
        for process in processes:
            process.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
