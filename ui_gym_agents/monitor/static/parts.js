// The parts that all pages are made of.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.js";
import { isStatic, useConnected } from "./api.js";
import { percent, rate as rateText, WHATS } from "./format.js";
import { go, link } from "./router.js";

// -- states of a page -----------------------------------------------------------------------------

export function Loading({ text = "Loading…" }) {
  return html`<div class="state" role="status"><span class="spinner" aria-hidden="true"></span>
    ${text}</div>`;
}

export function Failed({ error, retry }) {
  return html`
    <div class="state bad" role="alert">
      <strong>This could not be loaded.</strong>
      <span>${error?.message ?? String(error)}</span>
      ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
    </div>
  `;
}

export function Empty({ title, hint, children }) {
  return html`
    <div class="state">
      <strong>${title}</strong>
      ${hint && html`<span>${hint}</span>`} ${children}
    </div>
  `;
}

/** What to show of `useData`: its fault, that it is loading, or the drawing of its data. */
export function Shown({ of, children }) {
  const { data, error, loading, reload } = of;
  if (data === undefined) {
    if (error) return html`<${Failed} error=${error} retry=${reload} />`;
    return loading ? html`<${Loading} />` : null;
  }
  return [
    error && html`<p class="notice bad" role="alert">
      Not up to date: ${error.message} <button type="button" onClick=${reload}>
        Try again</button></p>`,
    children(data),
  ];
}

// -- small things ---------------------------------------------------------------------------------

const STATUS = {
  running: "The run's process is at work",
  finished: "Ended as planned",
  interrupted: "Stopped before its end; it can be resumed",
  failed: "Ended with an error",
  lost: "Says it is running, but its process is gone",
  gone: "Its files are no longer there",
  read: "Read from files; not a run of its own",
};

export function Pill({ status }) {
  return html`<span class="pill ${status}" title=${STATUS[status] ?? ""}>${status}</span>`;
}

/** A rate as a bar with its interval; the text beside it says the same. */
export function RateBar({ rate, text = true }) {
  if (!rate || !rate.n) return html`<span class="faint">–</span>`;
  const at = (x) => `${Math.min(100, Math.max(0, 100 * x))}%`;
  const band = { left: at(rate.low), width: at(rate.high - rate.low) };
  return html`
    <span class="rate" title=${rateText(rate)}>
      <span class="bar" aria-hidden="true">
        <span class="fill" style=${{ width: at(rate.success) }}></span>
        <span class="band" style=${band}></span>
        <span class="tick" style=${{ left: at(rate.success) }}></span>
      </span>
      ${text && html`<span class="num">${percent(rate.success)}</span>`}
    </span>
  `;
}

/** How an episode ended: success, failure, or the environment's fault; overrides are marked. */
export function Outcome({ of }) {
  if (of.failure) return html`<span class="outcome fault" title=${of.failure}>fault</span>`;
  const won = of.override ? of.override === "success" : of.success;
  const title = of.override ? "A person has overridden the judge" : "";
  return html`
    <span class="outcome ${won ? "won" : "lost"}" title=${title}>
      ${won ? "success" : "failure"}${of.override && html`<span class="over">overridden</span>`}
    </span>
  `;
}

/** The ways in which an episode went wrong. */
export function Whats({ whats }) {
  return (whats ?? []).map((what) => {
    const [name, title] = WHATS[what] ?? [what, ""];
    return html`<span key=${what} class="what ${what}" title=${title}>${name}</span>`;
  });
}

/** Links side by side, of which one is where we are: `items` = [{name, text, href, count}]. */
export function Tabs({ items, active, label = "Pages of this run" }) {
  return html`
    <nav class="tabs" aria-label=${label}>
      ${items.map(
        ({ name, text, href, count }) => html`
          <a key=${name} href=${href} aria-current=${name === active ? "page" : null}>
            ${text}${count !== undefined && html` <span class="count">${count}</span>`}
          </a>
        `,
      )}
    </nav>
  `;
}

/** The way to here: `items` = [{text, href}], the last without a link. */
export function Crumbs({ items }) {
  return html`
    <nav class="crumbs" aria-label="Way to this page">
      <ol>
        ${items.map(
          ({ text, href }, at) => html`
            <li key=${at}>
              ${href ? html`<a href=${href}>${text}</a>` : html`<span aria-current="page">
                ${text}</span>`}
            </li>
          `,
        )}
      </ol>
    </nav>
  `;
}

/** The tabs of a run, the same on all its pages. */
export function RunTabs({ run, active }) {
  const page = (name, text) => ({ name, text, href: link(["run", run, name]) });
  const items = [
    { name: "run", text: "Overview", href: link(["run", run]) },
    page("episodes", "Episodes"),
    page("groups", "Groups"),
    page("failures", "Failures"),
    page("through", "Through training"),
    page("workers", "Workers"),
  ];
  return html`<${Tabs} items=${items} active=${active} />`;
}

/** A modal dialog: the browser keeps the focus inside, Escape closes. */
export function Dialog({ open, title, onClose, children, actions }) {
  const ref = useRef(null);
  useEffect(() => {
    const box = ref.current;
    if (open && !box.open) box.showModal();
    if (!open && box.open) box.close();
  }, [open]);
  return html`
    <dialog ref=${ref} aria-label=${title} onClose=${onClose}
      onClick=${(event) => event.target === ref.current && ref.current.close()}>
      ${open && html`
        <div class="dialog">
          <header><h2>${title}</h2><button type="button" class="quiet" aria-label="Close"
            onClick=${() => ref.current.close()}>✕</button></header>
          <div class="content">${children}</div>
          ${actions && html`<footer>${actions}</footer>`}
        </div>
      `}
    </dialog>
  `;
}

/** A list to choose from: `options` = [value] or [[value, text]]. */
export function Select({ label, value, options, onChange, hidden = false }) {
  return html`
    <label class="field">
      <span class=${hidden ? "unseen" : "label"}>${label}</span>
      <select value=${value ?? ""} onChange=${(event) => onChange(event.target.value)}>
        ${options.map((option) => {
          const [name, text] = Array.isArray(option) ? option : [option, option];
          return html`<option key=${name} value=${name}
            selected=${String(name) === String(value ?? "")}>${text}</option>`;
        })}
      </select>
    </label>
  `;
}

/** A field of text that tells `onChange` when typing pauses, or at once with Enter. */
export function Field({ label, value, onChange, type = "search", hint = "", id, hidden = false }) {
  const [text, setText] = useState(value ?? "");
  const timer = useRef(0);
  // Before it is painted, and not while somebody types: nothing that is typed is lost.
  useLayoutEffect(() => {
    if (!timer.current) setText(value ?? "");
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const say = (next, wait) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      timer.current = 0;
      onChange(next.trim());
    }, wait);
  };
  const onKeyDown = (event) => {
    if (event.key === "Enter") say(event.target.value, 0);
    if (event.key === "Escape") event.target.blur();
  };
  return html`
    <label class="field ${type}">
      <span class=${hidden ? "unseen" : "label"}>${label}</span>
      <input id=${id} type=${type} value=${text} placeholder=${hint} autocomplete="off"
        spellcheck=${false}
        onInput=${(event) => say(event.target.value, 300)} onKeyDown=${onKeyDown} />
    </label>
  `;
}

// -- keys -----------------------------------------------------------------------------------------

const bound = []; // the latest comes first
let before = { key: "", at: 0 }; // for two keys in a row: "g r"

function typing(target) {
  if (target.isContentEditable) return true;
  if (["TEXTAREA", "SELECT"].includes(target.tagName)) return true;
  return target.tagName === "INPUT" && !["checkbox", "radio", "button", "range"].includes(target.type);
}

// Enter and the space bar belong to the control that has the focus.
function native(event) {
  return ["Enter", " "].includes(event.key) && event.target.closest?.("a, button, summary, input");
}

function find(names) {
  for (const name of names)
    for (const keys of bound) {
      const entry = keys.current[name];
      if (entry) return Array.isArray(entry) ? entry[0] : entry;
    }
  return null;
}

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing(event.target) || native(event) || document.querySelector("dialog[open]")) return;
  const small = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const pair = performance.now() - before.at < 1000 ? [`${before.key} ${small}`] : [];
  before = { key: small, at: performance.now() };
  const work = find(pair) ?? find([event.key, small]);
  if (!work) return;
  before.at = pair.length && find(pair) ? 0 : before.at;
  event.preventDefault();
  work(event);
}

document.addEventListener("keydown", pressed);

/**
 * Binds keys while the component is shown: `{"j": fn}`, `{"g r": fn}` (one after the other), or
 * `{"j": [fn, "Next row"]}` to have it in the key help. Keys typed into a field are not heard.
 */
export function useKeys(keys) {
  const latest = useRef(keys);
  latest.current = keys;
  // Before it is painted: whoever sees a page may press its keys.
  useLayoutEffect(() => {
    bound.unshift(latest);
    return () => bound.splice(bound.indexOf(latest), 1);
  }, []);
}

/** What the key help lists: [key, text], the page's own keys first. */
function keyTexts() {
  const texts = new Map();
  for (const keys of bound)
    for (const [name, entry] of Object.entries(keys.current))
      if (Array.isArray(entry) && entry[1] && !texts.has(name)) texts.set(name, entry[1]);
  return [...texts];
}

const KEY_NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", " ": "Space" };

function KeyHelp({ open, onClose }) {
  return html`
    <${Dialog} open=${open} title="Keys" onClose=${onClose}>
      <dl class="keys">
        ${keyTexts().map(
          ([name, text]) => html`
            <div key=${name}>
              <dt>${(name === " " ? [name] : name.split(" ")).map((key) => html`<kbd>
                ${KEY_NAMES[key] ?? key}</kbd>`)}</dt>
              <dd>${text}</dd>
            </div>
          `,
        )}
      </dl>
    <//>
  `;
}

// The browser's history notes which row had the focus last: whoever comes back finds it again.
function useReturn(ref, selector) {
  const done = useRef(false);
  useEffect(() => {
    const box = ref.current;
    if (!box) return undefined;
    const note = (event) => {
      const row = event.target.closest?.(selector);
      if (row) history.replaceState({ row: row.getAttribute("href") }, "");
    };
    box.addEventListener("focusin", note);
    return () => box.removeEventListener("focusin", note);
  });
  useEffect(() => {
    const wanted = history.state?.row;
    if (done.current || !wanted || !ref.current) return;
    const rows = [...ref.current.querySelectorAll(selector)];
    const row = rows.find((one) => one.getAttribute("href") === wanted);
    if (!row) return;
    done.current = true;
    if (document.activeElement !== document.body) return;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "center" });
  });
}

/**
 * J and K move the focus through the links that match `selector` inside `ref`; Enter then opens, as
 * on any link. Coming back to the page, the link that was opened has the focus again.
 */
export function useRows(ref, selector) {
  useReturn(ref, selector);
  const move = (step) => {
    const rows = [...(ref.current?.querySelectorAll(selector) ?? [])];
    if (!rows.length) return;
    const here = rows.findIndex((row) => row === document.activeElement);
    const row = document.activeElement?.closest?.("tr, li");
    const near = here >= 0 || !row ? here : rows.findIndex((one) => row.contains(one));
    const next = near < 0 ? (step > 0 ? 0 : rows.length - 1) : near + step;
    const target = rows[Math.min(rows.length - 1, Math.max(0, next))];
    target.focus();
    target.closest("tr, li")?.scrollIntoView({ block: "nearest" });
  };
  useKeys({ j: [() => move(1), "Next row (Enter opens it)"], k: [() => move(-1), "Previous row"] });
}

// -- theme ----------------------------------------------------------------------------------------

const THEME = "ui-gym-monitor-theme";

/** Takes the theme that was chosen last; without one the system's holds. */
export function restoreTheme() {
  try {
    const chosen = localStorage.getItem(THEME);
    if (chosen) document.documentElement.dataset.theme = chosen;
  } catch {
    // Storage may be forbidden; the system's theme then holds.
  }
}

/** Whether the page is dark now. */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen) return chosen === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function toggleTheme() {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // As above: it then holds for this page only.
  }
  document.dispatchEvent(new CustomEvent("theme"));
}

/** Counts changes of the theme: what is drawn by hand is drawn again. */
export function useTheme() {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const changed = () => setCount((value) => value + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    document.addEventListener("theme", changed);
    system.addEventListener("change", changed);
    return () => {
      document.removeEventListener("theme", changed);
      system.removeEventListener("change", changed);
    };
  }, []);
  return count;
}

// -- the frame ------------------------------------------------------------------------------------

function focusSearch() {
  const field = document.querySelector("main input[type=search]");
  field?.focus();
  field?.select();
}

function runKeys(run) {
  if (!run) return {};
  const to = (name, text) => [() => go(name ? ["run", run, name] : ["run", run]), text];
  return {
    "g o": to("", "Go to the run's overview"),
    "g e": to("episodes", "Go to its episodes"),
    "g g": to("groups", "Go to its groups"),
    "g f": to("failures", "Go to its failures"),
    "g t": to("through", "Go through its training"),
    "g w": to("workers", "Go to its workers"),
  };
}

/** The header with the way home, the stream's state, theme and key help; and the page below. */
export function Shell({ route, children }) {
  const [help, setHelp] = useState(false);
  const connected = useConnected();
  useKeys({
    "/": [focusSearch, "Search"],
    "?": [() => setHelp(true), "This help"],
    t: [toggleTheme, "Light or dark"],
    "g r": [() => go([]), "Go to the runs"],
    "g c": [() => go(["compare"]), "Go to compare"],
    ...runKeys(route.run),
  });
  const here = (view) => (route.view === view ? "page" : null);
  return html`
    <header class="top">
      <a class="home" href="#/" aria-current=${here("runs")}>ui-gym <span>monitor</span></a>
      <nav aria-label="Main">
        <a href="#/" aria-current=${here("runs")}>Runs</a>
        ${!isStatic() && html`<a href="#/compare" aria-current=${here("compare")}>Compare</a>`}
      </nav>
      <span class="live ${connected ? "" : "off"}" role="status">
        ${isStatic() ? "exported page" : connected ? "live" : "no connection, trying again"}
      </span>
      <button type="button" class="quiet" onClick=${toggleTheme} aria-label="Light or dark (t)"
        title="Light or dark (t)">◐</button>
      <button type="button" class="quiet" onClick=${() => setHelp(true)} aria-label="Keys (?)"
        title="Keys (?)">?</button>
    </header>
    <main id="main" tabindex="-1">${children}</main>
    <${KeyHelp} open=${help} onClose=${() => setHelp(false)} />
  `;
}
