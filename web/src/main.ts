import { cost } from "./cost";
import { course } from "./course";
import { read } from "./data";
import { el } from "./dom";
import { format } from "./format";
import { percentiles } from "./percentiles";
import { repeat } from "./repeat";
import { knowNames } from "./style";
import { sweep } from "./sweep";
import { setUpTheme } from "./theme";
import { throughput } from "./throughput";

setUpTheme();
const data = read();
const figures = document.getElementById("figures");
if (data && figures) {
  knowNames(data.names);
  for (const draw of [throughput, percentiles, course, cost, sweep]) draw(data, figures);
  const host = document.getElementById("repeat");
  if (host) repeat(data, host);
}
contents();

const fewEnough = 14; // more sections are folded away

/** The list of sections, once there are enough to choose from. */
function contents(): void {
  const headings = [...document.querySelectorAll<HTMLElement>("main h2")];
  if (headings.length < 4) return;
  const items = headings.map((h, i) => {
    h.id ||= `section-${i}`;
    return el("li", {}, el("a", { href: "#" + h.id }, h.textContent ?? ""));
  });
  const list = el("ul", {}, ...items);
  const nav = el("nav", { "aria-label": "On this page" }, items.length > fewEnough ? el("details", {}, el("summary", {}, `On this page: ${items.length} sections`), list) : list);
  document.querySelector("main")?.before(nav);
}

// For the tests that hold the page's numbers to the program's.
(globalThis as Record<string, unknown>).brokermark = { format };
