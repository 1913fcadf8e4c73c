#!/usr/bin/env python3
"""Writes the manual pages of section 1 from the declarations of the command line.

usage: taskhost --experimental-dump-help | commands.py VERSION FOLDER

Each command of `taskhost` has a page; a group has one with all its commands.
"""
import itertools
import json
import os
import sys

from roff import Page, bold, escape, italic

ENVIRONMENT = [
    ("TASKHOST_SOCKET", "The control socket of the host that a command asks, unless --socket names one."),
    ("TASKHOST_WORKER", "The path of taskhost-worker, for a host that is not installed."),
    ("NO_COLOR", "If it is set, nothing is coloured."),
]
FILES = [
    ("/etc/taskhost/taskhost.toml", "The configuration of the system's host."),
    ("/etc/taskhost/plugins", "The administrator's plugins."),
    ("/usr/lib/taskhost/plugins", "The plugins that come with taskhost."),
    ("/var/lib/taskhost", "The state of the system's host: its store, its plugins' data."),
    ("/run/taskhost/control.sock", "Its control socket."),
]
EXIT_CODES = [
    ("0", "Done. For status: nothing needs a person."),
    ("1", "The task or the check failed. For status: something needs a person."),
    ("2", "The arguments are wrong."),
    ("4", "The request was cancelled."),
    ("5", "No host is running there."),
    ("6", "The host refused; the message says why."),
    ("75", "run: a permitted plugin crashed at launch, or the system gives too few descriptors or threads."),
    ("78", "run: the configuration, the state directory or the plugins make the launch impossible."),
]


def spelled(argument):
    """The names of an option as people write them, the short one first."""
    names = sorted(argument.get("names", []), key=lambda name: name["kind"] != "short")
    return [("-" if name["kind"] == "short" else "--") + name["name"] for name in names]


def synopsis(path, command):
    words = [bold(" ".join(path))]
    for argument in shown(command):
        value = italic(argument["valueName"])
        if argument["kind"] == "positional":
            word = value + ("..." if argument["isRepeating"] else "")
        else:
            name = bold(spelled(argument)[-1])
            word = name if argument["kind"] == "flag" else f"{name} {value}"
            word += "..." if argument["isRepeating"] else ""
        words.append(f"[{word}]" if argument["isOptional"] else word)
    if command.get("subcommands"):
        words.append(italic("command"))
    return " ".join(words)


def shown(command):
    hidden = {"help", "version"}
    return [
        argument for argument in command.get("arguments", [])
        if argument["shouldDisplay"] and not hidden & {name["name"] for name in argument.get("names", [])}
    ]


def write_arguments(page, command):
    for argument in shown(command):
        value = italic(argument["valueName"])
        if argument["kind"] == "positional":
            title = value
        else:
            names = ", ".join(bold(name) for name in spelled(argument))
            title = names if argument["kind"] == "flag" else f"{names} {value}"
        text = argument.get("abstract", "")
        default = argument.get("defaultValue")
        if default and "default" not in text:
            text += f" (default: {default})"
        values = argument.get("allValueStrings") or argument.get("allValues")
        if values and not all(value in text for value in values):
            text += f" One of: {', '.join(values)}."
        page.item(title, text)


def write_discussion(page, command, heading):
    """Paragraphs, and parts under a heading in capitals. What is indented stays as it is."""
    text = command.get("discussion", "")
    for block in text.split("\n\n"):
        lines = block.split("\n")
        if lines[0].isupper() and not lines[0].startswith(" "):
            if lines[0] == "EXIT CODES":
                continue
            heading(lines[0])
            lines = lines[1:]
        for is_literal, part in itertools.groupby(lines, lambda line: line.startswith("  ")):
            if is_literal:
                page.literal([line[2:] for line in part])
            else:
                page.paragraph(" ".join(line.strip() for line in part))


def write(version, folder, command, root):
    is_root = command is root
    name = "taskhost" if is_root else f"taskhost-{command['commandName']}"
    path = ["taskhost"] if is_root else ["taskhost", command["commandName"]]
    page = Page(name, 1, version, "taskhost")
    page.section("NAME")
    page.raw(f"{escape(name)} \\-")
    page.sentences(summary(command))
    commands = [each for each in command.get("subcommands", []) if each["shouldDisplay"] and each["commandName"] != "help"]
    page.section("SYNOPSIS")
    if commands and not is_root:
        for position, each in enumerate(commands):
            if position:
                page.line_break()
            page.raw(synopsis(path + [each["commandName"]], each))
    else:
        page.raw(synopsis(path, command))
    page.section("DESCRIPTION")
    page.paragraph(command.get("abstract", ""))
    if command.get("defaultSubcommand") and commands:
        page.paragraph(f"Without a command: {command['defaultSubcommand']}.")
    if not is_root:
        write_discussion(page, command, page.section)
    if commands and is_root:
        page.section("COMMANDS")
        for each in commands:
            page.item(bold(f"taskhost {each['commandName']}"), f"{each.get('abstract', '')} See taskhost-{each['commandName']}(1).")
    for each in [] if is_root else commands:
        page.section(f"{' '.join(path)} {each['commandName']}")
        page.paragraph(each.get("abstract", ""))
        write_discussion(page, each, page.subsection)
        if shown(each):
            page.subsection("Options")
            write_arguments(page, each)
    if shown(command):
        page.section("OPTIONS")
        write_arguments(page, command)
    if is_root:
        write_discussion(page, command, page.section)
        for title, entries in [("EXIT STATUS", EXIT_CODES), ("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)]:
            page.section(title)
            for term, text in entries:
                page.item(bold(term), text)
    page.section("SEE ALSO")
    others = [f"taskhost-{each['commandName']}" for each in root["subcommands"] if each["shouldDisplay"] and each["commandName"] != "help"]
    page.references(([] if is_root else ["taskhost(1)"]) + ([f"{each}(1)" for each in others] if is_root else []) + ["taskhost.toml(5)"])
    page.save(folder)


def summary(command):
    text = command.get("abstract", "").rstrip(".")
    return text[:1].lower() + text[1:]


def main():
    version, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    root = json.load(sys.stdin)["command"]
    write(version, folder, root, root)
    for command in root["subcommands"]:
        if command["shouldDisplay"] and command["commandName"] != "help":
            write(version, folder, command, root)


main()
