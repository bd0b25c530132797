// Latency against throughput: a dot per level, a line per contender.

import { axis, tooltip, type Option } from "./chart";
import { distinct, ending, metricIndex, value, type Data, type Level, type Summary } from "./data";
import { checkbox, select, type Cell } from "./dom";
import { card, Figure, section, type Drawing } from "./figure";
import { format, spread } from "./format";
import { median, remarks, scaleSelect, settings, settingSelect, usable } from "./pick";
import { look } from "./style";
import { colour } from "./theme";

const latencies = ["e2e_p50_ns", "e2e_p90_ns", "e2e_p95_ns", "e2e_p99_ns", "e2e_p999_ns", "e2e_max_ns", "publish_p50_ns", "publish_p99_ns"];

export function throughput(d: Data, main: HTMLElement): void {
  const rate = metricIndex(d, "throughput");
  const all = d.levels.filter((l) => value(l, rate) && value(l, metricIndex(d, "e2e_p50_ns")));
  if (!all.length || distinct(all.map((l) => l.rate || l.load)).length < 2) return; // one load makes no curve: the tables and percentiles say it all
  const names = settings(d, all);
  const known = latencies.filter((k) => metricIndex(d, k) >= 0);
  const s = { setting: fullest(d, all, names), metric: "e2e_p99_ns", xlog: true, ylog: true, trials: false };
  const host = section(main, "throughput", "Latency against throughput",
    "Every dot is one load: what came through per second, and the latency at that rate. Bars span the repetitions. An arrow: the latency is at least so high, because messages never came. Hollow grey dots are void or failed and not used in conclusions.");
  new Figure(host, "", "", (f) => [
    settingSelect(names, s.setting, (v) => { s.setting = v; f.redraw(); }),
    select("Latency", known.map((k) => ({ value: k, text: d.metrics[metricIndex(d, k)].name })), s.metric, (v) => { s.metric = v; f.redraw(); }),
    scaleSelect("Across", s.xlog, (v) => { s.xlog = v; f.redraw(); }),
    scaleSelect("Up", s.ylog, (v) => { s.ylog = v; f.redraw(); }),
    ...(d.trials ? [checkbox("trials of the searches", s.trials, (v) => { s.trials = v; f.redraw(); })] : []),
  ], () => drawing(d, all, s, rate));
}

function fullest(d: Data, levels: Level[], names: string[]): string {
  const count = (n: string) => levels.filter((l) => d.points[l.p].setting === n && usable(l)).length;
  return names.reduce((best, n) => (count(n) > count(best) ? n : best));
}

interface State { setting: string; metric: string; xlog: boolean; ylog: boolean; trials: boolean }

function drawing(d: Data, all: Level[], s: State, rate: number): Drawing {
  const index = metricIndex(d, s.metric);
  const title = d.metrics[index].name;
  const by = new Map<string, Level[]>();
  for (const l of all) {
    const p = d.points[l.p];
    if (p.setting === s.setting && value(l, index)) by.set(p.name, [...(by.get(p.name) ?? []), l]);
  }
  const offered = (l: Level) => l.rate ?? median(value(l, rate)); // less of a higher rate may come through an overloaded broker
  for (const ls of by.values()) ls.sort((a, b) => offered(a) - offered(b));
  const contenders = d.names.filter((n) => by.has(n));
  return {
    label: `${title} against messages per second that came through, ${s.setting}: ${contenders.join(", ")}.`,
    series: contenders.map((name) => ({ name, look: look(name) })),
    height: 430,
    option: (on) => ({
      grid: { left: 66, right: 20, top: 34, bottom: 48 },
      tooltip: tooltip("item", tip(d, rate, index)),
      xAxis: { ...axis({ name: "throughput", log: s.xlog, format: (v) => format("per-second", v) }), splitLine: { show: false } },
      yAxis: { ...axis({ name: "", log: s.ylog, format: (v) => format("ns", v) }), name: title, nameLocation: "end", nameGap: 12, nameTextStyle: { align: "left", padding: [0, 0, 0, -50], color: colour("muted") } },
      series: contenders.filter(on).flatMap((name) => contender(d, name, by.get(name) ?? [], s, rate, index)),
    }),
    grid: (on) => ({
      columns: [{ name: "who" }, { name: "load" }, { name: "status" }, { name: "offered", number: true }, { name: "throughput", number: true }, { name: title, number: true }, { name: "remarks" }],
      rows: contenders.filter(on).flatMap((name) => (by.get(name) ?? []).map((l): Cell[] => [
        { text: name }, { text: l.load }, { text: ending(l) }, { text: l.rate ? format("per-second", l.rate) : "–" },
        { text: spread("per-second", value(l, rate)) }, { text: spread("ns", value(l, index)), class: usable(l) ? "" : "unused" }, { text: remarks(d, l).join(" "), class: "wide" },
      ])),
    }),
  };
}

function contender(d: Data, name: string, levels: Level[], s: State, rate: number, index: number): Option[] {
  const { colour: tint, shape, dash } = look(name);
  const shown = levels.filter((l) => (!s.xlog || median(value(l, rate)) > 0) && (!s.ylog || median(value(l, index)) > 0));
  const dot = (l: Level) => ({
    value: [median(value(l, rate)), median(value(l, index))], level: l, name,
    symbol: value(l, index)?.[4] ? "arrow" : shape, symbolSize: l.load === "sustainable" ? 13 : 9,
    itemStyle: usable(l) ? { color: tint, borderColor: colour("card"), borderWidth: 1 } : { color: colour("card"), borderColor: colour("muted"), borderWidth: 2 },
  });
  const out: Option[] = [
    { type: "line", name, data: shown.filter(usable).map(dot), lineStyle: { color: tint, width: 2, type: dash }, itemStyle: { color: tint }, symbol: shape, z: 4, emphasis: { scale: 1.4 } },
    { type: "scatter", name, data: shown.filter((l) => !usable(l)).map(dot), z: 3 },
    whiskers(name, tint, shown.filter(usable).map((l) => [value(l, rate)!, value(l, index)!])),
  ];
  const p = s.metric === "e2e_p50_ns" ? 2 : s.metric === "e2e_p99_ns" ? 3 : 0;
  if (s.trials && p) {
    const mine = (d.trials ?? []).filter((t) => d.points[t.p].name === name && d.points[t.p].setting === s.setting && t.f[1] > 0 && (t.f[p] ?? 0) > 0);
    out.push({
      type: "scatter", name, z: 2, data: mine.map((t) => ({
        value: [t.f[1], t.f[p]], trial: t, name, symbol: t.verdict === "pass" ? "circle" : "path://M0 0L10 10M10 0L0 10", symbolSize: t.verdict === "pass" ? 5 : 7,
        itemStyle: { color: tint, opacity: 0.55, borderColor: tint, borderWidth: t.verdict === "pass" ? 0 : 1.5 },
      })),
    });
  }
  return out;
}

/** Bars from the low to the high of both figures. */
function whiskers(name: string, tint: string, data: [NonNullable<Summary>, NonNullable<Summary>][]): Option {
  const rows = data.map(([x, y]) => [x[0], y[0], x[1] ?? x[0], x[2] ?? x[0], y[1] ?? y[0], y[2] ?? y[0]]).filter((r) => r.every((v) => v > 0));
  return {
    type: "custom", name, data: rows, silent: true, z: 3, encode: { x: [0, 2, 3], y: [1, 4, 5] },
    renderItem: (_: unknown, api: { value(i: number): number; coord(p: number[]): number[] }) => {
      const at = (x: number, y: number) => api.coord([api.value(x), api.value(y)]);
      const line = (a: number[], b: number[]) => ({ type: "line", shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] }, style: { stroke: tint, lineWidth: 1.5, opacity: 0.7 } });
      return { type: "group", children: [line(at(2, 1), at(3, 1)), line(at(0, 4), at(0, 5))] };
    },
  };
}

interface Hovered { data: { name: string; level?: Level; trial?: { f: (number | null)[]; kind: string; verdict: string } } }

function tip(d: Data, rate: number, index: number): (p: never) => HTMLElement {
  return (hovered) => {
    const { name, level: l, trial: t } = (hovered as Hovered).data;
    if (t) {
      return card(`${name}, ${t.kind} trial: ${t.verdict}`, [["offered", format("per-second", t.f[0])], ["throughput", format("per-second", t.f[1])],
        ["e2e p50", format("ns", t.f[2])], ["e2e p99", format("ns", t.f[3])]]);
    }
    if (!l) return card(name, []);
    return card(`${name}, ${l.load}`, [
      ...(l.rate ? [["offered", format("per-second", l.rate)] as [string, string]] : []),
      ["throughput", spread("per-second", value(l, rate))], [d.metrics[index].name, spread("ns", value(l, index))],
    ], remarks(d, l));
  };
}
