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

  // -- the line to the host --

  const errors = [];
  const noteError = (event) => errors.push(String(event.error?.stack ?? event.message));
  const noteCopy = () => void (world.copied = true);

  const world = {
    params: null,
    state: () => ({}),
    log: (type, data = {}) => report(JSON.stringify({ type, data })),
    tick,
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
      for (const type of ["copy", "cut"]) window.addEventListener(type, noteCopy);
    },
    copied: false,
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
