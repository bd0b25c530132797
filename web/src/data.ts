// What the program computed (internal/page/data.go). Nothing here is computed again in the page, only drawn.

export type Summary = [median: number, low: number, high: number | null, n: number, atLeast?: number] | null;

export interface Metric { key: string; name: string; about?: string; unit: string; better: "" | "higher" | "lower" }
export interface Axis { name: string; values: string[]; numbers?: number[] }
export interface Curve { n: number; max: number; v: number[]; k?: number } // from v[k] on, and max: lower bounds, of messages that never came

export interface Point {
  id: string; name: string; broker: string; setting: string; load: string; measure: string; status: string;
}

export interface Level {
  p: number; load: string; rate?: number; status: string; missed?: boolean; reason?: string;
  at: number[]; m: (Summary | number)[] | null; h?: (Curve | null)[]; own?: Curve; doubts?: number[];
}

export interface Trial { p: number; kind: string; verdict: string; f: [rate: number, throughput: number, p50: number | null, p99: number | null] }

export interface Run {
  p: number; load: string; rep: number; status: string; reason?: string; doubts?: string[]; began: string; cores: number;
  t: number[]; phases: { name: string; until: number }[];
  panels: { i: number; v: (number | null)[][] }[]; // in Data.panels, and each line at each second
  faults?: { t: number; do: string; node: string; err?: string }[];
  books?: { name: string; n: number }[]; own?: { p99: number | null; max: number; t: number; gc: number; stolen: number; queued: number };
}

/** A part of the chart over time. */
export interface CoursePanel { title: string; unit: string; lines: string[] }

export interface Doubt { class: string; text: string }
export interface Repeating { heading: string; parts: { text?: string; lines?: number[] }[] } // lines: first, count, first, count, …

export interface Data {
  metrics: Metric[]; quantiles: number[]; latencies: string[]; // whose distributions levels have
  names: string[]; // of points, in the order of their colours
  costs: string[]; // keys of metrics
  axes: Axis[]; points: Point[]; levels: Level[]; trials?: Trial[]; runs: Run[]; panels: CoursePanel[]; runsLeftOut?: number;
  repeat: Repeating[]; lines: string[]; doubts: Doubt[];
}

export function read(): Data | null {
  return JSON.parse(document.getElementById("data")?.textContent ?? "null");
}

/** The index of a metric in Level.m, −1 where nothing in the page has it. */
export function metricIndex(d: Data, key: string): number {
  return d.metrics.findIndex((m) => m.key === key);
}

export function value(l: Level, index: number): Summary {
  const s = index >= 0 && l.m ? l.m[index] : null;
  return typeof s === "number" ? [s, s, s, 1] : s; // one value stands for itself
}

/** What makes a level's figures deserve less trust. */
export function doubts(d: Data, l: Level): Doubt[] {
  return l.doubts?.map((i) => d.doubts[i]) ?? [];
}

/** A doubt in words. */
export function worded(doubt: Doubt): string {
  return `${doubt.class}: ${doubt.text}`;
}

/** A level that ended ok and missed its rate is never a bare ok. */
export function ending(l: Level): string {
  return l.missed ? `${l.status}, rate missed` : l.status;
}

/** Orders levels as the names of their points are ordered. */
export function byName(d: Data, a: Level, b: Level): number {
  return d.names.indexOf(d.points[a.p].name) - d.names.indexOf(d.points[b.p].name);
}

/** Values in the order in which they first appear. */
export function distinct<T>(values: T[]): T[] {
  return [...new Set(values)];
}
