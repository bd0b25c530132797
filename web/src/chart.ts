// A chart that is made when it comes into view and fits its box; its owner draws it again when the theme changes.

import { BarChart, CustomChart, LineChart, ScatterChart } from "echarts/charts";
import { GridComponent, MarkAreaComponent, MarkLineComponent, MarkPointComponent, TooltipComponent } from "echarts/components";
import * as echarts from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { colour } from "./theme";

echarts.use([BarChart, LineChart, ScatterChart, CustomChart, GridComponent, TooltipComponent, MarkAreaComponent, MarkLineComponent, MarkPointComponent, SVGRenderer]);

export type Option = Record<string, unknown>;

const paper = 660; // pixels across a printed page

export class Chart {
  private chart: echarts.ECharts | null = null;
  private visible = false;
  private stale = false;

  constructor(private readonly box: HTMLElement, private readonly option: () => Option) {
    new IntersectionObserver((entries, self) => {
      if (!entries.some((e) => e.isIntersecting)) return;
      self.disconnect();
      this.show();
    }, { rootMargin: "400px" }).observe(box);
    new ResizeObserver(() => this.fit()).observe(box);
    addEventListener("beforeprint", () => {
      this.show();
      this.chart?.resize({ width: Math.min(paper, this.box.clientWidth || paper) });
      this.chart?.getZr().flush(); // paper doesn't wait for the next frame
    });
    addEventListener("afterprint", () => this.fit());
  }

  /** Draws again, once it has been seen. */
  draw(): void {
    if (!this.visible) { this.stale = true; return; }
    if (!this.box.clientWidth) return; // folded away; drawn when it is opened
    this.chart ??= echarts.init(this.box, null, { renderer: "svg" });
    this.chart.setOption({ ...basics(), ...this.option() }, { notMerge: true });
    this.stale = false;
  }

  private fit(): void {
    const { clientWidth: width, clientHeight: height } = this.box;
    if (width && height) this.chart?.resize({ width, height });
  }

  private show(): void {
    if (this.visible && !this.stale) return;
    this.visible = true;
    this.draw();
  }
}

function basics(): Option {
  return {
    animation: false,
    backgroundColor: "transparent",
    textStyle: { color: colour("text"), fontFamily: "inherit", fontSize: 12 },
  };
}

export interface AxisLook { name: string; log: boolean; format: (v: number) => string; min?: number; max?: number; decades?: boolean }

export function axis(a: AxisLook): Option {
  const tight = a.log && !a.decades;
  let low = 0, high = 0;
  return {
    type: a.log ? "log" : "value",
    name: a.name, nameLocation: "middle", nameGap: 30, nameTextStyle: { color: colour("muted"), fontSize: 12 },
    min: a.min ?? (tight ? (e: Extent) => (low = round(e.min / 1.2, Math.floor)) : undefined),
    max: a.max ?? (tight ? (e: Extent) => (high = round(e.max * 1.2, Math.ceil)) : undefined),
    axisLabel: {
      color: colour("muted"), hideOverlap: true, fontSize: 12,
      // Between decades only where there aren't two of them to read the axis by.
      formatter: (v: number) => (tight && decades(low, high) > 1 && !decade(v) ? "" : tidy(a.format(v))),
    },
    axisLine: { show: true, lineStyle: { color: colour("line") } },
    axisTick: { show: true, lineStyle: { color: colour("line") } },
    splitLine: { lineStyle: { color: colour("grid") } },
    minorSplitLine: { show: false },
  };
}

/** Without zeros that say nothing: "10 ms", not "10.0 ms". */
function tidy(label: string): string { return label.replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, ""); }

function decade(v: number): boolean { return Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-6; }

function decades(low: number, high: number): number {
  return low > 0 ? Math.floor(Math.log10(high) + 1e-6) - Math.ceil(Math.log10(low) - 1e-6) + 1 : 0;
}

interface Extent { min: number; max: number }

/** The next number of 1, 2, 3, 5, 10, …: a whole decade would leave half the chart empty. */
function round(v: number, way: (v: number) => number): number {
  if (!(v > 0) || !Number.isFinite(v)) return 1;
  const decade = 10 ** Math.floor(Math.log10(v)), steps = [1, 2, 3, 5, 10];
  const digit = v / decade;
  return decade * (way === Math.floor ? steps.filter((s) => s <= digit * 1.0001).pop()! : steps.find((s) => s >= digit * 0.9999)!);
}

export function tooltip(trigger: "item" | "axis", content: (p: never) => HTMLElement): Option {
  return {
    trigger, confine: true, transitionDuration: 0,
    backgroundColor: colour("card"), borderColor: colour("line"), textStyle: { color: colour("text"), fontSize: 13 },
    axisPointer: { type: "line", lineStyle: { color: colour("muted") } },
    formatter: content,
  };
}
