// Numbers and times as text. What is missing is a dash.

const NONE = "–";

const missing = (x) => x === null || x === undefined || Number.isNaN(x);

/** 0.425 -> "42.5 %"; whole percents without a digit. */
export function percent(x, digits = 1) {
  if (missing(x)) return NONE;
  const text = (100 * x).toFixed(digits).replace("-", "−");
  return `${text.replace(/\.0+$/, "")} %`;
}

/** "42.5 % (36–49, n 200)": the rate, its interval in percent, how many. */
export function rate(value) {
  if (!value || !value.n) return NONE;
  const whole = (x) => Math.round(100 * x);
  return `${percent(value.success)} (${whole(value.low)}–${whole(value.high)}, n ${value.n})`;
}

/** A difference of two rates in percentage points: "+3.2". */
export function points(x) {
  if (missing(x)) return NONE;
  const text = Math.abs(100 * x).toFixed(1);
  return `${Number(text) === 0 ? "±" : x < 0 ? "−" : "+"}${text}`;
}

/** Three or four significant digits, thin spaces between thousands. */
export function number(x) {
  if (missing(x)) return NONE;
  if (typeof x !== "number") return String(x);
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const size = Math.abs(x);
  if (size !== 0 && size < 0.001) return x.toExponential(1).replace("-", "−");
  if (Number.isInteger(x)) return grouped(x);
  return size >= 1000 ? grouped(Math.round(x)) : String(Number(x.toPrecision(4)));
}

function grouped(x) {
  return String(x).replace(/\B(?=(\d{3})+$)/g, "\u2009");
}

/** How long ago: "now", "12 s ago", "3 min ago", "2 h ago", "5 d ago". */
export function ago(seconds) {
  if (missing(seconds)) return NONE;
  if (seconds < 2) return "now";
  const units = [[60, 1, "s"], [3600, 60, "min"], [86400, 3600, "h"], [Infinity, 86400, "d"]];
  const [, size, name] = units.find(([limit]) => seconds < limit);
  return `${Math.floor(seconds / size)} ${name} ago`;
}

/** A length of time: "0.42 s", "12.3 s", "3:05", "2:03:05". */
export function clock(seconds) {
  if (missing(seconds)) return NONE;
  if (seconds < 1) return `${seconds.toFixed(2)} s`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const two = (value) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const rest = whole % 60;
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** An ISO time as people read it here: today's without the date. */
export function when(iso) {
  if (!iso) return NONE;
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  const same = time.toDateString() === new Date().toDateString();
  const hour = time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
  if (same) return hour;
  const day = time.toLocaleDateString([], { year: "numeric", month: "short", day: "numeric" });
  return `${day} ${hour}`;
}

/** Bytes: "512 B", "1.4 MB". */
export function bytes(x) {
  if (missing(x)) return NONE;
  let [value, unit] = [x, 0];
  while (value >= 1000 && unit < 4) [value, unit] = [value / 1000, unit + 1];
  const text = unit ? value.toFixed(value < 10 ? 1 : 0) : value;
  return `${text} ${["B", "kB", "MB", "GB", "TB"][unit]}`;
}

const KINDS = {
  step: "training",
  baseline: "before training",
  evaluation: "evaluation",
  final: "after training",
  filter: "choice of tasks",
};

/** The kinds of episodes, in the order of training: [value, text]. */
export const KIND_OPTIONS = ["baseline", "step", "evaluation", "final", "filter"].map((kind) => [
  kind,
  KINDS[kind],
]);

/** What an episode or measurement was for: "evaluation, step 40, greedy". */
export function purpose({ kind, step, mode }) {
  const parts = [KINDS[kind] ?? kind, step ? `step ${step}` : "", mode];
  return parts.filter(Boolean).join(", ") || NONE;
}

/** The ways in which an episode goes wrong: [short name, what it means]. */
export const WHATS = {
  parse: ["no action", "Some text was no action that could be read"],
  no_effect: ["no effect", "An action left the picture as it was"],
  loop: ["loop", "The same said again without effect, three times or more"],
  out_of_steps: ["out of steps", "The limit of turns came before the end"],
  wrong: ["wrong end", "Ended by itself without success"],
  fault: ["fault", "The environment's fault: says nothing about the agent"],
};
