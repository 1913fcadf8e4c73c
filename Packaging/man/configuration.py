#!/usr/bin/env python3
"""Writes taskhost.toml(5) from the comments of the configuration as it is installed, Packaging/taskhost.toml.

usage: configuration.py VERSION FOLDER

There, a comment stands before each key and table; a default or an example is commented out without a blank after the "#".
"""
import os
import re
import sys

from roff import Page, bold, breakable

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "taskhost.toml")


def parts(lines):
    """(kind, comment, text) of the file's beginning, of each table and of each key."""
    comment = []
    for line in lines:
        entry = line.removeprefix("#")
        if line.startswith("# ") or line == "#":
            comment.append(line[2:])
        elif not line:
            if comment:
                yield "text", comment, ""
            comment = []
        else:
            yield ("table" if entry.startswith("[") else "key"), comment, entry
            comment = []


def main():
    version, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    page = Page("taskhost.toml", 5, version, "taskhost")
    page.section("NAME")
    page.raw("taskhost.toml \\- the configuration of a host of background tasks")
    page.section("SYNOPSIS")
    page.raw(bold("/etc/taskhost/taskhost.toml"))
    page.section("DESCRIPTION")
    page.paragraph(
        "What an operator decides about a host, in TOML. Every key has a default, unless it is said to be required. An unknown key is an error,"
        " with its line and the nearest known name; all problems of a file are reported together. The host reads the file when it launches.")
    page.paragraph(
        'Paths are relative to the file. A duration is a string such as "90s", "15m" or "1d12h", a size one such as "512MiB", a rate one such as'
        ' "100/1m". The values below are defaults or, where the text says that there is none, and in tables with names, examples.')
    page.section("KEYS OF THE FILE")
    with open(SOURCE, encoding="utf-8") as file:
        for kind, comment, entry in parts(file.read().splitlines()):
            text = " ".join(comment)
            if kind == "table":
                page.section(entry)
                page.paragraph(text)
            elif kind == "key":
                key, value = re.split(r" = ", entry, maxsplit=1)
                page.item(f"{bold(key)} = {breakable(value)}", text)
    page.section("FILES")
    page.paragraph("/etc/taskhost/taskhost.toml, as it is installed, has all of these keys.")
    page.section("SEE ALSO")
    page.references(["taskhost(1)", "taskhost-run(1)"])
    page.save(folder)


main()
