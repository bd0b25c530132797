// Numbers for people, as internal/unit/unit.go writes them; a test holds the two together.

type Scale = [from: number, factor: number, suffix: string];

const scales: Record<string, Scale[]> = {
  ns: [[1e9, 1e9, " s"], [1e6, 1e6, " ms"], [1e3, 1e3, " µs"], [0, 1, " ns"]],
  "per-second": [[1e9, 1e9, "G/s"], [1e6, 1e6, "M/s"], [1e3, 1e3, "k/s"], [0, 1, "/s"]],
  bytes: [[2 ** 40, 2 ** 40, " TiB"], [2 ** 30, 2 ** 30, " GiB"], [2 ** 20, 2 ** 20, " MiB"], [2 ** 10, 2 ** 10, " KiB"], [0, 1, " B"]],
  s: [[0, 1, " s"]],
  "cpu-s": [[0, 1, " s"]],
  share: [[0, 0.01, " %"]],
  factor: [[0, 1, "×"]],
  none: [[0, 1, ""]],
};

export function format(unit: string, v: number | null | undefined): string {
  if (v === null || v === undefined || Number.isNaN(v)) return "–";
  if (!Number.isFinite(v)) return "unknown";
  if (unit === "count") return grouped(v);
  if (v < 0) return "−" + format(unit, -v);
  for (const [from, factor, suffix] of scales[unit] ?? scales.none) {
    // What would be rounded up to the scale belongs to it: 999.9 µs is 1.00 ms, not 1000 µs.
    if (v >= from * 0.9995) return significant(v / factor, unit) + suffix;
  }
  return significant(v, unit);
}

/** "1.2–3.4 ms"; unknown bounds become "≥" and "≤". */
export function range(unit: string, low: number | null, high: number | null): string {
  if (low === null && high === null) return "unknown";
  if (high === null) return "≥ " + format(unit, low);
  if (low === null) return "≤ " + format(unit, high);
  const a = format(unit, low), b = format(unit, high);
  const suffix = (s: string) => s.replace(/^[0-9.−]+/, "");
  return (suffix(a) === suffix(b) ? a.slice(0, a.length - suffix(a).length) : a) + "–" + b;
}

type Spread = readonly [number, number | null, number | null, number, number?] | null;

/** A median: "1.31 ms", or "≥ 1.31 ms" where it is a lower bound. */
export function centre(unit: string, s: Spread): string { return s?.[4] ? range(unit, s[0], null) : format(unit, s?.[0]); }

/** A median with its spread and count: "1.31 ms [1.30–1.33 ms], n = 5". */
export function spread(unit: string, s: Spread): string {
  if (!s) return "–";
  const [, low, high, n, atLeast] = s;
  const interval = low === high || atLeast ? "" : ` [${range(unit, low, high)}]`;
  return `${centre(unit, s)}${interval}, n = ${n}`;
}

function significant(v: number, unit: string): string {
  if (Number.isInteger(v) && (v === 0 || (v < 100 && ["per-second", "bytes", "none"].includes(unit)))) return String(v);
  const rounded = Number(v.toPrecision(3));
  if (rounded < 1e-4) return exponent(rounded);
  return rounded.toFixed(Math.max(0, 2 - Math.floor(Math.log10(rounded))));
}

function exponent(v: number): string {
  const [digits, power] = v.toExponential().split("e");
  return `${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}

function grouped(v: number): string {
  const digits = Math.abs(Math.round(v)).toFixed(0);
  return (v < 0 ? "−" : "") + (digits.length > 4 ? digits.replace(/\B(?=(\d{3})+$)/g, " ") : digits);
}
