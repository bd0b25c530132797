// Everything needed to repeat a point: made when it is looked at.

import type { Data, Repeating } from "./data";
import { append, el } from "./dom";

const atOnce = 50;
const onPaper = 12; // more points than this are printed only where they are open

export function repeat(d: Data, host: HTMLElement): void {
  append(host, el("h2", { id: "repeat-title" }, "Repeat it"),
    el("p", {}, "Each point's complete spec, every default filled in, with the settings in force, the versions and the host. Save a spec as point.yaml and run it:"),
    el("pre", { tabindex: 0 }, "brokermark check point.yaml\nbrokermark run point.yaml\nbrokermark report"));
  host.setAttribute("aria-labelledby", "repeat-title");
  host.removeAttribute("aria-label");
  const list = el("div", {}), count = el("p", { class: "about", "aria-live": "polite" });
  const fill = (words: string) => {
    const wanted = words.toLowerCase().split(/\s+/).filter((w) => w);
    const found = d.repeat.filter((r) => wanted.every((w) => r.heading.toLowerCase().includes(w)));
    list.replaceChildren(...found.slice(0, atOnce).map((r) => entry(d, r)));
    count.textContent = found.length > atOnce ? `The first ${atOnce} of ${found.length} points; type to find others.` : "";
  };
  if (d.repeat.length > onPaper) {
    const input = el("input", { type: "search", placeholder: "kafka 1 KiB", input: () => fill(input.value) });
    append(host, el("label", { class: "control" }, el("span", {}, "Find a point"), input));
  }
  append(host, count, list);
  fill("");
  if (d.repeat.length > onPaper) append(host, el("p", { class: "print-only" }, `Of ${d.repeat.length} points only those are printed that were open in the page.`));
  else printAll(d, list);
}

function printAll(d: Data, list: HTMLElement): void {
  let opened: HTMLDetailsElement[] = [];
  addEventListener("beforeprint", () => {
    opened = [...list.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
    list.querySelectorAll<HTMLDetailsElement>("details").forEach((box, i) => fillEntry(d, d.repeat[i], box));
    for (const box of opened) box.open = true;
  });
  addEventListener("afterprint", () => { for (const box of opened) box.open = false; });
}

function entry(d: Data, r: Repeating): HTMLElement {
  const box = el("details", { class: "point", toggle: () => { if (box.open) fillEntry(d, r, box); } }, el("summary", {}, r.heading));
  return box;
}

function fillEntry(d: Data, r: Repeating, box: HTMLElement): void {
  if (box.childElementCount > 1) return;
  append(box, ...r.parts.map((p) => (p.lines ? listing(lines(d, p.lines)) : el("p", {}, p.text ?? ""))));
}

function lines(d: Data, ranges: number[]): string {
  let text = "";
  for (let i = 0; i < ranges.length; i += 2) text += d.lines.slice(ranges[i], ranges[i] + ranges[i + 1]).join("");
  return text;
}

function listing(text: string): HTMLElement {
  const pre = el("pre", { tabindex: 0 }, text);
  const button = el("button", { type: "button", class: "plain", click: () => {
    getSelection()?.selectAllChildren(pre);
    navigator.clipboard?.writeText(text).then(() => { button.textContent = "Copied"; }, () => { button.textContent = "Selected: copy it"; });
  } }, "Copy");
  return el("div", { class: "listing" }, button, pre);
}
