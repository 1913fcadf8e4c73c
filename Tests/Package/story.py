"""The days of an operator on a Debian 12 that systemd runs: from the installation of the package with one command to its purge.

All of it is shown as a terminal would show it, and each command must end as it says here.
"""
import pathlib
import shutil
import subprocess

import machine

SOURCES = pathlib.Path(__file__).resolve().parents[2]

# Seconds until the machine must have switched itself off.
LIMIT = 1800
PREPARATION = """
apt-get -q install -y --no-install-recommends cron
apt-get -q install -y --download-only /work/taskhost.deb
"""
SCRIPT = r"""
cd /root
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive TERM=dumb SYSTEMD_PAGER=
# The command line $2, what it prints, and whether it exits with $1.
show() {
  printf '\n$ %s\n' "$2"
  bash -c "$2" </dev/null; code=$?
  [ "$code" = 0 ] || echo "[exits with $code]"
  [ "$code" = "$1" ] || echo "UNEXPECTED: not with $1"
}
title() { printf '\n==== %s\n' "$1"; }
# Waits until a host answers.
launched() { for attempt in {1..300}; do taskhost status >/dev/null 2>&1; case $? in 0 | 1) return;; esac; sleep 0.2; done; echo "UNEXPECTED: no host answers"; }

title 'One command installs the package'
show 0 'apt-get -q install -y /work/taskhost.deb'
launched
show 0 'taskhost --version'
show 0 'systemctl is-enabled taskhost; systemctl is-active taskhost; systemctl show -P StatusText taskhost'
show 0 'taskhost status'
show 0 'taskhost doctor'

# Cron knows the user taskhost now.
install -m 0644 /work/crontab /etc/cron.d/site

title 'What the service may do'
show 0 'systemd-analyze security taskhost'

title 'A plugin is dropped in, and the host reloads'
show 0 'install -m 0644 /work/hello.so /etc/taskhost/plugins/'
show 0 'systemctl reload taskhost'
show 0 'journalctl -q -u taskhost -o cat --no-pager | tail -4'
show 0 'taskhost plugins list'
show 0 'taskhost submit org.taskhost.samples.hello-c --wait'

title 'A job fails'
printf '#!/bin/sh\ndf -h / > /srv/reports/today\n' > /usr/local/bin/report
chmod 755 /usr/local/bin/report
install -d -o taskhost -g taskhost /srv/reports
printf '[command."com.example.report"]\nrun = ["/usr/local/bin/report"]\nschedule = "cron 0 6 * * *"\n' > /root/report.toml
show 0 'cat /root/report.toml | tee -a /etc/taskhost/taskhost.toml'
show 0 'taskhost config check'
show 0 'taskhost reload'
show 1 'taskhost submit com.example.report --wait'
show 1 'taskhost status'
request=$(taskhost tasks list identifier:com.example.report state:failed --json | grep -o '"id":"[^"]*"' | head -1 | cut -d'"' -f4)
show 0 'taskhost tasks list'
show 0 "taskhost tasks why $request"
show 0 'journalctl -q -o cat --no-pager TASKHOST_IDENTIFIER=com.example.report'

title 'It is mended: the service may write there'
install -d /etc/systemd/system/taskhost.service.d
show 0 "printf '[Service]\nReadWritePaths=/srv/reports\n' | tee /etc/systemd/system/taskhost.service.d/reports.conf"
show 0 'systemctl daemon-reload && systemctl restart taskhost'
launched
show 0 "taskhost tasks retry $request"
for attempt in {1..100}; do [ -s /srv/reports/today ] && taskhost status >/dev/null && break; sleep 0.2; done
show 0 'cat /srv/reports/today'
show 0 'taskhost status'
show 0 'taskhost runs list'

title 'The crontabs of the machine are taken over'
for attempt in {1..300}; do [ "$(journalctl -q -o cat -t CRON | grep -c 'CMD (date')" -ge 2 ] && break; sleep 0.2; done
show 1 'taskhost takeover cron --config /etc/taskhost/taskhost.toml'
# Cron has the line later than its log begins.
show 1 'taskhost takeover cron --observe --hours 1 --config /etc/taskhost/taskhost.toml'
cp -a /etc/cron.d/site /root/site.before
show 1 'taskhost takeover cron --apply --into /etc/taskhost --config /etc/taskhost/taskhost.toml'
show 0 'cat /etc/taskhost/takeover-cron.toml'
show 0 'cat /etc/cron.d/site'
show 0 'cp /etc/taskhost/taskhost.toml taskhost.toml; cat /etc/taskhost/takeover-cron.toml >> /etc/taskhost/taskhost.toml; taskhost reload'
for attempt in {1..120}; do taskhost runs list | grep -q 'cron.site .*succeeded' && break; sleep 0.5; done
show 0 'taskhost runs list | grep "cron.site .*succeeded"'
show 0 'taskhost forecast --hours 24'
show 0 'taskhost takeover cron --undo --into /etc/taskhost'
show 0 'cmp /etc/cron.d/site /root/site.before'
show 0 'cp taskhost.toml /etc/taskhost/taskhost.toml; taskhost reload'

title 'A backup while the host runs, and what it is worth'
show 0 'taskhost store backup /var/backups/taskhost.sqlite'
show 0 'systemctl stop taskhost && rm /var/lib/taskhost/taskhost.sqlite'
show 0 'chown taskhost /var/backups/taskhost.sqlite && runuser -u taskhost -- taskhost store restore /var/backups/taskhost.sqlite'
show 0 'systemctl start taskhost'
launched
show 0 'taskhost store check'
show 0 'taskhost runs list'

title 'A purge'
show 0 'apt-get -q purge -y taskhost'
show 0 'find / -xdev \( -path /work -o -path /root -o -path /var/backups -o -path /var/cache/apt \) -prune -o -name "*taskhost*" -print'
show 0 'systemctl --failed --no-legend'
"""
CRONTAB = """\
MAILTO=ops@example.org
# what the site does
* * * * * taskhost date > /dev/null
30 2 * * * taskhost /usr/local/bin/backup --quick
15 4 * * sun root /usr/sbin/fstrim -a
*/10 * * * * nobody /usr/local/bin/poll > /dev/null 2>&1 &
"""


def check_story(root, file, require):
    root.shell(machine.KERNEL)
    root.shell(PREPARATION)
    (root.path / "work/crontab").write_text(CRONTAB)
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-I", SOURCES / "SDK/CTaskHost/include", "-o", root.path / "work/hello.so",
                    SOURCES / "Plugins/Samples/hello-c/hello.c"], check=True)
    # What the package needs, already downloaded: the machine has no network.
    for package in root.archives.glob("*.deb"):
        shutil.copy(package, root.path / "var/cache/apt/archives")
    text = machine.answers(root, SCRIPT, LIMIT)
    file.write_text(text)
    require("UNEXPECTED" not in text, f"the days of an operator, {text.count(chr(10) + '$ ')} commands, each ends as it should: {file}")
