// Sweeps: every axis as table, row, column or colour, or held at one value. Points that differ in something else
// stand side by side in a cell; nothing is pooled here.

import { distinct, doubts, value, worded, type Data, type Level, type Summary } from "./data";
import { append, el, select, type Choice } from "./dom";
import { fillLegend, section, swatch } from "./figure";
import { centre, spread } from "./format";
import { Multiples, type Panel } from "./multiples";
import { remarks, scaleSelect, usable } from "./pick";
import { look, type Look } from "./style";
import { onTheme } from "./theme";

const roles = ["table", "row", "column", "colour"] as const;
type Role = (typeof roles)[number];

interface State { metric: number; view: "heat" | "lines"; roles: string[]; xlog: boolean; ylog: boolean; off: Set<string> }

const mostPanels = 24, mostDoubts = 8;

export function sweep(d: Data, main: HTMLElement): void {
  const metrics = d.metrics.map((m, i) => ({ value: String(i), text: m.name, m })).filter(({ m }, i) => m.key && d.levels.some((l) => value(l, i)));
  if (!d.axes.length || !metrics.length) return;
  // What most points have, unless a good part has what the reader came for.
  const known = (i: number) => d.levels.filter((l) => usable(l) && value(l, i)).length;
  const enough = 0.2 * d.levels.filter(usable).length;
  const preferred = ["sustainable_low", "e2e_p99_ns", "throughput"].map((k) => metrics.find(({ m, value }) => m.key === k && known(Number(value)) >= enough)).find((m) => m) ?? metrics[0];
  const s: State = { metric: Number(preferred.value), view: "heat", roles: atFirst(d, Number(preferred.value)), xlog: true, ylog: true, off: new Set() };
  const host = section(main, "sweeps", "Sweeps", "Each axis of the study can be a table, a row, a column or a colour, or stay at one value. Figures are medians over repetitions; counts are sums. Hatched: refused. In parentheses: void or failed, not used in conclusions. Question mark: doubts, named below.");
  const controls = el("div", { class: "controls" }), legend = el("div", { class: "legend", role: "group", "aria-label": "Colours: press to hide or show" });
  const place = el("div", { class: "sweep", "aria-live": "polite" }), multiples = new Multiples(place);
  append(host, controls, legend, place);
  const draw = () => {
    controls.replaceChildren(...choices(d, s, metrics, draw));
    const panels = arrange(d, s);
    const keys = distinct(panels.flatMap((p) => p.cells.map((c) => (s.view === "lines" ? lineName(c) : c.colour)))).filter((k) => k);
    fillLegend(legend, keys.map((c) => ({ name: c, look: tone(d, c) })), s.off, draw);
    if (s.view === "lines") multiples.show(alike(panels.slice(0, mostPanels).filter((p) => p.cells.some((c) => value(c.level, s.metric))).map((p) => lines(d, s, p))));
    else place.replaceChildren(...panels.slice(0, mostPanels).map((p) => heat(d, s, p, extremes(s, panels))));
    const said = distinct(panels.slice(0, mostPanels).flatMap((p) => p.cells.flatMap((c) => doubts(d, c.level).map((t) => `Doubt about ${d.points[c.level.p].name}: ${worded(t)}`))));
    append(place, el("div", { class: "figure-notes" }, ...said.slice(0, mostDoubts).map((t) => el("p", {}, t)), said.length > mostDoubts ? el("p", {}, `And ${said.length - mostDoubts} more; each stands in its cell's title.`) : null));
    if (panels.length > mostPanels) append(place, el("p", {}, `${panels.length - mostPanels} more tables are not shown: hold an axis at one value.`));
  };
  onTheme(draw);
  draw();
}

/** Brokers as rows, the longest other axis as columns, the next ones as tables; the rest is held. */
function atFirst(d: Data, metric: number): string[] {
  const measured = (i: number) => distinct(d.levels.filter((l) => value(l, metric)).map((l) => l.at[i])).filter((v) => v >= 0);
  const order = d.axes.map((a, i) => ({ i, name: a.name, n: measured(i).length })).sort((a, b) => b.n - a.n);
  const out = d.axes.map(() => "");
  const give = (role: Role, pick: (a: (typeof order)[number]) => boolean) => {
    const a = order.find((o) => !out[o.i] && o.n > 1 && pick(o));
    if (a) out[a.i] = role;
  };
  give("row", (a) => a.name === "broker");
  give("column", () => true);
  if (!out.includes("row")) give("row", () => true);
  give("table", (a) => a.n <= 6);
  return out.map((r, i) => r || (measured(i).length > 1 && d.axes[i].name !== "load" ? "table" : `=${measured(i)[0] ?? 0}`));
}

function choices(d: Data, s: State, metrics: Choice[], draw: () => void): HTMLElement[] {
  return [
    select("Figure", metrics, String(s.metric), (v) => { s.metric = Number(v); draw(); }),
    select("As", [{ value: "heat", text: "heat map" }, { value: "lines", text: "lines" }], s.view, (v) => { s.view = v as State["view"]; draw(); }),
    ...d.axes.map((a, i) => select(a.name, [
      ...roles.map((r) => ({ value: r, text: r, group: "as" })),
      ...a.values.map((v, j) => ({ value: `=${j}`, text: v, group: "only" })),
    ], s.roles[i], (v) => { s.roles[i] = v; draw(); })),
    ...(s.view === "lines" ? [scaleSelect("Across", s.xlog, (v) => { s.xlog = v; draw(); }), scaleSelect("Up", s.ylog, (v) => { s.ylog = v; draw(); })] : []),
  ];
}

interface Placed { level: Level; row: string; column: string; colour: string; x: number | null }
interface Table { title: string; rows: string[]; columns: string[]; cells: Placed[] }

/** Puts every level that the held axes leave into its table, row, column and colour. */
function arrange(d: Data, s: State): Table[] {
  const of = (role: Role) => d.axes.map((_, i) => i).filter((i) => s.roles[i] === role);
  const held = d.axes.map((_, i) => i).filter((i) => s.roles[i].startsWith("="));
  const name = (l: Level, role: Role) => of(role).map((i) => d.axes[i].values[l.at[i]] ?? "–").join(", ");
  const rank = (l: Level, role: Role) => of(role).map((i) => l.at[i]);
  const kept = d.levels.filter((l) => held.every((i) => l.at[i] === Number(s.roles[i].slice(1))) && (value(l, s.metric) || !l.m));
  const sorted = (levels: Level[], role: Role) => distinct([...levels].sort((a, b) => compare(rank(a, role), rank(b, role))).map((l) => name(l, role)));
  const across = of("column");
  const x = (l: Level) => (across.length === 1 ? d.axes[across[0]].numbers?.[l.at[across[0]]] ?? null : null);
  return sorted(kept, "table").map((title) => {
    const mine = kept.filter((l) => name(l, "table") === title);
    return {
      title, rows: sorted(mine, "row"), columns: sorted(mine, "column"),
      cells: mine.map((l) => ({ level: l, row: name(l, "row"), column: name(l, "column"), colour: name(l, "colour"), x: x(l) })),
    };
  });
}

function compare(a: number[], b: number[]): number {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i] - b[i];
  return 0;
}

function tone(d: Data, name: string): Look {
  return look(d.points.find((p) => p.broker === name)?.name ?? name);
}

function extremes(s: State, tables: Table[]): [number, number] {
  const all = tables.flatMap((t) => t.cells.map((c) => (usable(c.level) ? value(c.level, s.metric)?.[0] ?? NaN : NaN))).filter((v) => v > 0);
  return [Math.min(...all), Math.max(...all)];
}

function heat(d: Data, s: State, t: Table, [low, high]: [number, number]): HTMLElement {
  const m = d.metrics[s.metric], coloured = t.cells.some((c) => c.colour);
  const head = (names: string[]) => names.map((n) => el("th", { scope: "col", class: "n" }, n || m.name));
  const caption = [m.name, t.title].filter((x) => x).join(": ");
  return el("div", { class: "scroll", role: "group", tabindex: 0, "aria-label": caption }, el("table", { class: "heat" },
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "corner" }, corner(d, s)), ...head(t.columns))),
    el("tbody", {}, ...t.rows.map((row) => el("tr", {}, el("th", { scope: "row" }, row), ...t.columns.map((column) => {
      const cells = t.cells.filter((c) => c.row === row && c.column === column && !s.off.has(c.colour));
      const refused = cells.length > 0 && cells.every((c) => c.level.status === "refused");
      const td = el("td", { class: "n" + (refused ? " refused" : "") }, ...(cells.length ? cells.map((c) => entry(d, s, c, cells.length > 1)) : ["·"]));
      const v = cells.length === 1 && usable(cells[0].level) ? value(cells[0].level, s.metric)?.[0] ?? 0 : 0;
      if (!coloured && v > 0 && high > low) td.style.setProperty("--heat", `${Math.round(6 + (54 * Math.log(v / low)) / Math.log(high / low))}%`);
      return td;
    }))))));
}

function axesAs(d: Data, s: State, role: Role): string { return d.axes.filter((_, i) => s.roles[i] === role).map((a) => a.name).join(", "); }

/** What the rows and the columns are: "broker ↓ delivery →". */
function corner(d: Data, s: State): string {
  const of = (role: Role) => axesAs(d, s, role);
  return [of("row") && of("row") + "\u00a0↓", of("column") && of("column") + "\u00a0→"].filter((x) => x).join("  ");
}

function entry(d: Data, s: State, c: Placed, several: boolean): HTMLElement {
  const unit = d.metrics[s.metric].unit, v: Summary = value(c.level, s.metric);
  const text = v ? centre(unit, v) : c.level.status;
  const p = d.points[c.level.p];
  return el("div", { title: [`${p.name}, ${p.setting}, ${c.level.load}`, v ? spread(unit, v) : "", ...remarks(d, c.level)].filter((x) => x).join("\n"), class: usable(c.level) ? null : "unused" },
    c.colour ? swatch(tone(d, c.colour)) : null, several && !c.colour ? el("small", {}, c.level.load + " ") : null,
    usable(c.level) || !v ? text : `(${text})`, c.level.status !== "refused" && c.level.doubts ? el("sup", {}, "?") : null);
}

function lineName(c: Placed): string { return [c.row, c.colour].filter((x) => x).join(", "); }

/** Gives all panels the same heights for the same figures. */
function alike(panels: Panel[]): Panel[] {
  const all = panels.flatMap((p) => p.series.flatMap((s) => s.dots.map((t) => t.y[0]))).filter((y) => y > 0 || panels.every((p) => !p.ylog));
  return all.length ? panels.map((p) => ({ ...p, extent: [Math.min(...all), Math.max(...all)] })) : panels;
}

function lines(d: Data, s: State, t: Table): Panel {
  const m = d.metrics[s.metric];
  const numeric = t.cells.length > 0 && t.cells.every((c) => c.x !== null) && t.columns.length > 1;
  const names = distinct(t.cells.map(lineName));
  return {
    title: [m.name, t.title].filter((x) => x).join(": "), unit: m.unit, extent: [], across: axesAs(d, s, "column"), ylog: s.ylog, columns: t.columns, numeric,
    xlog: s.xlog && t.cells.every((c) => (c.x ?? 0) > 0), // what is 0 must not vanish
    series: names.map((name) => {
      const mine = t.cells.filter((c) => lineName(c) === name && !s.off.has(name));
      return {
        name: name || m.name, look: tone(d, name),
        dots: mine.filter((c) => value(c.level, s.metric)).map((c) => ({ x: numeric ? c.x! : t.columns.indexOf(c.column), column: c.column, y: value(c.level, s.metric)!, usable: usable(c.level), remarks: remarks(d, c.level) })),
      };
    }),
  };
}
