#!/usr/bin/env python3
"""Compares the keys of the installed configuration with those that the host reads, from its sources. Prints what only one of them has."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The tables that a structure's keys are in.
TABLES = {
    "HostConfiguration": [""], "HostConfiguration.Control": ["control"], "HostConfiguration.Log": ["log"], "HostConfiguration.History": ["history"],
    "HostConfiguration.TrustedKey": ["trusted_keys"], "RetryPolicy": ["retry", "notify.retry"], "NotifyRule": ["notify"],
    "PluginConfiguration": ["plugin"], "PluginConfiguration.Limits": ["plugin.limits"], "ProcessorLimit": ["plugin.limits.cpu"],
    "PluginConfiguration.Entitlements": ["plugin.entitlements"], "PluginConfiguration.Retry": ["plugin.retry", "schedule.retry"],
    "CommandConfiguration": ["command"], "ScheduleConfiguration": ["schedule"], "Window": ["windows"], "EventSocketTable": ["events"], "Idle": ["idle"],
    "ConditionSettings": ["conditions"], "Traces": ["traces"], "Encryption": ["encryption"], "Fleet": ["fleet"], "AdoptionManifest": [],
}
# What the configuration shows as a table with keys of the operator's choice.
FREE = {"resources.*", "plugin.settings.*"}


def read_keys():
    keys, listings = set(), 0
    for path in sorted((ROOT / "Sources/TaskHost").rglob("*.swift")):
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"static var \w*[fF]ields: \[TOMLField<(\w+)>\] {", text):
            owner = match.group(1)
            if owner == "Self":
                owner = re.findall(r"(?:extension|struct) ([\w.]+)", text[:match.start()])[-1]
            start, depth = match.end() - 1, 0
            for end in range(start, len(text)):
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                if not depth:
                    break
            names = re.findall(r'TOMLField\(\s*"(\w+)"', text[start:end])
            for words in re.findall(r'\[((?:"\w+", )+"\w+")\]\.map\(when\)', text[start:end]):
                names += re.findall(r"\w+", words)
            if owner not in TABLES:
                raise SystemExit(f"keys.py: {path.name}: {owner} has keys, and TABLES does not say of which table")
            listings += 1
            keys |= {f"{table}.{name}".strip(".") for table in TABLES[owner] for name in names}
    if listings < len(TABLES):
        raise SystemExit(f"keys.py: found {listings} lists of keys, expected {len(TABLES)} at least: adapt the pattern")
    tables = {table for each in TABLES.values() for table in each if table}
    return keys - tables


def shown_keys():
    keys, table = set(), ""
    for line in (ROOT / "Packaging/taskhost.toml").read_text(encoding="utf-8").splitlines():
        line = re.sub(r"^#(?=[a-z\[])", "", line)
        header = re.match(r"\[+([^\]]+)\]", line)
        if header:
            parts = re.sub(r'"[^"]*"', "*", header.group(1)).split(".")
            table = ".".join([parts[0]] + [part for part in parts[1:] if part != "*" and not (parts[0] in ("windows", "events"))])
        elif re.match(r"\w+ = ", line):
            keys.add(f"{table}.{line.split()[0]}".strip("."))
    return {key for key in keys if key.rsplit(".", 1)[0] + ".*" not in FREE} | {"resources", "plugin.settings"}


read, shown = read_keys(), shown_keys()
missing, unknown = sorted(read - shown), sorted(shown - read)
for key in missing:
    print(f"Packaging/taskhost.toml does not show {key}")
for key in unknown:
    print(f"Packaging/taskhost.toml shows {key}, which the host does not read")
print(f"{len(read)} keys, {len(missing)} missing, {len(unknown)} unknown")
sys.exit(1 if missing or unknown else 0)
