// Keeps a page up to date. The host says that something has changed, at most every 250 ms; this fetches the page's live parts, which the
// host renders, and replaces those that differ. Without it, all of the dashboard works; it is as old as its last load.
const state = document.getElementById("link-state");
const announcer = document.getElementById("announcer");
const address = document.body.dataset.changes;
const least = 250;
let source = null;
let isFetching = false;
let isStale = false;
let nextAt = 0;
let timer = 0;

function tell(text, isLost) {
  if (state.textContent !== text) state.textContent = text;
  state.classList.toggle("lost", isLost);
}

// A part in which somebody types, chooses or has opened something stays as it is.
function isInUse(part) {
  const active = document.activeElement;
  if (active && part.contains(active) && active.matches("input, select, textarea")) return true;
  return part.querySelector("details[open]") !== null;
}

function replace(part, fresh) {
  if (part.outerHTML === fresh.outerHTML || isInUse(part)) return;
  // The control that has the focus keeps it, by its place among those of its part.
  const controls = "a, button, [tabindex]";
  const place = [...part.querySelectorAll(controls)].indexOf(document.activeElement);
  const logs = [...part.querySelectorAll(".log")].map((log) => log.scrollHeight - log.scrollTop - log.clientHeight < 8 ? null : log.scrollTop);
  const said = part.querySelector("[data-announce]")?.textContent;
  part.replaceWith(fresh);
  if (place >= 0) fresh.querySelectorAll(controls)[place]?.focus({ preventScroll: true });
  fresh.querySelectorAll(".log").forEach((log, index) => { log.scrollTop = logs[index] ?? log.scrollHeight; });
  const says = fresh.querySelector("[data-announce]")?.textContent;
  if (says && says !== said) announcer.textContent = says;
}

// Parts come and go: a run's log with its first line, its progress bar until its end.
function settle(fresh) {
  for (const part of document.querySelectorAll("[data-live]")) {
    const other = fresh.getElementById(part.id);
    if (other) replace(part, document.importNode(other, true));
    else if (!isInUse(part)) part.remove();
  }
  for (const part of fresh.querySelectorAll("[data-live]")) {
    if (document.getElementById(part.id)) continue;
    let next = part.nextElementSibling;
    while (next && !(next.id && document.getElementById(next.id))) next = next.nextElementSibling;
    const added = document.importNode(part, true);
    if (next) document.getElementById(next.id).before(added);
    else document.getElementById("main").append(added);
  }
}

async function refresh() {
  timer = 0;
  isFetching = true;
  isStale = false;
  const began = performance.now();
  try {
    const page = new URL(location.href);
    page.searchParams.delete("done");
    page.searchParams.delete("count");
    page.searchParams.set("part", "live");
    page.hash = "";
    const answer = await fetch(page, { headers: { accept: "text/html" }, cache: "no-store" });
    if (answer.ok) {
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      settle(fresh);
      count();
    }
  } catch {
    // The stream tells of a host that is gone, and comes back with it.
  }
  isFetching = false;
  // A host that needs long to answer is asked less often.
  nextAt = performance.now() + Math.max(least, 4 * (performance.now() - began));
  if (isStale) changed();
}

function changed() {
  isStale = true;
  if (isFetching || timer) return;
  timer = setTimeout(refresh, Math.max(0, nextAt - performance.now()));
}

function listen() {
  if (source || !address || document.hidden) return;
  source = new EventSource(address);
  source.addEventListener("open", () => {
    tell("live", false);
    // What happened between the page and its stream.
    changed();
  });
  source.addEventListener("change", changed);
  source.addEventListener("error", () => {
    tell("the host does not answer; trying again", true);
    if (source.readyState === EventSource.CLOSED) {
      source = null;
      setTimeout(listen, 5000);
    }
  });
}

// Budgets run down without any news. There is a timer only while the page shows one.
let ticking = 0;
function count() {
  const budgets = document.querySelectorAll("progress[data-ends]");
  for (const bar of budgets) {
    const left = Math.max(0, (Number(bar.dataset.ends) - Date.now()) / 1000);
    bar.value = Math.min(bar.max, left);
    const text = bar.nextElementSibling;
    if (text) text.textContent = left > 0 ? `${words(left)} left of ${bar.dataset.of}` : "budget used up";
  }
  clearTimeout(ticking);
  ticking = budgets.length > 0 && !document.hidden ? setTimeout(count, 1000) : 0;
}

function words(seconds) {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  return `${Math.floor(whole / 3600)}h ${Math.floor(whole / 60) % 60}m`;
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    source?.close();
    source = null;
  } else {
    listen();
  }
  count();
});

// A page that the browser brings back from its memory is old.
addEventListener("pageshow", (event) => { if (event.persisted && address) changed(); });
addEventListener("pagehide", () => { source?.close(); source = null; });

for (const log of document.querySelectorAll(".log")) log.scrollTop = log.scrollHeight;
listen();
count();
