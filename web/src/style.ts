// One look per name, the same in every figure: colour and shape, and other shapes and dashes once the colours are used up.

import { colour } from "./theme";

const colours = 8; // --c0 to --c7 in page.css; internal/page gives them to the same names
const shapes = ["circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow"];
const dashes: (number[] | "solid")[] = ["solid", [7, 4], [2, 3], [9, 3, 2, 3]];

const known: string[] = [];

export interface Look { colour: string; shape: string; dash: number[] | "solid" }

export function knowNames(names: string[]): void {
  for (const n of names) if (!known.includes(n)) known.push(n);
}

export function look(name: string): Look {
  knowNames([name]);
  return lookAt(known.indexOf(name));
}

/** The look of the i-th thing, for series that are not names. */
export function lookAt(i: number): Look {
  const shape = shapes[(i + 2 * Math.floor(i / colours)) % shapes.length]; // never the one that the colour had before
  return { colour: colour("c" + (i % colours)), shape, dash: dashes[Math.floor(i / colours) % dashes.length] };
}
