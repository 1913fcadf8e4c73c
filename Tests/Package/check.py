#!/usr/bin/env -S python3 -B
"""Builds the Debian packages and uses them as people do, in a Debian 12 of its own. As root.

usage: check.py PROGRAMS PLUGINS [--part NAME]... [--shown FOLDER] [--keep] [--mount FOLDER]

--part NAME     only this: packages, directory, systemd, story or engine
--shown FOLDER  puts there what the terminal showed in the parts story and engine
--keep          leaves the folder with the packages and the Debian
--mount FOLDER  shows this folder there too: Swift's libraries, for programs that do not contain them
"""
import argparse
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import booted
from completions import check_completions
from container import check_container
from engine import check_engine
from root import Root
from story import check_story

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
MIRROR = os.environ.get("MIRROR", "http://deb.debian.org/debian")
CACHE = os.environ.get("CACHE", "/var/tmp/taskhost-package-check")
SOCKET = ["--socket", "/run/taskhost/control.sock"]
# A package may need a manager of users and directories; the service's exposure, as systemd-analyze counts.
MOST_EXPOSURE = 3.0
PARTS = ["packages", "directory", "systemd", "story", "engine"]


def said(text):
    print(f"ok: {text}", flush=True)


def require(condition, text):
    if not condition:
        raise SystemExit(f"failed: {text}")
    said(text)


def output(*command):
    ran = subprocess.run(command, text=True, capture_output=True)
    if ran.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exited with {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def build(options, folder):
    # xz takes minutes for what is installed once here.
    os.environ["COMPRESSION"] = "-Zgzip -z1"
    output(REPOSITORY / "Packaging/debian/build", options.programs, options.plugins, folder)
    packages = sorted(pathlib.Path(folder).glob("*.deb"))
    return {package.name.split("_")[0]: package for package in packages}


def newer(package, folder):
    """The same package with a higher version, and another configuration."""
    unpacked = folder / "unpacked"
    output("dpkg-deb", "-R", package, unpacked)
    control = unpacked / "DEBIAN/control"
    version = output("dpkg-deb", "-f", package, "Version").strip()
    control.write_text(control.read_text().replace(f"Version: {version}", f"Version: {version}+next"))
    configuration = unpacked / "etc/taskhost/taskhost.toml"
    configuration.write_text("# A newer configuration.\n" + configuration.read_text())
    target = folder / f"taskhost_{version}+next.deb"
    output("dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", unpacked, target)
    return target


def check_packages(options, scratch):
    output(REPOSITORY / "Tests/Package/keys.py")
    said("the configuration has every key that the host reads, and no other")
    packages = build(options, scratch / "first")
    again = build(options, scratch / "second")
    require(all(packages[name].read_bytes() == again[name].read_bytes() for name in packages), "two builds give the same bytes")
    # As another user than root, lintian would not warn about that; the packages are readable.
    complaints = output("lintian", "--allow-root", "--fail-on", "error,warning", *packages.values())
    require(not complaints.strip(), "lintian has nothing to say")
    return packages


def check_pages(tree):
    pages = sorted(tree.glob("usr/share/man/man*/*.gz"))
    for page in pages:
        plain = tree / "page"
        plain.write_bytes(gzip.decompress(page.read_bytes()))
        for command in (["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", plain], ["mandoc", "-T", "lint", plain]):
            ran = subprocess.run(command, text=True, capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
            complaint = ran.stderr if command[0] == "man" else ran.stdout + ran.stderr
            require_silence(page, command, complaint)
        plain.unlink()
    said(f"man and mandoc have nothing to say about {len(pages)} pages")


def require_silence(page, command, complaint):
    if complaint.strip():
        raise SystemExit(f"failed: {command[0]} says about {page.name}:\n{complaint}")


def check_units(root):
    root.run("systemd-analyze", "verify", "--man=no", "taskhost.socket")
    for unit in ("taskhost.service", "taskhost@root.service"):
        root.run("systemd-analyze", "verify", "--man=no", unit)
        text = root.run("systemd-analyze", "security", "--offline=yes", "--no-pager", f"/lib/systemd/system/{unit.replace('root', '')}")
        exposure = float(text.split("Overall exposure level for")[1].split(":")[1].split()[0])
        require(exposure <= MOST_EXPOSURE, f"{unit} is valid, and its exposure is {exposure}")


def check_plugin(root):
    """A plugin by a template, compiled with what taskhost-dev has, runs in the packaged host."""
    root.shell("apt-get -q install -y --no-install-recommends /work/taskhost-dev.deb gcc libc6-dev pkg-config")
    root.shell("""
        cd /work && taskhost plugins new --language c --identifier com.example.hello hello
        rm -r hello/include
        gcc -std=c11 -Wall -Wextra -Werror -O2 -shared -fPIC $(pkg-config --cflags taskhost) -o hello.so hello/src/hello.c
        taskhost plugins check hello.so
        install -m 0644 hello.so "$(pkg-config --variable=plugindir taskhost)/"
        """)
    said("a template in C compiles with the header of taskhost-dev, and passes the check")
    host = root.host()
    root.run("taskhost", "submit", "com.example.hello", "--wait", *SOCKET)
    runs = [line for line in root.run("taskhost", "runs", "list", *SOCKET).splitlines() if "com.example.hello" in line]
    require(len(runs) == 1 and "succeeded" in runs[0], "its run succeeds in the packaged host")
    require(host.stop(root) == 0, "the host ends with 0")


def check_host(root):
    info = os.stat(root.path / "var/lib/taskhost")
    user = int(root.run("id", "-u", "taskhost"))
    require(info.st_uid == user and info.st_mode & 0o7777 == 0o700, "/var/lib/taskhost belongs to the user taskhost alone")
    host = root.host()
    refused = [message for message in host.messages() if "refused" in message]
    require(refused == ["launched: 3 plugins registered, 0 refused"], "the host launches as that user, with the three plugins that come with it")
    root.run("taskhost", "status", *SOCKET)
    plugins = root.run("taskhost", "plugins", "list", *SOCKET)
    require(plugins.count(" process ") == 3, "each in a process of its own")
    require(host.stop(root) == 0, "the host ends with 0")


def check_user_host(root):
    """A user's own host, as taskhost@.service starts it."""
    unit = (REPOSITORY / "Packaging/systemd/taskhost@.service").read_text()
    start = next(line for line in unit.splitlines() if line.startswith("ExecStart=")).partition("=")[2]
    options = start.replace("${HOME}", "/home/me").replace("${RUNTIME_DIRECTORY}", "/run/taskhost@me").split()[2:]
    root.shell("""
        useradd -m me && install -d -o me -g me /run/taskhost@me
        cd /home/me && install -d -o me -g me .config .config/taskhost .config/taskhost/plugins .local
        printf '[command."me.note"]\\nshell = "echo done > note"\\n' > .config/taskhost/taskhost.toml
        """)
    host = root.host(*options, user="me", configuration=None)
    socket = ["--socket", "/run/taskhost@me/control.sock"]
    root.run("taskhost", "submit", "me.note", "--wait", *socket, user="me")
    require((root.path / "home/me/note").read_text() == "done\n" and (root.path / "home/me/.local/state/taskhost/taskhost.sqlite").exists(),
            "a user's own host runs a command in the home directory, and keeps its state there")
    require(host.stop(root, *socket) == 0, "the host ends with 0")
    root.shell("userdel -r me 2>/dev/null; rm -rf /run/taskhost@me /etc/sub?id-")


def allowed_calls(unit):
    """The names of SystemCallFilter=, with those of its groups."""
    words = next(line for line in unit.read_text().splitlines() if line.startswith("SystemCallFilter=")).partition("=")[2].split()
    calls = set()
    while words:
        word = words.pop()
        if word.startswith("@"):
            lines = output("systemd-analyze", "syscall-filter", word).splitlines()[1:]
            words += [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
        else:
            calls.add(word)
    return calls


CONFINED = """
[command."com.example.allowed"]
run = ["/bin/sh", "-c", "echo written > /srv/check/file"]
[command."com.example.allowed".entitlements]
write = ["/srv/check"]
[command."com.example.denied"]
run = ["/bin/sh", "-c", "echo written > /srv/other/file"]
retry = { attempts = 1 }
[command."com.example.denied".entitlements]
write = ["/srv/check"]
"""
LIMITED = """
[command."com.example.busy"]
run = ["/bin/sh", "-c", "while :; do :; done"]
budget = "30s"
retry = { attempts = 1 }
entitlements = {}
limits = { processes = 9, cpu = { share = 20, quota = "50%" } }
"""


def check_confined(root):
    """Under the service's restrictions, workers have their sandbox, and what they are entitled to."""
    calls = allowed_calls(REPOSITORY / "Packaging/systemd/taskhost.service")
    (root.path / "work/calls").write_text("\n".join(sorted(calls)))
    output("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", "-o", root.path / "work/confine", REPOSITORY / "Tests/Package/confine.c", "-lseccomp")
    root.shell("install -d -o taskhost -g taskhost /srv/check /srv/other")
    configuration = root.path / "etc/taskhost/taskhost.toml"
    before = configuration.read_text()
    configuration.write_text(before + CONFINED)
    host = root.host(writable=["/var/lib/taskhost", "/run/taskhost", "/srv/check", "/srv/other"])
    for identifier, expected in [("com.example.allowed", 0), ("com.example.denied", 1), ("com.example.hello", 0)]:
        root.run("taskhost", "submit", identifier, "--wait", *SOCKET, expect=expected)
    require((root.path / "srv/check/file").read_text() == "written\n" and not (root.path / "srv/other/file").exists(),
            f"under the service's restrictions ({len(calls)} system calls), a worker writes where it is entitled to, and nowhere else")
    missing = json.loads(root.run("taskhost", "status", "--json", *SOCKET, expect=None)).get("sandbox", [])
    print(f"    what this kernel cannot enforce: {missing}")
    require(not any("Landlock" in text or "seccomp" in text for text in missing),
            "the sandbox lacks neither Landlock nor seccomp there")
    require(host.stop(root) == 0, "the host ends with 0")
    configuration.write_text(before)
    shutil.rmtree(root.path / "srv/check")
    shutil.rmtree(root.path / "srv/other")


def check_booted(root):
    """A systemd starts, reloads, restarts and stops the service. The package is purged then."""
    found = booted.answers(root, CONFINED + LIMITED)
    status = json.loads(found["status"])
    print(f"    Debian's kernel {found['kernel']} in a virtual machine; systemctl status: {found['told']}")
    require(found["active"] == "active" and float(found["exposure"]) <= MOST_EXPOSURE, f"systemd runs the service, exposure {found['exposure']}")
    require(found["capabilities"] == "0" * 16, "without capabilities")
    require(found["group"].endswith("/taskhost.service/host") and int(found["workers"]) > 0, "in a control group that it divides among its workers")
    require((found["allowed"], found["denied"], found["written"].split()) == ("0", "1", ["/srv/check:", "file", "/srv/other:"]),
            "a worker writes where it is entitled to, and nowhere else")
    require(found["processes"] == "17", f"its group limits its processes, with its own threads: {found['processes']}")
    require(found["quota"] == "50000 100000" and 40 <= int(found["busy"]) <= 65, f"limits.cpu holds a busy command to half a processor: {found['busy']}%")
    missing = status.get("sandbox", [])
    print(f"    what this kernel cannot enforce: {missing}")
    require(not any("limits." in text or "seccomp" in text or "is not in this kernel" in text for text in missing), "every limit is enforced")
    require(int(found["journal"]) > 0, "journalctl finds the lines of a task by TASKHOST_IDENTIFIER")
    require(found["reloaded"] == "0 same active", "systemctl reload puts a changed configuration in force in the same process")
    require(found["unreloaded"] != "0 same active" and found["unreloaded"].endswith("same active"), "it fails with a wrong one, and the host goes on")
    require(found["upgraded"] == "active anew", "an upgrade restarts the service")
    require(found["killed"] == "active", "systemd starts a killed host again")
    require(found["stuck"].startswith("active") and found["stuck"] != "active 0", "its watchdog ends a stuck host, and systemd starts it again")
    require(found["stopped"] == "success 0", "it stops in order")
    require(found["user"] == "0 done", "taskhost@me.service runs a command of its user")
    require((found["purged"], found["failed"]) == ("inactive", "0"), "a purge stops it, and no unit has failed")


def pretend_systemd(root):
    """Makes the maintainer scripts believe that systemd runs, and records what they ask of it."""
    (root.path / "run/systemd/system").mkdir(parents=True, exist_ok=True)
    # In its place: dpkg searches a path of its own.
    stub = root.path / "usr/bin/systemctl"
    stub.rename(root.path / "work/systemctl")
    stub.write_text('#!/bin/sh\necho "$@" >> /work/systemctl.log\ncase "$*" in *is-enabled*) echo enabled;; esac\n')
    stub.chmod(0o755)


def asked(root):
    log = root.path / "work/systemctl.log"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return [line for line in lines if any(action in line.split() for action in ("start", "stop", "restart", "try-restart", "daemon-reload"))]


def check_upgrade(root):
    configuration = root.path / "etc/taskhost/taskhost.toml"
    configuration.write_text("max_pending = 500  # the operator's\n" + configuration.read_text())
    before = configuration.read_text()
    pretend_systemd(root)
    root.shell("apt-get -q install -y -o Dpkg::Options::=--force-confold /work/taskhost-next.deb")
    require(configuration.read_text() == before, "an upgrade keeps the configuration that the operator changed")
    require((root.path / "etc/taskhost/taskhost.toml.dpkg-dist").exists(), "the new one is beside it")
    calls = asked(root)
    actions = [word for line in calls for word in line.split() if word in ("stop", "start", "daemon-reload", "try-restart")]
    require(actions == ["stop", "daemon-reload", "start", "try-restart"], f"an upgrade stops the service before and starts it after: {calls}")
    host = root.host()
    require("com.example.hello" in root.run("taskhost", "runs", "list", *SOCKET), "the new version has the runs of the old one")
    require(host.stop(root) == 0, "the host ends with 0")


def check_removal(root, expected):
    root.shell("apt-get -q remove -y taskhost taskhost-dev")
    require([call.split()[-1] for call in asked(root) if "stop" in call.split()] == ["taskhost.service", "taskhost@*.service"],
            "a removal stops the services")
    require((root.path / "var/lib/taskhost/taskhost.sqlite").exists() and (root.path / "etc/taskhost/taskhost.toml").exists(),
            "it keeps state and configuration")
    root.shell("apt-get -q purge -y taskhost taskhost-dev gcc libc6-dev pkg-config; apt-get -q autoremove --purge -y --no-install-recommends || true",
               expect=None)
    (root.path / "work/systemctl").rename(root.path / "usr/bin/systemctl")
    left = sorted(path for path in root.files() if path not in expected)
    require(not [path for path in left if "taskhost" in path], "a purge leaves nothing of taskhost")
    require(not left, f"and nothing else that the packages it needs have not installed {left[:10]}")
    require("taskhost" in (root.path / "etc/passwd").read_text(), "the user stays, because files elsewhere may belong to it")


def check_directory(options, scratch, archive, packages):
    """In a root directory without systemd."""
    root = Root.unpacked(archive, scratch / "root", options.mount)
    for name, package in packages.items():
        shutil.copy(package, root.path / "work" / f"{name}.deb")
    shutil.copy(newer(packages["taskhost"], scratch), root.path / "work/taskhost-next.deb")

    # What the packages that it needs leave behind is not its own.
    other = Root.unpacked(archive, scratch / "dependencies", options.mount)
    needed = ", ".join(output("dpkg-deb", "-f", packages["taskhost"], field).strip() for field in ("Depends", "Recommends"))
    other.shell(f"apt-get -q update; apt-get -q satisfy -y '{needed}'; apt-get -q install -y --no-install-recommends gcc libc6-dev pkg-config")

    root.shell("apt-get -q update")
    root.shell("apt-get -q install -y /work/taskhost.deb")
    version = output("dpkg-deb", "-f", packages["taskhost"], "Version").strip()
    require(root.run("taskhost", "--version").strip() == version, f"one command installs version {version} on a bare Debian 12")
    require(not (root.path / "work/systemctl.log").exists(), "no service is started where no systemd runs")
    require((root.path / "etc/systemd/system/multi-user.target.wants/taskhost.service").is_symlink(), "the service is enabled")
    check_units(root)
    check_host(root)
    check_user_host(root)
    check_plugin(root)
    check_confined(root)
    check_upgrade(root)
    check_removal(root, other.files())
    shutil.rmtree(root.path)
    check_container(archive, packages["taskhost"], scratch, options.mount, require)


def check(options, scratch):
    parts = options.part or PARTS
    shown = pathlib.Path(options.shown).resolve() if options.shown else scratch
    shown.mkdir(parents=True, exist_ok=True)
    packages = check_packages(options, scratch) if "packages" in parts else build(options, scratch / "first")
    if "packages" in parts:
        tree = scratch / "tree"
        output("dpkg-deb", "-x", packages["taskhost"], tree)
        check_pages(tree)
        check_completions(tree, options.programs, said)
    archive = Root.base(CACHE, MIRROR)
    if "directory" in parts:
        check_directory(options, scratch, archive, packages)

    def system(name):
        root = Root.unpacked(archive, scratch / name, options.mount)
        shutil.copy(packages["taskhost"], root.path / "work/taskhost.deb")
        root.shell("apt-get -q update")
        return root

    if "systemd" in parts:
        root = system("systemd")
        root.shell("apt-get -q install -y /work/taskhost.deb")
        check_booted(root)
        shutil.rmtree(root.path)
    if "story" in parts:
        check_story(system("story"), shown / "story.txt", require)
    if "engine" in parts:
        check_engine(system("engine"), archive, packages["taskhost"], shown / "engine.txt", require)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("plugins")
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--shown")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--mount", action="append", default=[])
    options = parser.parse_args()
    if os.geteuid():
        raise SystemExit("check.py: must run as root: it makes a root directory with users of its own")
    options.programs, options.plugins = (str(pathlib.Path(path).resolve()) for path in (options.programs, options.plugins))
    # Everybody's, on the way to what a host loads.
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="taskhost-package-", dir="/var/tmp"))
    scratch.chmod(0o755)
    try:
        check(options, scratch)
        print("the packages are fine" if not options.part else "these parts are fine")
    finally:
        if options.keep:
            print(f"kept: {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
