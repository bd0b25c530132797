"use strict";

const byId = (id) => document.getElementById(id);

// Three significant digits with the unit that suits them; the same as in the terminal.
function scaled(v, units) {
  for (const [from, suffix] of units) {
    if (Math.abs(v) >= from * 0.9995) return significant(v / from) + suffix;
  }
  return significant(v / units[units.length - 1][0]) + units[units.length - 1][1];
}
function significant(v) {
  if (v === 0) return "0";
  if (Number.isInteger(v) && Math.abs(v) < 1000) return String(v);
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(v))));
  return v.toFixed(Math.min(digits, 3));
}
const rate = (v) => scaled(v, [[1e9, "G/s"], [1e6, "M/s"], [1e3, "k/s"], [1, "/s"]]);
const count = (v) => scaled(v, [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]]);
const time = (v) => scaled(v, [[1e9, " s"], [1e6, " ms"], [1e3, " µs"], [1, " ns"]]);
const cores = (v) => v.toFixed(2);
function span(ns) {
  const s = Math.round(ns / 1e9);
  if (s < 60) return s + " s";
  if (s < 3600) return Math.floor(s / 60) + " min " + (s % 60) + " s";
  return Math.floor(s / 3600) + " h " + Math.floor((s % 3600) / 60) + " min";
}

const shown = 240; // ticks: two minutes
let ticks = [];
let stage = "";
let last = null; // the latest tick of the run

// draw puts lines into a figure, over the ticks shown; from zero to the largest value, which it names.
function draw(id, unit, lines) {
  const svg = byId(id).querySelector("svg");
  const view = ticks.slice(-shown);
  let top = 0;
  for (const [, of] of lines) for (const t of view) top = Math.max(top, of(t) || 0);
  svg.setAttribute("viewBox", "0 0 100 40");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.replaceChildren();
  const label = byId(id).querySelector(".top");
  label.textContent = "";
  if (view.length < 2 || top === 0) return;
  label.textContent = "up to " + unit(top);
  const from = view[0].at_ns, over = Math.max(1, view[view.length - 1].at_ns - from);
  for (const [name, of] of lines) {
    let d = "", pen = "M";
    for (const t of view) {
      const v = of(t);
      if (v === null) { pen = "M"; continue; } // a gap, not a zero
      d += pen + ((t.at_ns - from) / over * 100).toFixed(2) + " " + (39 - v / top * 37).toFixed(2);
      pen = "L";
    }
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", d || "M0 0");
    path.setAttribute("class", name);
    svg.append(path);
  }
}

function say(id, value, beside) {
  byId(id).querySelector(".value").textContent = value;
  byId(id).querySelector(".beside").textContent = beside;
}

function showNow(t) {
  if (!t) {
    for (const id of ["rate", "backlog", "latency", "cpu"]) say(id, "–", "");
    return;
  }
  say("rate", rate(t.sent), (t.target > 0 ? "of " + rate(t.target) + " · " : "as fast as possible · ") + "received " + rate(t.received));
  say("backlog", count(t.backlog), t.received > 0 && t.backlog > 0 ? "about " + time(t.backlog / t.received * 1e9) + " of deliveries" : "");
  const none = t.closed_loop ? "closed loop: it would say how full the window is" : "nothing arrived yet";
  say("latency", t.p99_ns > 0 ? time(t.p99_ns) : "–", t.p50_ns > 0 ? "p50 " + time(t.p50_ns) : none);
  const broker = t.broker_cpu > 0 ? cores(t.broker_cpu) : "–";
  const agents = (t.agents || []).length;
  say("cpu", broker + " + " + cores(t.generator_cpu), "cores: broker + " + (agents ? (agents === 1 ? "agent" : agents + " agents") : "generator"));
  draw("rate", rate, [["t", (x) => x.target > 0 ? x.target : null], ["b", (x) => x.received], ["a", (x) => x.sent]]);
  draw("backlog", count, [["a", (x) => x.backlog]]);
  draw("latency", time, [["b", (x) => x.p50_ns > 0 ? x.p50_ns : null], ["a", (x) => x.p99_ns > 0 ? x.p99_ns : null]]);
  draw("cpu", cores, [["b", (x) => x.generator_cpu], ["a", (x) => x.broker_cpu > 0 ? x.broker_cpu : null]]);
}

// showAgents lists the agents that the load runs on, with the cores that each of them uses.
function showAgents(agents) {
  byId("agents").hidden = agents.length === 0;
  byId("agents").querySelector("ul").replaceChildren(...agents.map((a) => {
    const item = document.createElement("li"), name = document.createElement("span"), used = document.createElement("span");
    name.textContent = a.name;
    used.textContent = cores(a.cores);
    item.append(name, used);
    return item;
  }));
}

const quietAfter = 1.5e9; // ns; samples come ten times a second, those of agents twice

// showQuiet says that a load runs and no sample of it has come for a while.
function showQuiet(ns, agents) {
  const quiet = ns > quietAfter, line = byId("quiet");
  line.hidden = !quiet;
  const text = agents.length ? "At least one agent is silent. An agent that is silent for 4 s is lost." : "The generator is silent.";
  if (quiet && line.textContent !== text) line.textContent = text;
}

let strips = new Map(); // of each point the latencies of its repetitions
let tally = new Map(); // how many ended how

function addEnding(e) {
  tally.set(e.status, (tally.get(e.status) || 0) + 1);
  if (e.p99_ns > 0) strips.set(e.point, [...(strips.get(e.point) || []), e.p99_ns]);
  const row = document.createElement("tr");
  for (const [text, name] of [
    [e.number, "number"], [e.title, ""], [e.status, e.status], [e.text + (e.stored ? " (stored before)" : ""), "outcome"],
    [e.p99_ns > 0 ? (e.p99_at_least ? "≥ " : "") + time(e.p99_ns) : "", "figure-column p99"], [(e.doubts || []).join(", "), "figure-column doubts"], [e.took_ns > 0 ? span(e.took_ns) : "", "figure-column took"],
  ]) {
    const cell = document.createElement("td");
    cell.textContent = text;
    if (name) cell.className = name;
    row.append(cell);
  }
  const body = byId("endings").tBodies[0];
  body.prepend(row); // the latest first
  byId("endings").hidden = false;
  byId("none").hidden = true;
  while (body.rows.length > 1000) body.lastChild.remove();
}

const mostStrips = 24;

// drawStrips puts a row of marks for each point on one scale, from the least to the most of all, by their logarithms.
function drawStrips() {
  const all = [...strips.values()].flat();
  byId("strips").hidden = all.length === 0;
  if (!all.length) return;
  const low = Math.min(...all) / 1.1, high = Math.max(...all) * 1.1;
  const rows = [];
  for (const [point, values] of [...strips].slice(-mostStrips)) {
    const row = document.createElement("div"), name = document.createElement("span"), middle = document.createElement("span");
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 100 10");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    for (const v of values) {
      const x = (Math.log(v / low) / Math.log(high / low) * 100).toFixed(2);
      const mark = document.createElementNS("http://www.w3.org/2000/svg", "path");
      mark.setAttribute("d", "M" + x + " 1V9");
      mark.setAttribute("class", "a");
      svg.append(mark);
    }
    const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
    name.textContent = point;
    middle.textContent = time(sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2) + (values.length > 1 ? " (median of " + values.length + ")" : "");
    row.append(name, svg, middle);
    rows.push(row);
  }
  byId("strips").querySelector(".rows").replaceChildren(...rows);
  const [least, most] = byId("strips").querySelectorAll(".axis span");
  least.textContent = time(low);
  most.textContent = time(high) + " (logarithmic)";
}

function show(message) {
  const v = message.view, finished = message.finished;
  if (message.ticks) {
    ticks = message.ticks;
    byId("endings").tBodies[0].replaceChildren(); // also after a reconnection: everything comes again
    strips = new Map();
    tally = new Map();
  } else if (v.now && (v.stage !== stage || ticks.length && v.now.at_ns < ticks[ticks.length - 1].at_ns)) {
    ticks = [];
  }
  stage = v.stage;
  if (v.now && (!ticks.length || v.now.at_ns > ticks[ticks.length - 1].at_ns)) ticks.push(v.now);
  if (ticks.length > 4 * shown) ticks = ticks.slice(-shown);
  (message.endings || []).forEach(addEnding);
  if (message.endings) drawStrips();

  byId("done").textContent = v.total ? v.done + " of " + v.total + " repetitions" : "";
  byId("left").textContent = finished ? "finished" : v.left_ns > 0 ? "about " + span(v.left_ns) + " left" : "";
  byId("bar").max = v.total || 1;
  byId("bar").value = v.done;
  byId("title").textContent = finished ? "The run is over." : v.title || "Between two repetitions";
  const ended = [...tally].map(([status, n]) => n + " " + status).join(", ");
  const doing = finished ? ended : v.stage ? v.stage + (v.phase ? " · " + v.phase : "") : "";
  if (byId("stage").dataset.doing !== doing) { // screen readers hear of stages, not of seconds
    byId("stage").dataset.doing = doing;
    byId("stage").textContent = doing;
  }
  document.title = finished ? "Finished · Brokermark" : v.total ? v.done + "/" + v.total + " · Brokermark" : "Brokermark";
  last = v.now || last;
  byId("now").hidden = finished && !last;
  const now = finished ? last : v.now; // what was seen last stays
  const agents = now && now.agents || [];
  showNow(now);
  showAgents(agents);
  showQuiet(finished ? 0 : v.quiet_ns, agents);
}

const source = new EventSource("events");
source.onmessage = (event) => {
  document.body.classList.remove("lost");
  const message = JSON.parse(event.data);
  show(message);
  if (message.finished) source.close();
};
source.onerror = () => document.body.classList.add("lost");
