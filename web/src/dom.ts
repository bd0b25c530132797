// Elements from text: no markup ever comes out of data.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | ((e: Event) => void) | null | undefined>;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [name, v] of Object.entries(attributes)) {
    if (v === null || v === undefined || v === false) continue;
    if (typeof v === "function") e.addEventListener(name, v);
    else e.setAttribute(name, v === true ? "" : String(v));
  }
  append(e, ...children);
  return e;
}

export function append(parent: Node, ...children: Child[]): void {
  for (const c of children) if (c || c === "") parent.appendChild(typeof c === "string" ? document.createTextNode(c) : c);
}

export interface Choice { value: string; text: string; group?: string }

/** A labelled select. With one choice there is nothing to choose and nothing is shown. */
export function select(label: string, choices: Choice[], chosen: string, change: (value: string) => void): HTMLElement {
  const s = el("select", { change: () => change(s.value) });
  const groups = new Map<string, HTMLElement>();
  for (const c of choices) {
    const option = el("option", { value: c.value, selected: c.value === chosen }, c.text);
    if (c.group === undefined) { s.appendChild(option); continue; }
    const group = groups.get(c.group) ?? s.appendChild(el("optgroup", { label: c.group }));
    groups.set(c.group, group);
    group.appendChild(option);
  }
  return el("label", { class: "control", hidden: choices.length < 2 }, el("span", {}, label), s);
}

export function checkbox(label: string, checked: boolean, change: (on: boolean) => void): HTMLElement {
  const box = el("input", { type: "checkbox", checked, change: () => change(box.checked) });
  return el("label", { class: "control check" }, box, el("span", {}, label));
}

export interface Cell { text: string; number?: boolean; header?: boolean; class?: string; title?: string }
export interface Grid { caption?: string; columns: { name: string; number?: boolean }[]; rows: (Cell | string)[][] }

/** A table whose first column heads its rows, in a region that can be scrolled with the keyboard. */
export function table(g: Grid, label: string): HTMLElement {
  const head = el("tr", {}, ...g.columns.map((c) => el("th", { scope: "col", class: c.number ? "n" : null }, c.name)));
  const body = el("tbody", {}, ...g.rows.map((row) => el("tr", {}, ...row.map((cell, i) => {
    const c = typeof cell === "string" ? { text: cell } : cell;
    const attributes = { class: [g.columns[i]?.number ? "n" : "", c.class ?? ""].join(" ").trim() || null, title: c.title };
    return i === 0 ? el("th", { scope: "row", ...attributes }, c.text) : el("td", attributes, c.text);
  }))));
  return el("div", { class: "scroll", role: "group", tabindex: 0, "aria-label": label },
    el("table", {}, g.caption ? el("caption", {}, g.caption) : null, el("thead", {}, head), body));
}
