// Evaluated before any script of a page: the page's clock, its randomness, and its line to the host.
//
// Time stands still between actions. The host moves it with uiGym.tick(ms), and only then do timers
// and animation frames run, so that a page behaves the same on a slow machine and on a fast one.
(() => {
  "use strict";
  const EPOCH = Date.UTC(2026, 0, 15, 9, 0, 0);
  const RealDate = Date;
  const report = window.uiGymEvent;
  delete window.uiGymEvent;

  let now = 0;
  let timers = new Map();
  let lastTimer = 0;
  let randomState = 0;

  // mulberry32: small, seeded, good enough for a page.
  const random = () => {
    randomState = (randomState + 0x6d2b79f5) | 0;
    let t = Math.imul(randomState ^ (randomState >>> 15), 1 | randomState);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };

  const addTimer = (callback, delay, args, period) => {
    lastTimer += 1;
    timers.set(lastTimer, { at: now + Math.max(1, Number(delay) || 0), callback, args, period });
    return lastTimer;
  };
  const dropTimer = (id) => void timers.delete(id);

  const tick = (ms) => {
    const end = now + ms;
    for (let budget = 10000; budget > 0; budget -= 1) {
      let due = null;
      for (const [id, timer] of timers) {
        if (timer.at <= end && (due === null || timer.at < timers.get(due).at)) due = id;
      }
      if (due === null) break;
      const timer = timers.get(due);
      now = Math.max(now, timer.at);
      if (timer.period) timer.at = now + Math.max(1, timer.period);
      else timers.delete(due);
      try {
        if (typeof timer.callback === "function") timer.callback(...timer.args);
      } catch (error) {
        reportError(error);  // as the browser's own timers do: the others still run
      }
    }
    now = end;
  };

  class PageDate extends RealDate {
    constructor(...args) {
      if (args.length === 0) super(EPOCH + now);
      else super(...args);
    }
    static now() {
      return EPOCH + now;
    }
  }

  // Called without `new`, Date is a function that tells the time as text; a class alone would throw.
  window.Date = new Proxy(PageDate, { apply: () => new PageDate().toString() });
  Math.random = random;
  performance.now = () => now;
  window.setTimeout = (callback, delay, ...args) => addTimer(callback, delay, args, 0);
  window.setInterval = (callback, delay, ...args) => addTimer(callback, delay, args, delay || 1);
  window.clearTimeout = window.clearInterval = dropTimer;
  window.requestAnimationFrame = (callback) => addTimer(() => callback(now), 16, [], 0);
  window.cancelAnimationFrame = dropTimer;
  window.open = () => null;

  // -- what a screen reader would say --

  const ROLES = {
    A: "link", BUTTON: "button", TEXTAREA: "textbox", SELECT: "combobox", TABLE: "table", TD: "cell",
    TH: "columnheader", IMG: "image", NAV: "navigation", LI: "listitem", LABEL: "text", P: "text",
    H1: "heading", H2: "heading", H3: "heading", H4: "heading", OPTION: "option",
  };
  const INPUT_ROLES = {
    checkbox: "checkbox", radio: "radio", range: "slider", number: "spinbutton", button: "button",
    submit: "button", reset: "button",
  };

  const roleOf = (node) => {
    const given = node.getAttribute("role");
    if (given) return given;
    if (node.tagName === "INPUT") return INPUT_ROLES[node.type] || "textbox";
    if (ROLES[node.tagName]) return ROLES[node.tagName];
    const leaf = node.childElementCount === 0 && node.textContent.trim() !== "";
    return leaf ? "text" : null;
  };

  const nameOf = (node) => {
    const label = node.getAttribute("aria-label");
    if (label) return label;
    const by = node.getAttribute("aria-labelledby");
    if (by) return by.split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" ").trim();
    if (node.labels && node.labels.length) return node.labels[0].textContent.trim();
    if (node.tagName === "INPUT" || node.tagName === "TEXTAREA") return node.placeholder || node.title || "";
    return node.textContent.trim();
  };

  const statesOf = (node) => {
    const states = [];
    if (node === document.activeElement && node !== document.body) states.push("focused");
    if (node.disabled || node.getAttribute("aria-disabled") === "true") states.push("disabled");
    if (node.checked || node.getAttribute("aria-checked") === "true") states.push("checked");
    if (node.getAttribute("aria-selected") === "true") states.push("selected");
    if (node.getAttribute("aria-expanded") === "true") states.push("expanded");
    const typed = node.tagName === "INPUT" && !INPUT_ROLES[node.type];
    if (typed || node.tagName === "TEXTAREA") {
      const shown = node.type === "password" ? "•".repeat(node.value.length) : node.value;
      states.push(`value=${JSON.stringify(shown)}`);
    }
    return states;
  };

  const WHOLE = new Set(["button", "link", "textbox", "heading", "cell", "columnheader", "option"]);

  const elements = () => {
    const found = [];
    const visit = (node) => {
      if (node.getAttribute("aria-hidden") === "true") return;
      if (node.checkVisibility && !node.checkVisibility({ visibilityProperty: true })) return;
      const role = roleOf(node);
      if (role && role !== "table") {
        const box = node.getBoundingClientRect();
        const inside = box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
        if (inside && box.width > 0 && box.height > 0) {
          found.push([role, nameOf(node), box.left, box.top, box.width, box.height, statesOf(node)]);
        }
        if (WHOLE.has(role) && role !== "cell") return;
        if (role === "cell" && node.childElementCount === 0) return;
      }
      for (const child of node.children) visit(child);
    };
    if (document.body) visit(document.body);
    return found;
  };

  // -- the line to the host --

  const errors = [];
  const noteError = (event) => errors.push(String(event.error?.stack ?? event.message));

  const world = {
    params: null,
    state: () => ({}),
    log: (type, data = {}) => report(JSON.stringify({ type, data })),
    tick,
    elements,
    begin: (params, seed) => {
      timers = new Map();
      lastTimer = 0;
      now = 0;
      randomState = seed | 0;
      world.params = params;
      world.state = () => ({});
      for (const face of world.faces) document.fonts.add(face);
      errors.length = 0;
      window.addEventListener("error", noteError);  // a new document has lost its listeners
    },
    takeErrors: () => errors.splice(0),
    faces: [],
    addFace: async (family, weight, base64) => {
      const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
      const face = new FontFace(family, bytes, { weight });
      await face.load();
      world.faces.push(face);
    },
    box: (selector) => {
      const box = document.querySelector(selector)?.getBoundingClientRect();
      return box ? [box.left, box.top, box.width, box.height] : null;
    },
  };
  Object.defineProperty(window, "uiGym", { value: world, configurable: false, writable: false });
})();
