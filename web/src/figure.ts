// The frame of every figure: title, choices, buttons that switch its series, the chart, and the same as a table.

import { Chart, type Option } from "./chart";
import { append, el, table, type Grid } from "./dom";
import type { Look } from "./style";
import { onTheme } from "./theme";

export interface Series { name: string; look: Look; note?: string }

export interface Drawing {
  label: string; // what a screen reader says of the chart
  series: Series[];
  option: (on: (name: string) => boolean) => Option;
  grid: (on: (name: string) => boolean) => Grid;
  notes?: string[]; // doubts and the like, below the chart
  height?: number;
  all?: boolean; // begin with every series, however many
}

const atFirst = 14; // more series than this are switched off to begin with
const fewEnough = 40; // beyond it the key has a search instead of a button for each

export class Figure {
  private readonly controls = el("div", { class: "controls" });
  private readonly legend = el("div", { class: "legend", role: "group", "aria-label": "Series: press to hide or show" });
  private readonly box = el("div", { class: "chart", role: "img" });
  private readonly said = el("p", { class: "print-only about" }); // paper has no controls to tell what was chosen
  private readonly notes = el("div", { class: "figure-notes" });
  private readonly numbers = el("details", { class: "numbers", toggle: () => this.fill() }, el("summary", {}, "The same as a table"));
  private readonly chart: Chart;
  private readonly off = new Set<string>();
  private readonly met = new Set<string>();
  private drawing: Drawing;

  constructor(parent: HTMLElement, title: string, about: string, private readonly setUp: (f: Figure) => HTMLElement[], private readonly draw: () => Drawing) {
    this.drawing = draw();
    append(this.controls, ...setUp(this));
    this.chart = new Chart(this.box, () => this.drawing.option((n) => this.on(n)));
    const caption = el("figcaption", {}, title ? el("h3", {}, title) : null, about ? el("p", { class: "about" }, about) : null);
    append(parent, el("figure", {}, caption, this.controls, this.said, this.legend, this.box, this.notes, this.numbers));
    onTheme(() => this.redraw());
    this.redraw();
  }

  /** Draws after a choice was made; anew also asks for the choices again. */
  redraw(anew = false): void {
    this.drawing = this.draw();
    if (anew) this.controls.replaceChildren(...this.setUp(this));
    for (const [i, s] of this.drawing.series.entries()) {
      if (this.met.has(s.name)) continue;
      this.met.add(s.name);
      if (i >= atFirst && !this.drawing.all) this.off.add(s.name);
    }
    this.swatches();
    this.said.textContent = this.drawing.label;
    this.box.setAttribute("aria-label", this.drawing.label + " The table below holds the same figures.");
    if (this.drawing.height) this.box.style.height = this.drawing.height + "px";
    this.notes.replaceChildren(...(this.drawing.notes ?? []).map((n) => el("p", {}, n)));
    this.chart.draw();
    this.fill();
  }

  private on(name: string): boolean { return !this.off.has(name); }

  private fill(): void {
    this.numbers.querySelector(".scroll")?.remove();
    if (this.numbers.open) append(this.numbers, table(this.drawing.grid((n) => this.on(n)), "Figures of the chart"));
  }

  private swatches(): void { fillLegend(this.legend, this.drawing.series, this.off, () => this.redraw()); }
}

/** Buttons that switch series off and on; what has the focus keeps it. */
export function fillLegend(legend: HTMLElement, series: Series[], off: Set<string>, changed: () => void): void {
  const many = series.length > fewEnough, focused = document.activeElement as HTMLElement | null;
  const find = many ? legend.querySelector("input") ?? el("input", { type: "search", "aria-label": "Find a series", placeholder: `find one of ${series.length}` }) : null;
  if (find) find.oninput = () => fillLegend(legend, series, off, changed);
  const shown = many ? found(series, off, find?.value ?? "") : series;
  const buttons: HTMLElement[] = shown.map((s) => el("button", {
    type: "button", class: "series", "aria-pressed": String(!off.has(s.name)), title: s.note, "data-name": s.name,
    click: () => { off.delete(s.name) || off.add(s.name); changed(); },
  }, swatch(s.look), s.name));
  if (series.length > 3) {
    buttons.unshift(el("button", { type: "button", class: "plain", "data-name": "all", click: () => { for (const s of shown) off.delete(s.name); changed(); } }, "All"),
      el("button", { type: "button", class: "plain", "data-name": "none", click: () => { for (const s of series) off.add(s.name); changed(); } }, "None"));
  }
  const name = legend.contains(focused) ? focused?.dataset.name : undefined, typing = find !== null && focused === find;
  legend.hidden = series.length < 2;
  legend.replaceChildren(...(find ? [find] : []), ...buttons, ...(many ? [el("span", { class: "about" }, `${series.length - shown.length} more`)] : []));
  if (typing) find.focus();
  else if (name) buttons.find((b) => b.dataset.name === name)?.focus();
}

/** Of very many series those that match, or without words those that are on and the first others. */
function found(series: Series[], off: Set<string>, text: string): Series[] {
  const words = text.toLowerCase().split(/\s+/).filter((w) => w);
  if (words.length) return series.filter((s) => words.every((w) => s.name.toLowerCase().includes(w))).slice(0, fewEnough);
  const first = [...series.filter((s) => !off.has(s.name)), ...series.filter((s) => off.has(s.name))].slice(0, fewEnough);
  return series.filter((s) => first.includes(s));
}

const paths: Record<string, string> = {
  circle: "M12 3a5 5 0 1 0 .01 0z", rect: "M7 3h10v10h-10z", roundRect: "M8.5 3h7l1.5 1.5v7l-1.5 1.5h-7l-1.5-1.5v-7z",
  triangle: "M12 2.5l6 10.5h-12z", diamond: "M12 1.5l5 6.5l-5 6.5l-5-6.5z", pin: "M12 14l-4-6a4.6 4.6 0 1 1 8 0z", arrow: "M12 2l5 12l-5-3.5l-5 3.5z",
};

export function swatch(look: Look): SVGSVGElement {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  for (const [k, v] of Object.entries({ viewBox: "0 0 24 16", width: "24", height: "16", "aria-hidden": "true" })) svg.setAttribute(k, v);
  const line = document.createElementNS(ns, "path");
  for (const [k, v] of Object.entries({ d: "M0 8H24", stroke: look.colour, "stroke-width": "2", "stroke-dasharray": look.dash === "solid" ? "" : look.dash.join(" ") })) line.setAttribute(k, v);
  const mark = document.createElementNS(ns, "path");
  mark.setAttribute("d", paths[look.shape] ?? paths.circle);
  mark.setAttribute("fill", look.colour);
  svg.append(line, mark);
  return svg;
}

/** A section with a heading, as a place for figures. */
export function section(parent: HTMLElement, id: string, title: string, about = ""): HTMLElement {
  const s = el("section", { id, "aria-labelledby": id + "-title" }, el("h2", { id: id + "-title" }, title), about ? el("p", {}, about) : null);
  append(parent, s);
  return s;
}

/** What a tooltip says: a heading and lines of name and value. */
export function card(title: string, lines: [string, string][], after: string[] = []): HTMLElement {
  return el("div", { class: "tip" }, el("strong", {}, title),
    el("table", {}, ...lines.map(([k, v]) => el("tr", {}, el("th", {}, k), el("td", {}, v)))), ...after.map((a) => el("p", {}, a)));
}
