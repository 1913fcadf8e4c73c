"""Follows the recipe of the container in a user namespace with subordinate ids, as a rootless engine does. There is no engine in it."""
import atexit
import ctypes
import json
import os
import pathlib
import re
import subprocess
import threading

from root import Root

CLONE_NEWUSER = 0x10000000
# The ids of the machine that stand for 0 to 65,535 in the namespace.
FIRST_ID, IDS = 100_000, 65_536
RECIPE = pathlib.Path(__file__).resolve().parents[2] / "Packaging/container/Containerfile"
TRIALS = """
[command."com.example.allowed"]
run = ["/bin/sh", "-c", "echo written > /srv/check/file"]
[command."com.example.allowed".entitlements]
write = ["/srv/check"]
[command."com.example.denied"]
run = ["/bin/sh", "-c", "echo written > /srv/other/file"]
[command."com.example.denied".entitlements]
write = ["/srv/check"]
"""


class Rootless(Root):
    """A root directory whose root is nobody outside."""

    def start(self, script, **options):
        """A shell in it, which is root there and has no rights elsewhere."""
        asks, told = os.pipe(), os.pipe()
        libc = ctypes.CDLL(None, use_errno=True)

        def enter():
            if libc.unshare(CLONE_NEWUSER):
                raise OSError(ctypes.get_errno(), "unshare")
            os.write(asks[1], str(os.getpid()).encode())
            os.read(told[0], 1)
            os.setgroups([])
            os.setresgid(0, 0, 0)
            os.setresuid(0, 0, 0)

        def give_ids():
            process = int(os.read(asks[0], 32))
            for kind in ("uid_map", "gid_map"):
                pathlib.Path(f"/proc/{process}/{kind}").write_text(f"0 {FIRST_ID} {IDS}\n")
            os.write(told[1], b".")

        thread = threading.Thread(target=give_ids)
        thread.start()
        started = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", script], preexec_fn=enter, text=True,
                                   env=self.environment, stdin=subprocess.DEVNULL, **options)
        atexit.register(started.kill)
        thread.join()
        for descriptor in asks + told:
            os.close(descriptor)
        return started

    def outside(self, script):
        started = self.start(script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        shown = started.communicate()[0]
        if started.returncode:
            raise SystemExit(f"{script}: exited with {started.returncode}\n{shown}")
        return shown

    def inside(self, script):
        """What the shell does in the root directory. Devices cannot be made there: those of the machine are shown."""
        path = self.path
        mounts = "".join(f": > {path}/dev/{device}; mount --bind /dev/{device} {path}/dev/{device}; " for device in
                         ("null", "zero", "full", "random", "urandom", "tty"))
        mounts += "".join(f"mkdir -p {path}{place}; mount --bind {place} {path}{place}; " for place in self.extra)
        quoted = script.replace("'", "'\\''")
        return (f"mount --bind {path} {path}; {mounts}mount --rbind /sys {path}/sys; mount -t proc proc {path}/proc; "
                f"exec chroot {path} sh -ec '{quoted}'")


def instructions():
    """The recipe as (word, text) pairs."""
    text = re.sub(r"\\\n", " ", RECIPE.read_text())
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line and not line.startswith("#")]


def check_container(archive, package, scratch, extra, require):
    place = scratch / "rootless"
    place.mkdir()
    os.chown(place, FIRST_ID, FIRST_ID)
    # The namespace's root reads it as everybody does.
    archive.parent.chmod(0o755)
    root = Rootless(place / "root", extra)
    root.outside(f"mkdir {root.path}; tar -C {root.path} -xf {archive} --exclude='./dev/*'; cp /etc/resolv.conf {root.path}/etc/; "
                 f"cp {package} {root.path}/tmp/; echo 'APT::Sandbox::User \"root\";' > {root.path}/etc/apt/apt.conf.d/99-package-check")
    words = dict(instructions())
    require(words["COPY"] == "taskhost_*.deb /tmp/", "the recipe of the container copies the package")
    root.outside(root.inside(words["RUN"]))
    require(root.path.joinpath("usr/bin/taskhost").exists(), "its RUN line works in a user namespace, as a rootless engine makes it")

    socket = words["ENV"].split("=")[1]
    entry = " ".join(json.loads(words["ENTRYPOINT"]))
    user = words["USER"]
    script = f"""
        export TASKHOST_SOCKET={socket}
        cat >> /etc/taskhost/taskhost.toml
        install -d -o {user} -g {user} /srv/check /srv/other
        mkfifo /tmp/log
        setpriv --reuid={user} --regid={user} --init-groups {entry} 2>/tmp/log &
        while read -r line; do case "$line" in *"control socket open"*) break;; esac; done < /tmp/log
        cat /tmp/log > /dev/null &
        taskhost submit com.example.allowed --wait >/dev/null 2>&1; echo "allowed $?"
        taskhost submit com.example.denied --wait >/dev/null 2>&1 || echo "denied $?"
        taskhost status --json || true
        taskhost plugins list --json
        taskhost shutdown --wait >/dev/null
        """
    trials = TRIALS.replace("'", "")
    shown = root.outside(root.inside(script.replace("cat >> /etc", f"printf %s '{trials}' >> /etc")))
    lines = shown.splitlines()
    require("allowed 0" in lines and "denied 1" in lines and (root.path / "srv/check/file").exists() and not (root.path / "srv/other/file").exists(),
            "a worker of the container's host writes where it is entitled to, and nowhere else")
    status = next(json.loads(line) for line in lines if line.startswith('{"') and '"phase"' in line)
    plugins = next(json.loads(line) for line in lines if line.startswith('{"plugins"'))
    require(not status.get("sandbox"), "its kernel enforces all of the sandbox there")
    missing = {text.split(":")[0] for plugin in plugins["plugins"] for text in plugin.get("sandbox", [])}
    require(missing == {"limits.processes"}, "except limits.processes, which needs a control group")
