"""Lets the systemd of a virtual machine run the service."""
import machine

# Seconds until the machine must have switched itself off: it takes three minutes.
LIMIT = 1200
PROBE = r"""
export TASKHOST_SOCKET=/run/taskhost/control.sock
groups=/sys/fs/cgroup/system.slice/taskhost.service
# Waits until another process than $1 answers as the host.
launched() {
  for attempt in {1..600}; do
    if [ "$(process)" != "${1:-0}" ] && { taskhost status >/dev/null 2>&1 || [ $? = 1 ]; }; then return; fi
    sleep 0.2
  done
  echo "no host answers"
}
process() { systemctl show -P MainPID taskhost; }
# The group of the worker that has a processor limit.
limited() { for group in $groups/worker-*; do if [ "$(cat $group/cpu.weight)" = 20 ]; then echo $group; fi; done; }
used() { grep -o 'usage_usec [0-9]*' "$(limited)/cpu.stat" | cut -d' ' -f2; }
launched
echo "kernel: $(uname -r)"
echo "active: $(systemctl is-active taskhost)"
echo "exposure: $(systemd-analyze security taskhost --no-pager | tail -1 | grep -o '[0-9]\.[0-9]')"
echo "group: $(grep -o '^0::.*' /proc/$(process)/cgroup)"
echo "capabilities: $(grep -h CapBnd /proc/$(process)/status | cut -f2)"
taskhost submit com.example.allowed --wait >/dev/null 2>&1; echo "allowed: $?"
taskhost submit com.example.denied --wait >/dev/null 2>&1; echo "denied: $?"
echo "written: $(ls /srv/check /srv/other | tr '\n' ' ')"
echo "workers: $(ls -d $groups/worker-* | wc -l)"
taskhost submit com.example.busy >/dev/null
for attempt in {1..100}; do [ -n "$(limited)" ] && [ "$(used)" -gt 100000 ] && break; sleep 0.1; done
echo "processes: $(cat $(limited)/pids.max)"
echo "quota: $(cat $(limited)/cpu.max)"
# On a busy machine, a sleep takes longer than it says.
before=$(used) begin=$(date +%s%N); sleep 3; echo "busy: $(( ($(used) - before) * 100000 / ($(date +%s%N) - begin) ))"
echo "status: $(taskhost status --json)"
echo "journal: $(journalctl -q -o cat TASKHOST_IDENTIFIER=com.example.allowed | wc -l)"
echo "told: $(systemctl show -P StatusText taskhost)"
before=$(process)
echo 'max_pending = 77' | cat - /etc/taskhost/taskhost.toml >/work/changed
cp /etc/taskhost/taskhost.toml /work/unchanged
cat /work/changed >/etc/taskhost/taskhost.toml
systemctl reload taskhost; echo "reloaded: $? $([ "$(process)" = "$before" ] && echo same) $(systemctl is-active taskhost)"
echo 'max_pendin = 78' | cat - /work/unchanged >/etc/taskhost/taskhost.toml
systemctl reload taskhost; echo "unreloaded: $? $([ "$(process)" = "$before" ] && echo same) $(systemctl is-active taskhost)"
cat /work/unchanged >/etc/taskhost/taskhost.toml
dpkg --force-confold -i /work/taskhost.deb >/dev/null
launched "$before"
echo "upgraded: $(systemctl is-active taskhost) $([ "$(process)" != "$before" ] && echo anew)"
before=$(process)
kill -9 "$before"
launched "$before"
echo "killed: $(systemctl is-active taskhost)"
before=$(process)
kill -STOP "$before"
launched "$before"
echo "stuck: $(systemctl is-active taskhost) $(journalctl -q -u taskhost -o cat | grep -c 'Watchdog timeout')"
systemctl stop taskhost
echo "stopped: $(systemctl show -P Result taskhost) $(systemctl show -P ExecMainStatus taskhost)"
systemctl start taskhost@me
export TASKHOST_SOCKET=/run/taskhost@me/control.sock
launched x
taskhost submit me.note --wait >/dev/null 2>&1; echo "user: $? $(cat /home/me/note)"
dpkg --purge taskhost >/dev/null 2>&1
echo "purged: $(systemctl is-active taskhost@me)"
echo "failed: $(systemctl --failed --no-legend --plain | grep -c taskhost)"
"""
USER = """
useradd -m me
cd /home/me && install -d -o me -g me .config .config/taskhost .config/taskhost/plugins .local
printf '[command."me.note"]\\nshell = "echo done > note"\\n' > .config/taskhost/taskhost.toml
"""


def answers(root, commands):
    """What the probe says, by names."""
    root.shell("install -d -o taskhost -g taskhost /srv/check /srv/other" + USER)
    root.shell(machine.KERNEL)
    configuration = root.path / "etc/taskhost/taskhost.toml"
    configuration.write_text(configuration.read_text() + commands)
    drop_ins = root.path / "etc/systemd/system/taskhost.service.d"
    drop_ins.mkdir()
    # Both may be written as far as the unit is concerned: the sandbox decides. The watchdog is as short as the test.
    (drop_ins / "paths.conf").write_text("[Service]\nReadWritePaths=/srv/check /srv/other\nWatchdogSec=10s\n")
    text = machine.answers(root, PROBE, LIMIT)
    found = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    if "failed" not in found:
        raise SystemExit(f"failed: the probe does not say all:\n{text}")
    return found
