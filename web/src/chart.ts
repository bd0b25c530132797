// A chart that is made when it comes into view, and made anew when theme or size change.

import { BarChart, CustomChart, LineChart, ScatterChart } from "echarts/charts";
import { GridComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent } from "echarts/components";
import * as echarts from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { colour, onTheme } from "./theme";

echarts.use([BarChart, LineChart, ScatterChart, CustomChart, GridComponent, TooltipComponent, MarkAreaComponent, MarkLineComponent, SVGRenderer]);

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
    onTheme(() => this.draw());
    addEventListener("beforeprint", () => { this.show(); this.chart?.resize({ width: Math.min(paper, this.box.clientWidth || paper) }); });
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

export interface AxisLook { name: string; log: boolean; format: (v: number) => string; min?: number; max?: number }

export function axis(a: AxisLook): Option {
  return {
    type: a.log ? "log" : "value",
    name: a.name, nameLocation: "middle", nameGap: 30, nameTextStyle: { color: colour("muted"), fontSize: 12 },
    min: a.min ?? (a.log ? (e: Extent) => round(e.min / 1.2, Math.floor) : undefined),
    max: a.max ?? (a.log ? (e: Extent) => round(e.max * 1.2, Math.ceil) : undefined),
    axisLabel: { color: colour("muted"), formatter: a.format, hideOverlap: true, fontSize: 12 },
    axisLine: { show: true, lineStyle: { color: colour("line") } },
    axisTick: { show: true, lineStyle: { color: colour("line") } },
    splitLine: { lineStyle: { color: colour("grid") } },
    minorSplitLine: { show: false },
  };
}

interface Extent { min: number; max: number }

/** The next number of 1, 2, 3, 5, 10, …: a whole decade would leave half the chart empty. */
function round(v: number, way: (v: number) => number): number | undefined {
  if (!(v > 0)) return undefined;
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
