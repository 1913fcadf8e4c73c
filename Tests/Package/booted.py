"""Starts a systemd in the root directory, with systemd-nspawn, and lets it run the service."""
import os
import pathlib
import shutil
import subprocess

# Landlock is missing in the list of calls that systemd-nspawn 252 allows.
CALLS = "landlock_create_ruleset landlock_add_rule landlock_restrict_self seccomp"
LIMIT = 240
UNIT = """
[Unit]
After=multi-user.target taskhost.service
[Service]
Type=oneshot
ExecStart=/bin/bash /work/probe
[Install]
WantedBy=multi-user.target
"""
PROBE = r"""
exec >/work/answers 2>&1
export TASKHOST_SOCKET=/run/taskhost/control.sock
# Waits until another process than $1 answers as the host.
launched() {
  for attempt in {1..300}; do
    if [ "$(process)" != "${1:-0}" ] && { taskhost status >/dev/null 2>&1 || [ $? = 1 ]; }; then return; fi
    sleep 0.2
  done
  echo "no host answers"
}
process() { systemctl show -P MainPID taskhost; }
launched
echo "active: $(systemctl is-active taskhost)"
echo "exposure: $(systemd-analyze security taskhost --no-pager | tail -1 | grep -o '[0-9]\.[0-9]')"
echo "group: $(grep -o '^0::.*' /proc/$(process)/cgroup)"
echo "capabilities: $(grep -h CapBnd /proc/$(process)/status | cut -f2)"
taskhost submit com.example.allowed --wait >/dev/null 2>&1; echo "allowed: $?"
taskhost submit com.example.denied --wait >/dev/null 2>&1; echo "denied: $?"
echo "workers: $(ls -d /sys/fs/cgroup/system.slice/taskhost.service/worker-* | wc -l)"
echo "status: $(taskhost status --json)"
before=$(process)
dpkg --force-confold -i /work/taskhost.deb >/dev/null
launched "$before"
echo "upgraded: $(systemctl is-active taskhost) $([ "$(process)" != "$before" ] && echo anew)"
before=$(process)
kill -9 "$before"
launched "$before"
echo "killed: $(systemctl is-active taskhost)"
systemctl stop taskhost
echo "stopped: $(systemctl show -P Result taskhost) $(systemctl show -P ExecMainStatus taskhost)"
systemctl start taskhost@me
export TASKHOST_SOCKET=/run/taskhost@me/control.sock
launched x
taskhost submit me.note --wait >/dev/null 2>&1; echo "user: $? $(cat /home/me/note)"
dpkg --purge taskhost >/dev/null 2>&1
echo "purged: $(systemctl is-active taskhost@me)"
echo "failed: $(systemctl --failed --no-legend --plain | grep -c taskhost)"
systemctl poweroff
"""
USER = """
useradd -m me
cd /home/me && install -d -o me -g me .config .config/taskhost .config/taskhost/plugins .local
printf '[command."me.note"]\\nshell = "echo done > note"\\n' > .config/taskhost/taskhost.toml
"""


def answers(root, commands):
    """What the probe says, by names. The machine's own kernel and its file system are shielded by systemd-nspawn."""
    root.shell("install -d -o taskhost -g taskhost /srv/check /srv/other" + USER)
    configuration = root.path / "etc/taskhost/taskhost.toml"
    configuration.write_text(configuration.read_text() + commands)
    units = root.path / "etc/systemd/system"
    (units / "taskhost.service.d").mkdir()
    # Both may be written as far as the unit is concerned: the sandbox decides.
    (units / "taskhost.service.d/paths.conf").write_text("[Service]\nReadWritePaths=/srv/check /srv/other\n")
    (units / "probe.service").write_text(UNIT)
    (units / "multi-user.target.wants/probe.service").symlink_to("../probe.service")
    (root.path / "work/probe").write_text(PROBE)
    binds = [f"--bind-ro={place}" for place in root.extra]
    booted = subprocess.run(
        ["timeout", "--kill-after=30", str(LIMIT), "systemd-nspawn", "--register=no", "--keep-unit", "--quiet", f"--directory={root.path}", "--private-network", "--boot", "--console=pipe",
         f"--system-call-filter={CALLS}", *binds], env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True)
    log = pathlib.Path(root.path / "work/answers")
    text = log.read_text() if log.exists() else "systemd did not start:\n" + booted.stdout + booted.stderr
    found = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    if "failed" not in found:
        raise SystemExit(f"failed: the probe in systemd did not end:\n{text}")
    return found
