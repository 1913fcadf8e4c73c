"""Manual pages in the macros of man(7)."""
import os
import re
import textwrap
import time


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    text = text.replace("…", "...").replace("–", "\\(en").replace("−", "\\-").replace("•", "\\(bu")
    return text


def breakable(text):
    """The text in roff, in which a word that may be longer than a line, such as an address, can be broken after some of its signs."""
    words = escape(text).split(" ")
    return " ".join(re.sub(r"([/?&,]+)(?=\w)", r"\1\\:", word) if len(word) > 50 else word for word in words)


def quoted(text):
    return escape(text).replace('"', "\\(dq")


def bold(text):
    return f"\\fB{escape(text)}\\fR"


def italic(text):
    return f"\\fI{escape(text)}\\fR"


class Page:
    def __init__(self, name, section, version, manual):
        date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
        self.name, self.number = name, section
        self.lines = [f'.TH "{escape(name.upper())}" {section} {date} "taskhost {version}" "{manual}"', ".nh", ".ad l"]

    def raw(self, line):
        self.lines.append(line)

    def section(self, title):
        self.lines.append(f'.SH "{quoted(title)}"')

    def subsection(self, title):
        self.lines.append(f'.SS "{quoted(title[:1] + title[1:].lower())}"')

    def paragraph(self, text):
        if not text:
            return
        if not self.lines[-1].startswith((".SH", ".SS")):
            self.lines.append(".PP")
        self.sentences(text)

    def sentences(self, text):
        """A sentence begins a line, as roff wants it."""
        for sentence in text.replace(". ", ".\n").split("\n"):
            for line in textwrap.wrap(breakable(sentence), 78, break_long_words=False, break_on_hyphens=False):
                self.lines.append("\\&" + line if line.startswith((".", "'")) else line)

    def item(self, title, text):
        self.lines += [".TP", title]
        self.sentences(text or "\\&")

    def literal(self, lines):
        if not self.lines[-1].startswith((".SH", ".SS")):
            self.lines.append(".PP")
        self.lines += [".nf", ".RS 4"] + [("\\&" if line.startswith(".") else "") + escape(line) for line in lines] + [".RE", ".fi"]

    def line_break(self):
        self.lines.append(".br")

    def references(self, pages):
        parts = [page.rstrip(")").split("(") for page in pages]
        for position, (name, number) in enumerate(parts):
            comma = " ," if position < len(parts) - 1 else ""
            self.lines.append(f".BR {escape(name)} ({number}){comma.strip()}")

    def save(self, folder):
        with open(os.path.join(folder, f"{self.name}.{self.number}"), "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")
