"""Uses the dashboard as people do, in Debian's Chromium: python3 Tests/Dashboard/check.py BUILD [--shots FOLDER] [--axe FILE]

BUILD has taskhost, taskhost-worker and the plugins. With --shots, every page is kept as a picture in both themes at both widths.
"""

import argparse
import os
import sys
import time

from browser import Browser, WebDriverError
from scene import HOSTILE, Host

WIDTHS = (360, 1440)
# Between them and beyond: nothing may scroll sideways.
OTHER_WIDTHS = (320, 641, 800, 1024, 3840)
TAB, ENTER, SHIFT = "\ue004", "\ue007", "\ue008"

# What axe-core would say, as far as it matters here: names, labels, headings, landmarks, contrast, ids.
RULES = r"""
const flaws = [];
const seen = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
const name = (e) => (e.getAttribute("aria-label") || (e.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean)
  .map((id) => document.getElementById(id)?.textContent ?? "").join(" ") || (e.labels && [...e.labels].map((l) => l.textContent).join(" "))
  || e.querySelector(":scope > title")?.textContent || e.textContent || "").trim();
for (const e of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, progress, svg[role], nav, section, [role=region], article form[aria-label]"))
  if (seen(e) && !name(e)) flaws.push("no name: " + e.outerHTML.slice(0, 120));
const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) flaws.push("id twice: " + id);
for (const e of document.querySelectorAll("[aria-labelledby], [aria-describedby]"))
  for (const id of ((e.getAttribute("aria-labelledby") || "") + " " + (e.getAttribute("aria-describedby") || "")).split(/\s+/).filter(Boolean))
    if (!document.getElementById(id)) flaws.push("names nothing: " + id);
let level = 0;
for (const h of document.querySelectorAll("h1, h2, h3")) {
  const own = Number(h.tagName[1]);
  if (own > level + 1) flaws.push("heading skips a level: " + h.textContent);
  level = own;
}
if (document.querySelectorAll("h1").length !== 1) flaws.push("not one h1");
if (document.querySelectorAll("main").length !== 1 || !document.documentElement.lang || !document.title) flaws.push("no main, language or title");
for (const th of document.querySelectorAll("th")) if (!th.scope) flaws.push("a header cell without scope");
const light = (c) => { const v = c / 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
const parse = (text) => text.match(/[\d.]+/g).map(Number);
const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
const ground = (e) => { for (let p = e; p; p = p.parentElement) { const c = parse(getComputedStyle(p).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const e = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || !seen(e) || e.closest("svg, .unseen, .skip, select, script")) continue;
  const [a, b] = [luminance(parse(getComputedStyle(e).color)), luminance(ground(e))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) flaws.push(`contrast ${ratio.toFixed(2)}: ${e.textContent.trim().slice(0, 40)}`);
}
if (document.documentElement.scrollWidth > document.documentElement.clientWidth) flaws.push("the page scrolls sideways");
for (const e of document.querySelectorAll("button, .button, .top li a, summary"))
  if (seen(e) && innerWidth < 640 && e.getBoundingClientRect().height < 24) flaws.push("too small to touch: " + e.textContent.trim());
return [...new Set(flaws)];
"""


def pages(ids):
    request = "/ui/requests/"
    return {
        "overview": "/", "requests": "/ui/requests", "requests-failed": "/ui/requests?filter=state%3Afailed",
        "requests-flaw": "/ui/requests?filter=state%3Afailed+identfier%3Ax", "request-blocked": request + ids["blocked"],
        "request-dead": request + ids["dead"], "request-hostile": request + ids["hostile"], "request-running": request + ids["running"],
        "request-retried": request + ids["retried"], "request-gone": request + "01976c1e-0000-7000-8000-000000000000",
        "schedules": "/ui/tasks", "schedule": "/ui/tasks/mail.fetch", "schedule-failing": "/ui/tasks/backup.nightly", "runs": "/ui/runs",
        "run": None, "plugins": "/ui/plugins", "conditions": "/ui/conditions", "forecast": "/ui/forecast", "transfers": "/ui/transfers",
        "assertions": "/ui/assertions", "pauses": "/ui/pauses", "audit": "/ui/audit", "audit-flaw": "/ui/audit?since=soon", "submit-typed": "/ui/submit?identifier=test.typed", "submit-json": "/ui/submit?identifier=test.script",
    }


class Check:
    def __init__(self, host, ids, shots, axe):
        self.host, self.ids, self.shots, self.axe = host, ids, shots, axe
        self.failed = []

    def run(self, what, body):
        try:
            body()
            print(f"ok      {what}", flush=True)
        except (AssertionError, WebDriverError, TimeoutError, RuntimeError) as error:
            self.failed.append(what)
            print(f"FAILED  {what}: {error}", flush=True)

    def expect(self, truth, what):
        if not truth:
            raise AssertionError(what)

    # What pages are

    def looks(self, width, dark):
        all_pages = pages(self.ids)
        last = self.host.json("GET", f"/v1/runs?request={self.ids['dead']}")["runs"][0]["id"]
        all_pages["run"] = f"/ui/runs/{last}"
        flaws = []
        with Browser(width, 900, dark) as browser:
            for name, path in all_pages.items():
                browser.open(self.host.url(path))
                found = browser.run(RULES)
                if self.axe:
                    browser.run(self.axe)
                    found += browser.run_async("const done = arguments[0]; axe.run().then((r) => done(r.violations.map((v) => v.id + ': ' + v.nodes[0].html.slice(0, 100))))")
                expects_failure = name in ("requests-flaw", "request-gone", "audit-flaw")
                found += [entry for entry in browser.problems() if not (expects_failure and "Failed to load resource" in entry)]
                self.expect(browser.title != "pwned", f"{name}: a script of a plugin's text ran")
                flaws += [f"{name}: {flaw}" for flaw in found]
                if self.shots:
                    browser.screenshot(os.path.join(self.shots, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
        self.expect(not flaws, "\n        ".join(flaws[:20]))

    def widths(self):
        for width in OTHER_WIDTHS:
            with Browser(width, 900) as browser:
                for name, path in pages(self.ids).items():
                    if path:
                        browser.open(self.host.url(path))
                        found = browser.run(RULES)
                        self.expect(not found, f"{name} at {width} px: {found[:3]}")

    def keyboard(self):
        with Browser() as browser:
            browser.open(self.host.url("/ui/requests/" + self.ids["later"]))
            browser.press(TAB)
            self.expect(browser.run("return document.activeElement.textContent") == "Skip to content", "the first Tab leads to the skip link")
            self.expect(browser.run("return document.activeElement.getBoundingClientRect().top >= 0"), "the skip link is seen when it has the focus")
            browser.press(ENTER)
            self.expect(browser.run("return document.activeElement.id") == "main", "the skip link leads to the content")
            reached = []
            for _ in range(6):
                browser.press(TAB)
                reached.append(browser.run("return document.activeElement.textContent || document.activeElement.name"))
                self.expect(browser.run("return getComputedStyle(document.activeElement).outlineStyle") != "none", f"the focus on {reached[-1]} is seen")
            self.expect(reached[0].startswith("Pause") and any(text.startswith("Snooze") for text in reached), f"the order is that of the page: {reached}")
            browser.run("document.activeElement.blur()")
            browser.run("[...document.querySelectorAll('main button')].find((b) => b.textContent.startsWith('Pause')).focus()")
            browser.press(ENTER)
            browser.wait(lambda: "paused" in browser.text("#head"), "a request paused by the keyboard")
            browser.push("Resume")
            browser.wait(lambda: "pending" in browser.text("#head"), "the request resumed")

    # What people do

    def mend(self):
        """Finds and mends a failing nightly job."""
        with Browser() as browser:
            browser.open(self.host.url())
            self.expect("need" in browser.text("#problems-title"), "the overview begins with problems")
            browser.follow("//section[@id='problems']//a[text()='backup.nightly']")
            self.expect("failing" in browser.text("#head") and "3 failures in a row" in browser.text("#facts"), "the schedule's page says how it fails")
            browser.follow("//section[@id='history']//tbody//a")
            self.expect("no such device" in browser.text("#log"), "the log of the run says why")
            with open(os.path.join(self.host.directory, "allowed"), "w"):
                pass
            browser.follow("//section[@id='facts']//a[text()='backup.nightly']")
            browser.push("Run now")
            browser.wait(lambda: "done=started" in browser.url and "due at once" in browser.text(".notice"), "a message that says what was done")
            browser.wait(lambda: "saved 3 files" in browser.text("main") and "succeeded" in browser.text("#attempts"), "the run's end, without a reload")
            browser.open(self.host.url())
            self.expect("backup.nightly" not in browser.text("#problems"), "the problem is gone from the overview")

    def live(self):
        with Browser() as browser:
            request = self.host.script("sleep 600000", unique_key="watched")
            self.host.wait(lambda: self.host.state(request) == "running")
            browser.open(self.host.url("/ui/requests/" + request))
            browser.wait(lambda: browser.text("#link-state") == "live", "the stream")
            first = browser.run("return document.querySelector('#attempts progress[data-ends]').value")
            browser.run("document.body.dataset.same = 'yes'")
            time.sleep(2.2)
            self.expect(browser.run("return document.querySelector('#attempts progress[data-ends]').value") < first - 1, "the budget runs down")
            self.host.json("DELETE", f"/v1/requests/{request}")
            browser.wait(lambda: "cancelled" in browser.text("#head"), "the new state")
            self.expect(browser.run("return document.body.dataset.same") == "yes", "the page was not loaded again")
            self.expect(browser.run("return document.getElementById('announcer').textContent") == "cancelled", "screen readers are told")
            self.expect(browser.run("return document.querySelectorAll('#actions button').length") == 0, "there is nothing left to do")

    def parts(self):
        """A part of a page goes when there is nothing left for it."""
        with Browser() as browser:
            request = self.host.script("sleep 600000", unique_key="parts")
            self.host.wait(lambda: self.host.state(request) == "running")
            [run] = self.host.json("GET", f"/v1/runs?request={request}")["runs"]
            browser.open(self.host.url(f"/ui/runs/{run['id']}"))
            browser.wait(lambda: browser.text("#link-state") == "live", "the stream")
            self.expect("left of" in browser.text("#live"), "a live run's page shows its budget")
            self.host.json("DELETE", f"/v1/requests/{request}")
            browser.wait(lambda: browser.run("return document.getElementById('live') === null"), "the end of what is live, without a reload")

    def actions(self):
        with Browser() as browser:
            page = "/ui/requests/" + self.ids["dead"]
            browser.open(self.host.url(page))
            browser.push("Retry")
            browser.wait(lambda: "pending again" in browser.text(".notice"), "the message")
            browser.wait(lambda: "failed" in browser.text("#head"), "it fails again")
            browser.push("Discard")
            browser.wait(lambda: "cancelled" in browser.text("#head"), "the dead letter discarded")
            browser.open(self.host.url("/ui/requests/" + self.ids["later"]))
            browser.type("#snooze", "3h")
            browser.push("Snooze")
            browser.wait(lambda: "in 2 h" in browser.text("#facts") or "in 3 h" in browser.text("#facts"), "the request postponed")
            browser.type("#snooze", "later")
            browser.push("Snooze")
            self.expect("is not a duration" in browser.text(), "a wrong duration is refused")
            browser.open(self.host.url("/ui/conditions"))
            browser.push("Clear", "tr[th[text()='power']]")
            browser.wait(lambda: "machine decides" in browser.text(".notice"), "the override cleared")
            self.host.wait(lambda: self.host.state(self.ids["waiting"]) == "succeeded")

    def filters(self):
        with Browser() as browser:
            for _ in range(3):
                self.host.script("sleep 1", delay_ms=3600000, tags=["batch"])
            browser.open(self.host.url("/ui/requests"))
            browser.type("#filter", "tag:batch stat:pending")
            browser.press(ENTER)
            browser.wait(lambda: "at character 11" in browser.text("#flaw"), "where the filter is wrong")
            browser.type("#filter", "tag:batch state:pending")
            browser.push("Show")
            browser.wait(lambda: browser.run("return document.querySelectorAll('#list tbody tr').length") == 3, "three requests")
            browser.click(browser.find("summary"))
            browser.run("document.getElementById('action').value = 'cancel'")
            browser.push("Count first")
            browser.wait(lambda: "Cancel 3 requests?" in browser.text("h1"), "the question")
            browser.push("Cancel 3 requests")
            browser.wait(lambda: "3 requests were changed" in browser.text(".notice"), "what was done")
            browser.wait(lambda: "No request matches" in browser.text("#list"), "none is left")

    def submission(self):
        with Browser() as browser:
            browser.open(self.host.url("/ui/submit"))
            browser.run("document.getElementById('choose').value = 'test.typed'")
            browser.push("Show its form")
            browser.wait(lambda: browser.find("[name='argument.account']"), "the arguments")
            browser.type("[name='argument.account']", "m\u00fcller & s\u00f6hne <x>")
            browser.type("[name='argument.horizon_s']", "soon")
            browser.type("[name='argument.ratio']", "0.5")
            browser.push("Submit")
            browser.wait(lambda: "horizon_s" in browser.text(".error"), "which argument does not fit")
            self.expect(browser.run("return document.querySelector('[name=\"argument.account\"]').value") == "m\u00fcller & s\u00f6hne <x>", "what was typed is kept")
            browser.type("[name='argument.horizon_s']", "9007199254740993")
            browser.type("[name='argument.blob']", "AQI=")
            browser.push("Submit")
            browser.wait(lambda: "succeeded" in browser.text("#head"), "the run of the typed handler")
            self.expect('"horizon_s":9007199254740993' in browser.text("main"), "the number is exact")

    def pausing(self, width, dark):
        """Pauses a filter, then everything, and resumes both, by forms."""
        def look(name):
            found = browser.run(RULES)
            self.expect(not found, f"{name}: {found[:5]}")
            if self.shots:
                browser.screenshot(os.path.join(self.shots, f"{name}-{width}-{'dark' if dark else 'light'}.png"))

        def fill(filter, until, why):
            browser.type("#filter", filter)
            browser.type("#until", until)
            browser.type("#why", why)

        with Browser(width, 900, dark) as browser:
            held = self.host.script("sleep 1", tags=["held"], delay_ms=3600000)
            browser.open(self.host.url("/ui/pauses"))
            fill("tga:held", "2h", "the archive moves")
            browser.push("Pause")
            browser.wait(lambda: "at character 1" in browser.text(".error"), "what is wrong with the filter")
            look("pauses-flaw")
            self.expect(browser.run("return document.getElementById('why').value") == "the archive moves", "what was typed is kept")
            browser.type("#filter", "tag:held")
            browser.push("Pause")
            browser.wait(lambda: "The pause is in force: 1 request waits" in browser.text(".notice"), "what was done")
            mine = "tr[th[contains(., 'tag:held')]]"
            row = browser.run(
                "return [...document.querySelectorAll('#list tr')].find((r) => r.textContent.includes('tag:held')).innerText")
            self.expect("the archive moves" in row and "in the dashboard" in row and "in 2 h" in row.replace("in 1 h", "in 2 h"), f"who, why, until when: {row}")
            look("pauses-in-force")
            self.expect(any("the archive moves" in str(gate) for gate in self.host.json("GET", f"/v1/requests/{held}/why")["gates"]), "it is held")
            browser.push("Resume", mine)
            browser.wait(lambda: "ended" in browser.text(".notice") and "tag:held" not in browser.text("#list"), "the end of the pause")
            browser.follow("//*[@id='everything']")
            browser.push("Pause")
            browser.wait(lambda: "Pause everything?" in browser.text("h1"), "the question")
            look("pause-question")
            self.expect(all(pause["filter"] for pause in self.host.json("GET", "/v1/pauses")["pauses"]), "nothing is paused before the answer")
            browser.push("Pause everything")
            browser.wait(lambda: "everything" in browser.text("#list"), "everything is paused")
            # Whoever else looks at the page sees what a program does.
            [everything] = [pause["id"] for pause in self.host.json("GET", "/v1/pauses")["pauses"] if not pause["filter"]]
            browser.wait(lambda: browser.text("#link-state") == "live", "the stream")
            self.host.json("DELETE", f"/v1/pauses/{everything}")
            browser.wait(lambda: "everything" not in browser.text("#list"), "the page follows")
            browser.open(self.host.url("/ui/audit"))
            self.expect("endPause" in browser.text("#list") and "/ui/pauses" in browser.text("#list"), "the audit has it all")
            look("audit-pauses")
            self.host.json("DELETE", f"/v1/requests/{held}")

    def without_scripts(self):
        with Browser(scripts=False) as browser:
            browser.open(self.host.url("/ui/pauses"))
            browser.type("#filter", "tag:none")
            browser.push("Pause")
            browser.wait(lambda: "The pause is in force: 0 requests wait" in browser.text(".notice"), "the pause")
            browser.push("Resume", "tr[th[contains(., 'tag:none')]]")
            browser.wait(lambda: "The pause has ended" in browser.text(".notice"), "its end")
            request = self.host.script("sleep 1", delay_ms=3600000)
            browser.open(self.host.url("/ui/requests/" + request))
            self.expect(browser.text("#link-state") == "", "no script ran")
            browser.push("Cancel")
            browser.wait(lambda: "was cancelled" in browser.text(".notice"), "the message")
            self.expect(self.host.state(request) == "cancelled", "the request is cancelled")

    def flood(self):
        with Browser() as browser:
            browser.open(self.host.url())
            browser.wait(lambda: browser.text("#link-state") == "live", "the stream")
            browser.run("""
                window.worst = 0; let last = performance.now();
                window.probe = setInterval(() => { const now = performance.now(); worst = Math.max(worst, now - last - 20); last = now; }, 20);
                performance.clearResourceTimings(); performance.setResourceTimingBufferSize(5000);""")
            body = [{"identifier": "test.script", "payload": "", "delay_ms": 86400000, "tags": ["flood"]}] * 10000
            began = time.monotonic()
            for _ in range(4):
                self.host.json("POST", "/v1/requests", body)
            self.host.json("POST", "/v1/requests/bulk", {"filter": "tag:flood", "action": "cancel", "limit": 10000})
            took = time.monotonic() - began
            worst = browser.run("clearInterval(probe); return worst")
            fetched = browser.run("return performance.getEntriesByType('resource').filter((e) => e.name.includes('part=live')).length")
            browser.wait(lambda: "40030" not in browser.text("#figures") and "3000" in browser.text("#figures"), "the new number", 30)
            print(f"        50,000 events in {took:.1f} s: {fetched} refreshes, the page was never busy for more than {worst:.0f} ms")
            self.expect(fetched <= 4 * took + 4, f"{fetched} refreshes in {took:.1f} s")
            self.expect(worst < 500, f"the page froze for {worst:.0f} ms")


def idle(build):
    """A host with an open page and nothing to do uses no processor time."""
    host = Host(build)
    host.start()
    try:
        with Browser() as browser:
            browser.open(host.url())
            browser.wait(lambda: browser.text("#link-state") == "live", "the stream")
            time.sleep(3)

            def ticks():
                with open(f"/proc/{host.process.pid}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                return int(fields[11]) + int(fields[12])
            before = ticks()
            browser.run("performance.clearResourceTimings()")
            time.sleep(10)
            used = ticks() - before
            fetched = browser.run("return performance.getEntriesByType('resource').length")
            print(f"        {used} ticks of 10 ms in 10 s, {fetched} requests")
            if used > 1 or fetched:
                raise AssertionError(f"{used} ticks, {fetched} requests")
    finally:
        host.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--shots")
    parser.add_argument("--axe")
    parser.add_argument("--only", help="part of the name of the checks to run")
    options = parser.parse_args()
    if options.shots:
        os.makedirs(options.shots, exist_ok=True)
    axe = None
    if options.axe:
        with open(options.axe) as file:
            axe = file.read()
    host = Host(options.build)
    host.start()
    try:
        check = Check(host, host.populate(), options.shots, axe)
        checks = [(f"every page at {width} px, {'dark' if dark else 'light'}", lambda width=width, dark=dark: check.looks(width, dark))
                  for width in WIDTHS for dark in (False, True)]
        checks += [
            ("every page from 320 to 3840 px", check.widths), ("keyboard alone", check.keyboard), ("a failing nightly job is found and mended", check.mend), ("pages follow the host", check.live), ("parts of pages go", check.parts),
            ("actions on requests and conditions", check.actions), ("filters and bulk actions", check.filters),
            ("a typed handler's form", check.submission),
        ]
        checks += [(f"pauses by form at {width} px, {'dark' if dark else 'light'}", lambda width=width, dark=dark: check.pausing(width, dark))
                   for width in WIDTHS for dark in (False, True)]
        checks += [
            ("without JavaScript", check.without_scripts), ("a flood of events", check.flood),
            ("an open page costs nothing", lambda: idle(options.build)),
        ]
        for name, body in checks:
            if not options.only or options.only in name:
                check.run(name, body)
    finally:
        host.process.kill()
        host.process.wait()
    print(f"{len(check.failed)} failed" if check.failed else "all passed")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
