// One look per name, the same in every figure: colour and shape, and other shapes and dashes once the colours are used up.

import { dark } from "./theme";

const light = ["#0067a5", "#c4500a", "#00805c", "#a63d84", "#7d6200", "#5b48a8", "#5a6472", "#c3263a"];
const night = ["#5ab4f0", "#ff9a52", "#3fd0a2", "#ee8fc8", "#e0c24c", "#b3a1ff", "#b8c0cc", "#ff8088"];
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
  const palette = dark() ? night : light;
  const shape = shapes[(i + 2 * Math.floor(i / palette.length)) % shapes.length]; // never the one that the colour had before
  return { colour: palette[i % palette.length], shape, dash: dashes[Math.floor(i / palette.length) % dashes.length] };
}
