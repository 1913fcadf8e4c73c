"""Builds and runs the container with rootless Podman: as an ordinary user of a Debian 12 that systemd runs, in a virtual machine."""
import json
import shutil

import machine
from container import RECIPE, TRIALS

# Seconds until the machine must have switched itself off.
LIMIT = 2400
# The engine, and what it needs for a user without rights: ids, a network, an init, a systemd of the user's own.
ENGINE = """
apt-get -q install -y --no-install-recommends podman crun uidmap slirp4netns fuse-overlayfs catatonit ca-certificates dbus-user-session libpam-systemd
useradd -m -s /bin/bash me
install -d -o me -g me /home/me/.config /home/me/.config/systemd /home/me/.config/systemd/user /home/me/.config/systemd/user/default.target.wants
echo overlay > /etc/modules-load.d/overlay.conf
printf '[storage]\ndriver = "overlay"\n' > /etc/containers/storage.conf
install -d /var/lib/systemd/linger && touch /var/lib/systemd/linger/me
"""
# The user's systemd runs it, so that the engine can divide a control group that is the user's.
UNIT = """
[Service]
Type=oneshot
ExecStart=/bin/bash /work/container
"""
PROBE = r"""
for attempt in {1..10000}; do [ -e /home/me/ended ] && break; sleep 0.2; done
cat /home/me/answers
"""
SCRIPT = r"""
exec >/home/me/answers 2>&1
trap 'touch /home/me/ended' EXIT
cd /home/me
export LC_ALL=C.UTF-8 TERM=dumb
launched() { for attempt in {1..300}; do podman exec taskhost taskhost status >/dev/null 2>&1; case $? in 0 | 1) return;; esac; sleep 0.5; done; echo "UNEXPECTED: no host answers"; }
show() { printf '\n$ %s\n' "$2"; bash -c "$2" </dev/null; code=$?; [ "$code" = 0 ] || echo "[exits with $code]"; [ "$code" = "$1" ] || echo "UNEXPECTED: not with $1"; }
show 0 'id; podman --version; uname -r'
show 0 "podman info --format 'rootless {{.Host.Security.Rootless}}, {{.Host.OCIRuntime.Name}}, control groups {{.Host.CgroupsVersion}} by {{.Host.CgroupManager}}, {{.Store.GraphDriverName}}'"
# Without a registry: the same Debian.
podman import -q /work/base.tar docker.io/library/debian:12-slim
show 0 'podman build --pull=never -t taskhost /work/recipe 2>&1 | grep -vE "^(debconf:|Selecting|Preparing|Unpacking|Setting up|Get:)"'
show 0 'podman run --rm --entrypoint cat taskhost /etc/taskhost/taskhost.toml > taskhost.toml && cat commands.toml >> taskhost.toml'
mkdir check other
show 0 'podman run -d --name taskhost --init -v taskhost-state:/var/lib/taskhost -v ./taskhost.toml:/etc/taskhost/taskhost.toml:ro -v ./check:/srv/check:U -v ./other:/srv/other:U taskhost'
launched
show 0 'podman exec taskhost taskhost submit com.example.allowed --wait'
show 1 'podman exec taskhost taskhost submit com.example.denied --wait'
show 0 'ls check other'
show 1 'podman exec taskhost taskhost status'
echo "status: $(podman exec taskhost taskhost status --json)"
echo "plugins: $(podman exec taskhost taskhost plugins list --json)"
show 0 'podman exec taskhost grep -h -E "Cap(Eff|Bnd)|NoNewPrivs|Seccomp:" /proc/self/status'
show 0 'podman exec taskhost sh -c "mount | grep -E cgroup; cat /sys/fs/cgroup/pids.max; mkdir /sys/fs/cgroup/x || true"'
show 0 'podman stop --time 60 taskhost'
show 0 "podman inspect taskhost --format 'exit code {{.State.ExitCode}}'"
show 0 'podman start taskhost'
launched
show 0 'podman exec taskhost taskhost runs list'
show 0 'podman stop --time 60 taskhost'
show 0 'podman logs taskhost 2>&1 | tail -8'
show 0 'podman run -d --name small --init --security-opt no-new-privileges --pids-limit 200 --memory 500m taskhost'
for attempt in {1..300}; do podman logs small 2>&1 | grep -q "control socket open" && break; sleep 0.5; done
show 0 'podman exec small sh -c "cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/memory.max"'
show 0 'podman stop --time 60 small'
"""


def check_engine(root, archive, package, file, require):
    root.shell(machine.KERNEL)
    root.shell(ENGINE)
    units = root.path / "home/me/.config/systemd/user"
    (units / "container.service").write_text(UNIT)
    (units / "default.target.wants/container.service").symlink_to("../container.service")
    (root.path / "work/container").write_text(SCRIPT)
    recipe = root.path / "work/recipe"
    recipe.mkdir()
    shutil.copy(RECIPE, recipe)
    shutil.copy(package, recipe / "taskhost_check.deb")
    shutil.copy(archive, root.path / "work/base.tar")
    home = root.path / "home/me"
    (home / "commands.toml").write_text(TRIALS)
    text = machine.answers(root, PROBE, LIMIT, network=True, memory=3072)
    file.write_text(text)
    require("UNEXPECTED" not in text, f"rootless Podman builds the image and runs it, {text.count(chr(10) + '$ ')} commands: {file}")
    require("\nexit code 0\n" in text, "a stopped host has drained, and ends with 0")
    require("com.example.allowed  succeeded" in text, "another start finds the runs of the one before")
    require("\n200\n524288000\n" in text, "--pids-limit and --memory are in force in the group of the container")
    said = dict(line.split(": ", 1) for line in text.splitlines() if line.startswith(("status: {", "plugins: {")))
    lacking = json.loads(said["status"]).get("sandbox", [])
    for plugin in json.loads(said["plugins"])["plugins"]:
        lacking += plugin.get("sandbox", [])
    print(f"    what is not enforced there: {sorted(set(lacking))}")
    require(any(line.startswith("limits.processes") for line in lacking), "the host says that limits.processes is not enforced there")
    require(not any("seccomp" in line or "is not in this kernel" in line for line in lacking), "Landlock and seccomp are")
