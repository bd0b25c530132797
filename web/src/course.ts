// One repetition over time: rate, backlog, latency and CPU, with its phases and faults.

import { axis, tooltip, type Option } from "./chart";
import { distinct, type Data, type Run } from "./data";
import { select } from "./dom";
import { card, Figure, section, type Drawing, type Series } from "./figure";
import { format } from "./format";
import { scaleSelect } from "./pick";
import { lookAt } from "./style";
import { colour } from "./theme";

interface Line { name: string; unit: string; values: (number | null)[] }
interface Panel { title: string; unit: string; lines: Line[] }

function panelsOf(d: Data, run: Run): Panel[] {
  return run.panels.map(({ i, v }) => {
    const { title, unit, lines } = d.panels[i];
    return { title, unit, lines: lines.map((name, k) => ({ name, unit, values: v[k] })) };
  });
}

const panelHeight = 118, panelGap = 42, above = 52;

export function course(d: Data, main: HTMLElement): void {
  if (!d.runs.length) return;
  let run = d.runs.find((r) => r.faults?.length) ?? d.runs.find((r) => r.status === "ok") ?? d.runs[0];
  let log = true;
  const of = (r: Run) => d.points[r.p];
  const host = section(main, "course", "Over time", "One repetition, two samples a second. Shaded: warm-up and drain; vertical lines: faults." +
    (d.runsLeftOut ? ` The courses of ${d.runsLeftOut} further repetitions are left out; choose with --where to see them.` : ""));
  const narrow = (f: Figure, among: Run[]) => { run = among[0] ?? run; f.redraw(true); };
  new Figure(host, "", "", (f) => {
    const same = d.runs.filter((r) => of(r).setting === of(run).setting);
    const load = same.filter((r) => r.load === run.load);
    const mine = load.filter((r) => of(r).name === of(run).name);
    const choices = (values: string[]) => distinct(values).map((v) => ({ value: v, text: v }));
    return [
      select("Messages and guarantee", choices(d.runs.map((r) => of(r).setting)), of(run).setting, (v) => narrow(f, prefer(d.runs.filter((r) => of(r).setting === v), d, run))),
      select("Load", choices(same.map((r) => r.load)), run.load, (v) => narrow(f, prefer(same.filter((r) => r.load === v), d, run))),
      select("Who", choices(load.map((r) => of(r).name)), of(run).name, (v) => narrow(f, load.filter((r) => of(r).name === v))),
      select("Repetition", mine.map((r, i) => ({ value: String(i), text: `${r.rep}${r.status === "ok" ? "" : ` (${r.status})`}` })), String(mine.indexOf(run)), (v) => { run = mine[Number(v)]; f.redraw(); }),
      scaleSelect("Latency", log, (v) => { log = v; f.redraw(); }),
    ];
  }, () => drawing(d, run, log));
}

/** The run that differs least from the one looked at. */
function prefer(runs: Run[], d: Data, from: Run): Run[] {
  const score = (r: Run) => Number(d.points[r.p].name === d.points[from.p].name) * 4 + Number(r.load === from.load) * 2 + Number(r.rep === from.rep);
  return [...runs].sort((a, b) => score(b) - score(a));
}

function drawing(d: Data, run: Run, log: boolean): Drawing {
  const p = d.points[run.p];
  const panels = panelsOf(d, run), columns = panels.flatMap((p) => p.lines);
  const title = `${p.name}, ${p.setting}, ${run.load}, repetition ${run.rep}`;
  const series: Series[] = columns.map((c, i) => ({ name: c.name, look: lookAt(i) }));
  const faults = run.faults ?? [];
  return {
    label: `${title}, over time: rate, backlog, latency and CPU.${faults.map((f) => ` ${words(f)} at ${f.t} s.`).join("")}`,
    series,
    all: true, // each panel has but a few
    height: above + panels.length * (panelHeight + panelGap) + 20,
    notes: [
      `${title}${run.began ? ", began " + run.began : ""}.`,
      ...(run.status === "ok" ? [] : [`${run.status}: ${run.reason ?? ""} – in no conclusion.`]),
      ...(run.doubts ?? []).map((t) => "Doubt: " + t),
      ...(run.books?.length ? ["Messages: " + run.books.map((b) => `${b.name} ${format("count", b.n)}`).join(", ") + "."] : []),
      ...(run.own ? [stoodStill(run.own)] : []),
    ],
    option: (on) => ({
      tooltip: tooltip("axis", (ps) => tip(run, columns.filter((c) => on(c.name)), ps)),
      axisPointer: { link: [{ xAxisIndex: "all" }] },
      grid: panels.map((_, i) => ({ left: 66, right: 20, top: above + i * (panelHeight + panelGap), height: panelHeight })),
      xAxis: panels.map((_, i) => ({
        ...axis({ name: i === panels.length - 1 ? "seconds from the start of the measured phase" : "", log: false, min: Math.min(run.t[0], 0), max: run.t[run.t.length - 1], format: (v) => (i === panels.length - 1 ? String(Math.round(v * 10) / 10) : "") }),
        gridIndex: i, splitLine: { show: false },
      })),
      yAxis: panels.map((panel, i) => ({
        ...axis({ name: "", log: log && panel.unit === "ns", decades: true, format: (v) => format(panel.unit, v), min: log && panel.unit === "ns" ? undefined : 0 }),
        axisLine: { show: true, onZero: false, lineStyle: { color: colour("line") } },
        gridIndex: i, name: panel.title, nameLocation: "end", nameGap: i === 0 ? 32 : 15, splitNumber: 3, minInterval: panel.unit === "count" ? 1 : 0,
        nameTextStyle: { align: "left", padding: [0, 0, 0, -50], color: colour("text"), fontSize: 12 },
      })),
      series: panels.flatMap((panel, i) => lines(run, panel, i, columns, on)),
    }),
    grid: (on) => {
      const shown = columns.filter((c) => on(c.name));
      const step = Math.max(1, Math.ceil(run.t.length / 400));
      return {
        caption: title,
        columns: [{ name: "second", number: true }, { name: "phase" }, ...shown.map((c) => ({ name: c.name, number: true })), { name: "fault" }],
        rows: run.t.map((t, i) => [String(t), phaseAt(run, t), ...shown.map((c) => format(c.unit, c.values[i])),
          faults.filter((f) => f.t <= t && f.t > (run.t[i - 1] ?? -Infinity)).map(words).join(", ")]).filter((_, i) => i % step === 0),
      };
    },
  };
}

function lines(run: Run, panel: Panel, index: number, columns: Line[], on: (n: string) => boolean): Option[] {
  const marks = {
    markArea: {
      silent: true, itemStyle: { color: colour("phase") }, label: { show: index === 0, position: "insideTop", color: colour("muted"), fontSize: 11 },
      data: areas(run).map((a) => [{ name: a.name, xAxis: a.from }, { xAxis: a.until }]),
    },
    markLine: {
      silent: true, symbol: "none", lineStyle: { color: colour("bad"), type: "dashed", width: 1.5 },
      label: { show: index === 0, formatter: (m: { name: string }) => m.name, color: colour("bad"), fontSize: 11, position: "end" },
      data: (run.faults ?? []).map((f, n) => ({ name: words(f), xAxis: f.t, label: { distance: 3 + 13 * (n % 2) } })), // neighbours must not overlap
    },
  };
  const out: Option[] = [{ type: "line", name: "marks", data: [], xAxisIndex: index, yAxisIndex: index, silent: true, ...marks }];
  for (const line of panel.lines.filter((l) => on(l.name))) {
    const { colour: tint, dash } = lookAt(columns.indexOf(line));
    out.push({
      type: "line", name: line.name, xAxisIndex: index, yAxisIndex: index, showSymbol: false, symbol: "circle",
      lineStyle: { color: tint, width: 1.8, type: dash }, itemStyle: { color: tint },
      data: run.t.map((t, i) => [t, line.values[i]]),
    });
  }
  return out;
}

function stoodStill(own: NonNullable<Run["own"]>): string {
  const longest = own.max ? `the longest ${format("ns", own.max)}, ${format("s", own.t)} into the measured phase` : "none longer than the watch can tell";
  return `Own pauses of this machine: p99 ${format("ns", own.p99 ?? NaN)}, ${longest}. Garbage collection stopped the generator for ${format("ns", own.gc)}, ` +
    `its threads waited ${format("s", own.queued)} for a core, and the hypervisor took ${format("s", own.stolen)} for others.`;
}

function words(f: { do: string; node: string; err?: string }): string {
  return `${f.do} ${f.node}${f.err ? ` (${f.err})` : ""}`;
}

/** Warm-up and drain; what is measured stays unshaded. */
function areas(run: Run): { name: string; from: number; until: number }[] {
  let from = run.t[0];
  return run.phases.flatMap((p) => {
    const area = { name: p.name === "warmup" ? "warm-up" : p.name, from, until: p.until };
    from = p.until;
    return p.name === "measure" || area.until <= area.from ? [] : [area]; // before the first sample there is nothing to shade
  });
}

function phaseAt(run: Run, t: number): string {
  return run.phases.find((p) => t <= p.until)?.name ?? "";
}

function tip(run: Run, shown: Line[], ps: unknown): HTMLElement {
  const t = (ps as { value: [number] }[])[0]?.value[0] ?? 0;
  const i = Math.max(0, run.t.indexOf(t));
  return card(`${t} s, ${phaseAt(run, t)}`, shown.map((l) => [l.name, format(l.unit, l.values[i])]));
}
