// Evaluated before any script of a page: the page's clock, its randomness, and its line to the host.
//
// Time stands still between actions. The host moves it with uiGym.tick(ms), and only then do timers
// and animation frames run, so that a page behaves the same on a slow machine and on a fast one.
(() => {
  "use strict";
  const EPOCH = Date.UTC(2026, 0, 15, 9, 0, 0);
  const RealDate = Date;
  const nextFrame = window.requestAnimationFrame.bind(window);
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
  window.print = () => {};
  for (const request of ["requestFullscreen", "requestPointerLock"]) {
    Element.prototype[request] = () => Promise.reject(new TypeError("Permissions check failed"));
  }

  // -- the wheel --
  //
  // It scrolls here and at once: the browser's own way does so some frames later, on a thread of its
  // own. On a busy machine the browser gives a wheel to nobody now and then, or as one that cannot be
  // taken from it and that it then forgets. The host looks after both by uiGym.wheels().

  const scrolls = (overflow) => overflow !== "hidden" && overflow !== "clip" && overflow !== "visible";
  const hasRoom = (delta, at, seen, all) => (delta > 0 ? at + seen < all - 0.5 : delta < 0 && at > 0.5);

  // The window scrolls unless the root, or else the body, forbids it (CSS Overflow 3, section 3.3).
  const overflowOfWindow = (page) => {
    const styles = [page.documentElement, page.body].filter(Boolean).map((node) => page.defaultView.getComputedStyle(node));
    const set = styles.find((style) => style.overflowX !== "visible" || style.overflowY !== "visible");
    return set ? [set.overflowX, set.overflowY] : ["auto", "auto"];
  };

  const around = (node, style) => {
    const root = node.ownerDocument.scrollingElement;
    if (style.position === "fixed" && node !== root) return root;
    const parent = node.assignedSlot ?? node.parentElement ?? node.getRootNode().host;
    return parent ?? node.ownerDocument.defaultView.frameElement;
  };

  // What a wheel over `node` scrolls: the first around it that has room and lets the wheel come by.
  const scrolledBy = (node, dx, dy) => {
    for (let style; node; node = around(node, style)) {
      style = node.ownerDocument.defaultView.getComputedStyle(node);
      const isRoot = node === node.ownerDocument.scrollingElement;
      const [x, y] = (isRoot ? overflowOfWindow(node.ownerDocument) : [style.overflowX, style.overflowY]).map(scrolls);
      if (x && hasRoom(dx, node.scrollLeft, node.clientWidth, node.scrollWidth)) return node;
      if (y && hasRoom(dy, node.scrollTop, node.clientHeight, node.scrollHeight)) return node;
      if (dy && y && style.overscrollBehaviorY !== "auto") return null;
      if (dx && x && style.overscrollBehaviorX !== "auto") return null;
    }
    return null;
  };

  let wheels = 0;
  let owed = null; // the scrolling that the browser has to do itself

  const countWheel = () => void (wheels += 1);
  const onWheel = (event) => {
    if (event.defaultPrevented || event.ctrlKey) return;
    const node = scrolledBy(event.composedPath().find((each) => each instanceof Element), event.deltaX, event.deltaY);
    const by = { left: event.deltaX, top: event.deltaY, behavior: "instant" };
    if (!event.cancelable) {
      owed = node && { node, by, from: [node.scrollLeft, node.scrollTop] };
    } else {
      event.preventDefault();
      node?.scrollBy(by);
    }
  };

  // How many wheels came, here or in a frame; what the browser owes is done by now, or here.
  const countWheels = () => {
    if (owed && owed.node.scrollLeft === owed.from[0] && owed.node.scrollTop === owed.from[1]) owed.node.scrollBy(owed.by);
    owed = null;
    return Array.from(window.frames, (frame) => frame.uiGym?.wheels() ?? 0).reduce((sum, n) => sum + n, wheels);
  };

  // -- the browser's own windows --
  //
  // No picture shows the pickers of dates and colours, and none is taken while one is open. What opens one
  // does nothing.

  const PICKED = new Set(["date", "datetime-local", "month", "time", "week"]);
  const onKey = (event) => {
    const opens = event.key === " " || event.key === "F4" || (event.altKey && /^Arrow(Up|Down)$/.test(event.key));
    if (opens && PICKED.has(event.composedPath()[0].type)) event.preventDefault();
  };
  const onClick = (event) => {
    if (event.composedPath()[0].type === "color") event.preventDefault();
  };
  HTMLInputElement.prototype.showPicker = () => {};

  // -- stamps --
  //
  // The host takes a picture of the frame that has a stamp. In a window the browser paints by itself, and would
  // paint twice: what an action changed, and the stamp. Where the host has said what the action ends with
  // (uiGym.expect), the first of these frames has the stamp. A later change that is seen takes another one.

  const HIDDEN = "canvas, embed, iframe, object, video"; // where changes are not seen
  let expected = null; // what the action under way ends with: { type, left, stamp }
  let stamp = null; // of the frame that shows the page as it is
  const changes = new MutationObserver(() => (stamp = null));

  const onEnd = (event) => {
    const action = expected;
    if (!event.isTrusted || action?.type !== event.type || (action.left -= 1)) return;
    nextFrame(() => expected === action && world.mark(action.stamp));
  };

  const stamping = {
    onStamp: null, // for whoever shows this page: draws a stamp
    // The action that comes ends with the `left`th event of a type.
    expect: (type, left, number) => {
      stamp = null;
      expected = { type, left, stamp: number };
    },
    // The action was handled, and `ms` pass.
    rest: (ms) => {
      if (!expected || Array.from(timers.values()).some((timer) => timer.at <= now + ms)) stamp = null;
      expected = null;
      world.tick(ms);
    },
    // The next frame shows the page as it is now.
    mark: (number) => {
      if (document.querySelector(HIDDEN)) return;
      changes.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
      world.onStamp((stamp = number));
    },
    // The stamp of the frame that shows the page: the one that it has, or `number`.
    stampOf: (number, anew) => {
      expected = null;
      if (anew || stamp === null) world.onStamp((stamp = number));
      changes.disconnect();
      const shown = stamp;
      stamp = null;
      return shown;
    },
  };

  const onMove = (event) => world.onMove?.(event.clientX, event.clientY);

  const listen = () => {
    window.addEventListener("wheel", countWheel, { capture: true, passive: true });
    window.addEventListener("wheel", onWheel, { passive: false });
    window.addEventListener("keydown", onKey, { capture: true });
    window.addEventListener("click", onClick, { capture: true });
    for (const type of ["mouseup", "keyup"]) window.addEventListener(type, onEnd, { capture: true, passive: true });
    for (const type of ["mousemove", "dragover"]) window.addEventListener(type, onMove, { capture: true, passive: true });
  };
  listen();

  // -- the line to the host --

  const errors = [];
  const noteError = (event) => errors.push(String(event.error?.stack ?? event.message));
  const noteCopy = () => void (world.copied = true);

  const faceOf = (family, weight, base64) =>
    new FontFace(family, Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)), { weight });

  const world = {
    params: null,
    language: null,
    // What the page's language has for an English text; `{name}` in it is that of `values`.
    say: (text, values = {}) => {
      if (typeof text !== "string") return text;
      const { texts } = world.language ?? {};
      const said = texts && Object.hasOwn(texts, text) ? texts[text] : text;
      return said.replace(/\{(\w+)\}/g, (all, name) => (Object.hasOwn(values, name) ? values[name] : all));
    },
    state: () => ({}),
    log: (type, data = {}) => report(JSON.stringify({ type, data })),
    tick,
    onMove: null,  // for whoever shows this page: told where the pointer is
    ...stamping,
    wheels: countWheels,
    rewind: (seed) => {
      timers = new Map();
      now = 0;
      randomState = seed | 0;
    },
    begin: (params, seed) => {
      world.rewind(seed);
      expected = stamp = null;
      lastTimer = 0;
      world.params = params;
      world.language = params.language?.texts ? params.language : null;
      world.state = () => ({});
      for (const face of world.faces) document.fonts.add(face);
      errors.length = 0;
      window.addEventListener("error", noteError);  // a new document has lost its listeners
      listen();
      for (const type of ["copy", "cut"]) window.addEventListener(type, noteCopy);
    },
    copied: false,
    takeErrors: () => errors.splice(0),
    faces: [],
    addFace: async (...written) => {
      const face = faceOf(...written);
      await face.load();
      world.faces.push(face);
    },
    // Those of a language, which are there at once, and stay.
    addFaces: (written) => {
      for (const [family, weight, base64] of written) {
        if (!world.faces.some((face) => face.family.includes(family) && face.weight === weight)) world.faces.push(faceOf(family, weight, base64));
      }
    },
    box: (selector) => {
      const box = document.querySelector(selector)?.getBoundingClientRect();
      return box ? [box.left, box.top, box.width, box.height] : null;
    },
  };
  Object.defineProperty(window, "uiGym", { value: world, configurable: false, writable: false });
})();
