// What a message costs: bars as a table, so that they read aloud and print as they are.

import { byName, distinct, doubts, metricIndex, value, type Data, type Level } from "./data";
import { append, el, select } from "./dom";
import { section } from "./figure";
import { format, spread, range } from "./format";
import { remarks, settings, settingSelect, usable } from "./pick";

export function cost(d: Data, main: HTMLElement): void {
  const known = d.costs.map((key) => metricIndex(d, key)).filter((i) => i >= 0);
  const all = d.levels.filter((l) => known.some((i) => value(l, i)));
  if (!all.length) return;
  const names = settings(d, all);
  const loads = (setting: string) => distinct(all.filter((l) => d.points[l.p].setting === setting).map((l) => l.load));
  let setting = names[0], load = loads(setting)[0];
  const host = section(main, "cost", "Cost per message", "Of the broker's whole process tree and of the load generator. Blank: not known, which is not zero.");
  const controls = el("div", { class: "controls" }), place = el("div", {});
  append(host, controls, place);
  const draw = () => {
    if (!loads(setting).includes(load)) load = loads(setting)[0];
    controls.replaceChildren(
      settingSelect(names, setting, (v) => { setting = v; draw(); }),
      select("Load", loads(setting).map((v) => ({ value: v, text: v })), load, (v) => { load = v; draw(); }),
    );
    const rows = all.filter((l) => d.points[l.p].setting === setting && l.load === load)
      .sort((a, b) => byName(d, a, b));
    place.replaceChildren(bars(d, rows, known, `Cost per message, ${setting}, ${load}`));
  };
  draw();
}

function bars(d: Data, rows: Level[], known: number[], caption: string): HTMLElement {
  const most = known.map((index) => Math.max(0, ...rows.map((l) => value(l, index)?.[0] ?? 0)));
  return el("div", { class: "scroll", role: "group", tabindex: 0, "aria-label": caption }, el("table", { class: "bars" },
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "who"), ...known.map((index) => el("th", { scope: "col" }, d.metrics[index].name, el("small", {}, d.metrics[index].about ?? null))))),
    el("tbody", {}, ...rows.map((l) => el("tr", { class: usable(l) ? null : "unused" },
      el("th", { scope: "row", title: remarks(d, l).join(" ") || null }, d.points[l.p].name, usable(l) ? null : el("small", {}, `${l.status}, in no conclusion`),
        l.doubts ? el("small", {}, "doubts: " + distinct(doubts(d, l).map((doubt) => doubt.class)).join(", ")) : null),
      ...known.map((index, i) => {
        const s = value(l, index), unit = d.metrics[index].unit;
        if (!s) return el("td", {}, "–");
        const bar = el("span", { class: "bar" });
        bar.style.width = `${most[i] ? Math.max(0.5, (100 * s[0]) / most[i]) : 0}%`;
        return el("td", { title: spread(unit, s) }, el("span", { class: "bar-value" }, format(unit, s[0]),
          s[1] !== s[2] ? el("small", {}, ` [${range(unit, s[1], s[2])}]`) : null, el("small", {}, ` n=${s[3]}`)), el("span", { class: "bar-track" }, bar));
      }))))));
}
