// Which levels a figure is about: those of one setting (message size and guarantee).

import { select } from "./dom";
import { distinct, doubts, worded, type Data, type Level, type Summary } from "./data";

export function settings(d: Data, levels: Level[]): string[] {
  return distinct(levels.map((l) => d.points[l.p].setting));
}

export function settingSelect(names: string[], chosen: string, change: (name: string) => void): HTMLElement {
  return select("Messages and guarantee", names.map((n) => ({ value: n, text: n })), chosen, change);
}

export function scaleSelect(label: string, log: boolean, change: (log: boolean) => void): HTMLElement {
  return select(label, [{ value: "log", text: "logarithmic" }, { value: "linear", text: "linear" }], log ? "log" : "linear", (v) => change(v === "log"));
}

/** Measured, but not to be used: void and failed levels, drawn hollow and never joined by a line. */
export function usable(l: Level): boolean { return l.status === "ok"; }

export function median(s: Summary): number { return s ? s[0] : NaN; }

/** What to say beside a level's figures. */
export function remarks(d: Data, l: Level): string[] {
  const said = doubts(d, l).map((t) => "Doubt: " + worded(t));
  return usable(l) ? said : [`${l.status}: ${l.reason ?? "no reason stored"} – in no conclusion`, ...said];
}
