// Whole distributions on HdrHistogram's axis: 1/(1−q), so that each decade is one nine more.

import { axis, tooltip, type Option } from "./chart";
import { byName, distinct, doubts, worded, type Curve, type Data, type Level } from "./data";
import { select } from "./dom";
import { card, Figure, section, type Drawing } from "./figure";
import { format, range } from "./format";
import { scaleSelect, settings, settingSelect, usable } from "./pick";
import { look } from "./style";
import { colour } from "./theme";

interface State { setting: string; load: string; kind: number; ylog: boolean }
interface Line { name: string; level: Level; curve: Curve }

export function percentiles(d: Data, main: HTMLElement): void {
  const all = d.levels.filter((l) => l.h?.some((c) => c));
  if (!all.length) return;
  const kinds = d.latencies.map((text, i) => ({ value: String(i), text })).filter((_, i) => all.some((l) => l.h?.[i]));
  const names = settings(d, all);
  const loads = (setting: string) => distinct(all.filter((l) => d.points[l.p].setting === setting).map((l) => l.load));
  const s: State = { setting: names[0], load: "", kind: Number(kinds[0].value), ylog: true };
  s.load = busiest(d, all, s.setting, loads(s.setting));
  const host = section(main, "percentiles", "Percentiles",
    "The latency that each share of the messages stayed below, all repetitions together. A line ends where more messages never came. Each step to the right adds a nine. Dashed grey: void or failed, not used in conclusions. Shaded: how long the measuring machine itself paused at that share, the longest of all lines; a latency inside the shaded area may be its doing.");
  new Figure(host, "", "", (f) => [
    settingSelect(names, s.setting, (v) => { s.setting = v; if (!loads(v).includes(s.load)) s.load = busiest(d, all, v, loads(v)); f.redraw(true); }),
    select("Load", loads(s.setting).map((v) => ({ value: v, text: v })), s.load, (v) => { s.load = v; f.redraw(); }),
    select("Latency", kinds, String(s.kind), (v) => { s.kind = Number(v); f.redraw(); }),
    scaleSelect("Up", s.ylog, (v) => { s.ylog = v; f.redraw(); }),
  ], () => drawing(d, all, s));
}

function busiest(d: Data, all: Level[], setting: string, loads: string[]): string {
  const count = (load: string) => all.filter((l) => l.load === load && d.points[l.p].setting === setting && usable(l)).length;
  return loads.reduce((best, l) => (count(l) > count(best) ? l : best));
}

function drawing(d: Data, all: Level[], s: State): Drawing {
  const lines: Line[] = [];
  for (const level of all) {
    const p = d.points[level.p], curve = level.h?.[s.kind];
    if (p.setting === s.setting && level.load === s.load && curve) lines.push({ name: usable(level) ? p.name : `${p.name} (${level.status})`, level, curve });
  }
  lines.sort((a, b) => byName(d, a.level, b.level));
  const ticks = Math.max(2, Math.ceil(Math.max(0, ...lines.map((l) => decade(d.quantiles[l.curve.v.length - 1])))));
  const title = d.latencies[s.kind];
  const tables = [0.5, 0.9, 0.99, 0.999, 0.9999].map((q) => [q, nearest(d.quantiles, q)] as const);
  return {
    label: `Percentiles of latency (${title}), ${s.setting}, ${s.load}: ${lines.map((l) => l.name).join(", ")}.`,
    series: lines.map((l) => ({ name: l.name, look: look(d.points[l.level.p].name) })),
    height: 400,
    notes: [
      ...distinct(lines.flatMap((l) => (usable(l.level) ? [] : [`${l.name}: ${l.level.reason ?? ""} – in no conclusion.`]))),
      ...some(distinct(lines.flatMap((l) => doubts(d, l.level).map((t) => `Doubt about ${d.points[l.level.p].name}: ${worded(t)}`)))),
    ],
    option: (on) => ({
      grid: { left: 66, right: 34, top: 20, bottom: 48 },
      tooltip: tooltip("axis", (ps) => tip(lines.filter((l) => on(l.name)), ps)),
      xAxis: { ...axis({ name: "share of messages at or below", log: false, min: 0, max: ticks, format: nines }), interval: 1 },
      yAxis: axis({ name: "", log: s.ylog, format: (v) => format("ns", v) }),
      series: [...floor(d, lines.filter((l) => on(l.name)), ticks, s.ylog), ...lines.filter((l) => on(l.name)).map((l) => {
        const style = look(d.points[l.level.p].name);
        return {
          type: "line", name: l.name, showSymbol: false, symbol: style.shape, symbolSize: 6,
          lineStyle: usable(l.level) ? { color: style.colour, width: 2, type: style.dash } : { color: colour("muted"), width: 1.5, type: "dashed" },
          itemStyle: { color: style.colour },
          data: l.curve.v.slice(0, (l.curve.k ?? l.curve.v.length) + 1).map((v, i) => [decade(d.quantiles[i]), v, l.curve.k && i >= l.curve.k ? 1 : 0]).filter(([, v]) => !s.ylog || v > 0),
        };
      })],
    }),
    grid: (on) => ({
      columns: [{ name: "who" }, { name: "messages", number: true }, ...tables.map(([q]) => ({ name: "p" + 100 * q, number: true })), { name: "max", number: true }],
      rows: lines.filter((l) => on(l.name)).flatMap((l) => [[l.name, l.curve] as const, ...(l.level.own ? [[`${l.name}: ${ownPauses}`, l.level.own] as const] : [])]).map(([name, c]) => [name, format("count", c.n),
        ...tables.map(([, i]) => latency(c, i)), latency(c, c.v.length)]),
    }),
  };
}

const ownPauses = "own pauses of this machine";

/** The latency at a quantile: "≥ 5.00 s" where messages that never came leave it open. */
function latency(c: Curve, i: number): string { return c.k && i >= c.k ? range("ns", at(c, i), null) : format("ns", at(c, i)); }

function at(c: Curve, i: number): number { return i < c.v.length ? c.v[i] : c.max; }

/** The most of the machine's own pauses in any of the lines, down to a tenth of the lowest latency: further down it says nothing. */
function floor(d: Data, lines: Line[], ticks: number, ylog: boolean): Option[] {
  const own = lines.filter((l) => usable(l.level)).flatMap((l) => l.level.own ?? []);
  if (!own.length) return [];
  const lowest = Math.min(...lines.flatMap((l) => l.curve.v.filter((v) => v > 0))) / 10;
  const data = d.quantiles.map((q, i) => [decade(q), Math.max(...own.map((c) => at(c, i)))]).filter(([x]) => x < ticks + 1e-6);
  return [{
    type: "line", name: ownPauses, showSymbol: false, silent: true, z: 1, lineStyle: { color: colour("muted"), width: 1 }, itemStyle: { color: colour("muted") },
    areaStyle: { color: colour("muted"), opacity: 0.22, origin: "start" },
    data: data.map(([x, v]) => [x, ylog ? Math.max(v, lowest) : v, v]),
    markPoint: { silent: true, symbol: "rect", symbolSize: 0.1, data: [{ coord: [ticks, ylog ? Math.max(data[data.length - 1][1], lowest) : data[data.length - 1][1]] }], label: { show: true, formatter: ownPauses, position: "left", distance: 4, offset: [0, 9], color: colour("text"), fontSize: 11 } },
  }];
}

function decade(q: number): number { return -Math.log10(1 - q); }

/** 0 → "min", 1 → "p90", 2 → "p99", 3 → "p99.9". */
function nines(v: number): string {
  if (!Number.isInteger(v)) return "";
  return v === 0 ? "min" : v === 1 ? "p90" : v === 2 ? "p99" : `p99.${"9".repeat(v - 2)}`;
}

function nearest(qs: number[], q: number): number {
  return qs.reduce((best, v, i) => (Math.abs(decade(v) - decade(q)) < Math.abs(decade(qs[best]) - decade(q)) ? i : best), 0);
}

function tip(lines: Line[], ps: unknown): HTMLElement {
  const hovered = ps as { value: [number, number, number?]; seriesName: string }[];
  const q = 1 - 10 ** -(hovered[0]?.value[0] ?? 0);
  const rows = hovered.map((p): [string, string] => {
    if (p.seriesName === ownPauses) return [ownPauses, format("ns", p.value[2])];
    const line = lines.find((l) => l.name === p.seriesName);
    return [p.seriesName, `${p.value[2] ? range("ns", p.value[1], null) : format("ns", p.value[1])} (of ${format("count", line?.curve.n)})`];
  });
  return card(`p${Number((100 * q).toPrecision(Math.max(3, 2 + Math.ceil(decade(q)))))}`, rows);
}

const mostDoubts = 8;

function some(doubts: string[]): string[] {
  return doubts.length <= mostDoubts ? doubts : [...doubts.slice(0, mostDoubts), `And ${doubts.length - mostDoubts} more; “All doubts”, at the end, has them.`];
}
