// Light and dark: the reader's system decides until the button does.

const listeners: (() => void)[] = [];

export function onTheme(f: () => void): void { listeners.push(f); }

export function dark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

export function setUpTheme(): void {
  const button = document.getElementById("theme") as HTMLButtonElement;
  const show = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Switch to light colours" : "Switch to dark colours");
    for (const f of listeners) f();
  };
  try {
    const kept = localStorage.getItem("brokermark-theme");
    if (kept) document.documentElement.dataset.theme = kept;
  } catch { /* a file opened without storage: the system's theme it is */ }
  button.hidden = false;
  button.addEventListener("click", () => {
    const chosen = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = chosen;
    try { localStorage.setItem("brokermark-theme", chosen); } catch { /* forgotten with the page */ }
    show();
  });
  // Paper is light, and charts take their colours when they are drawn.
  let before: string | undefined;
  addEventListener("beforeprint", () => { before = document.documentElement.dataset.theme; document.documentElement.dataset.theme = "light"; show(); });
  addEventListener("afterprint", () => { before ? (document.documentElement.dataset.theme = before) : delete document.documentElement.dataset.theme; show(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}
