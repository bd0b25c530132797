// Small charts side by side, made once and drawn again with other figures.

import { axis, Chart, tooltip, type Option } from "./chart";
import { el } from "./dom";
import { card } from "./figure";
import { format, spread } from "./format";
import type { Look } from "./style";
import { colour } from "./theme";
import type { Summary } from "./data";

interface Dot { x: number; column: string; y: NonNullable<Summary>; usable: boolean; remarks: string[] }
export interface Panel {
  title: string; unit: string; across: string; xlog: boolean; ylog: boolean; numeric: boolean; columns: string[];
  series: { name: string; look: Look; dots: Dot[] }[];
  extent: number[]; // of all panels: equal heights are equal figures
}

interface Slot { frame: HTMLElement; title: HTMLElement; box: HTMLElement; panel: Panel; chart: Chart }

export class Multiples {
  private readonly slots: Slot[] = [];

  constructor(private readonly place: HTMLElement) {}

  show(panels: Panel[]): void {
    panels.forEach((panel, i) => {
      const slot = this.slots[i] ?? this.add(panel);
      slot.panel = panel;
      slot.title.textContent = panel.title;
      slot.box.setAttribute("aria-label", `${panel.title}: ${panel.series.map((s) => s.name).join(", ")}. The heat map holds the same figures as a table.`);
    });
    this.place.replaceChildren(el("div", { class: "multiples" }, ...this.slots.slice(0, panels.length).map((s) => s.frame)));
    for (const s of this.slots.slice(0, panels.length)) s.chart.draw();
  }

  private add(panel: Panel): Slot {
    const title = el("h3", {}), box = el("div", { class: "chart small", role: "img" });
    const slot: Slot = { frame: el("div", {}, title, box), title, box, panel, chart: new Chart(box, () => option(slot.panel)) };
    this.slots.push(slot);
    return slot;
  }
}

function option(p: Panel): Option {
  const positive = (d: Dot) => (!p.ylog || d.y[0] > 0) && (!p.xlog || !p.numeric || d.x > 0);
  const x = p.numeric
    ? axis({ name: "", log: p.xlog, format: (v) => format(p.across === "messageSize" ? "bytes" : "none", v) })
    : { ...axis({ name: "", log: false, format: String }), type: "category", data: p.columns, axisLabel: { color: colour("muted"), hideOverlap: true } };
  return {
    grid: { left: 62, right: 14, top: 14, bottom: 46 },
    tooltip: tooltip("item", (hovered) => {
      const { dot, name } = (hovered as { data: { dot: Dot; name: string } }).data;
      return card(name, [[dot.column, spread(p.unit, dot.y)]], dot.remarks);
    }),
    xAxis: { ...x, name: p.across, nameLocation: "middle", nameGap: 28, nameTextStyle: { color: colour("muted"), fontSize: 12 }, splitLine: { show: false } },
    yAxis: axis({ name: "", log: p.ylog, format: (v) => format(p.unit, v) }),
    series: [{ type: "scatter", silent: true, symbolSize: 0, data: p.extent.map((y) => [p.series[0]?.dots[0]?.x ?? 0, y]) }, ...p.series.flatMap((s) => {
      const item = (d: Dot) => ({ value: [d.x, d.y[0]], dot: d, name: s.name });
      const dots = s.dots.filter(positive).sort((a, b) => a.x - b.x);
      return [
        { type: "line", name: s.name, data: dots.filter((d) => d.usable).map(item), symbol: s.look.shape, symbolSize: 7, lineStyle: { color: s.look.colour, type: s.look.dash, width: p.numeric ? 1.8 : 0 }, itemStyle: { color: s.look.colour } },
        { type: "scatter", name: s.name, data: dots.filter((d) => !d.usable).map(item), symbol: s.look.shape, symbolSize: 7, itemStyle: { color: colour("card"), borderColor: colour("muted"), borderWidth: 2 } },
      ];
    })],
  };
}
