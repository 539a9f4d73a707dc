// Evaluated after world.js in every document of MiniWoB++, before its own scripts: the episode on
// page time instead of wall time, and what came of it. MiniWoB's pages are left as they are.
(() => {
  "use strict";

  // Nothing moves by itself: transitions, CSS animations and the caret would depend on real time.
  const still = new CSSStyleSheet();
  still.replaceSync(
    "*, *::before, *::after { transition: none !important; animation: none !important;" +
      " caret-color: transparent !important; }",
  );
  document.adoptedStyleSheets = [still];
  window.alert = () => {};
  window.confirm = () => true;
  window.prompt = () => null;
  if (window !== window.top) return;

  const wipe = () => {
    for (const storage of [localStorage, sessionStorage]) storage.clear();
    for (const cookie of document.cookie.split("; ")) document.cookie = `${cookie.split("=")[0]}=; max-age=0; path=/`;
  };
  wipe();

  // -- time --

  const SLICE = 20; // ms; documents in frames have clocks of their own, which go on together
  const BEGIN = 60; // ms until the first picture: what pages still do when the episode has begun
  const own = uiGym.tick;
  uiGym.tick = (ms) => {
    if (frames.length === 0) own(ms);
    else {
      for (let left = ms; left > 0; left -= SLICE) {
        const slice = Math.min(left, SLICE);
        own(slice);
        for (const frame of Array.from(frames)) frame.uiGym?.tick(slice);
      }
    }
    // Styles are computed now, so that pictures they name are asked for before one is taken.
    for (const shown of [window, ...Array.from(frames)]) shown.document.body?.getBoundingClientRect();
  };

  // -- the episode --

  let ended = null;
  const seconds = () => (Date.now() - core.ept0) / 1000;

  const end = (finish, args) => {
    if (ended || core.EP_TIMER === null) return;
    const after = seconds();
    finish.apply(core, args);
    ended = {
      raw: WOB_RAW_REWARD_GLOBAL,
      reward: WOB_REWARD_GLOBAL,
      reason: WOB_REWARD_REASON ? String(WOB_REWARD_REASON) : null,
      seconds: after,
    };
    // The cover is where a person starts the next episode; here the last moment stays to be seen.
    core.cover_div.style.display = "none";
  };

  // What comes after the end, in the same step, is not played.
  const INPUT = ["mousedown", "mouseup", "click", "dblclick", "pointerdown", "pointerup", "keydown", "keypress", "keyup", "beforeinput", "wheel"];
  const swallow = (event) => {
    if (!ended) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  for (const type of INPUT) window.addEventListener(type, swallow, { capture: true, passive: false });

  // What an episode leaves behind that MiniWoB's own start of the next one does not see to.
  const forget = () => {
    // Whoever presses Tab begins at the top again.
    const top = document.createElement("span");
    top.tabIndex = 0;
    document.body.prepend(top);
    top.focus({ preventScroll: true });
    top.remove();
    ended = null;
    wipe();
    if (window.jQuery) {
      jQuery.timers.length = 0;
      jQuery.fx.stop();
    }
    uiGym.rewind(0);
    for (const touched of document.querySelectorAll("[data-tampered]")) touched.removeAttribute("data-tampered");
    document.body.removeAttribute("style"); // widgets that were dragged leave one
    core.EP_TIMER = null;
    WOB_EPISODE_ID = 0;
    core.wob_latest = core.wob_scores = undefined;
    document.getElementById("reward-display").innerHTML = core.DISPLAY_HTML;
    core.startEpisode();
  };

  let started = false;

  uiGym.miniwob = {
    start: async (seed, mode) => {
      if (started) forget();
      uiGym.tick(SLICE); // what waits for the page to be ready
      if (!started) {
        const finish = core.endEpisode;
        core.endEpisode = (...args) => end(finish, args);
        started = true;
      }
      Math.seedrandom(seed);
      core.setDataMode(mode);
      core.startEpisodeReal();
      for (const id of ["reward-display", "click-canvas", "sync-task-cover"]) {
        document.getElementById(id)?.setAttribute("aria-hidden", "true");
      }
      if (!WOB_TASK_READY) {
        const frame = document.getElementById("wrap");
        await new Promise((done) => frame.addEventListener("load", done, { once: true }));
      }
      uiGym.tick(BEGIN);
      return WOB_TASK_READY;
    },
    brief: () => {
      const told = core.getUtterance();
      return typeof told === "string" ? { utterance: told, fields: null } : told;
    },
  };
  uiGym.state = () => ({
    over: ended !== null,
    ...(ended ?? { raw: 0, reward: 0, reason: null, seconds: seconds() }),
  });
})();
