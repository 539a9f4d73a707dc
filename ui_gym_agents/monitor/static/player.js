// The episode player: the picture, a scrubber over all turns, the list of turns, and all that is
// known of the turn beside it.
//
// While scrubbing, a change of the position draws the picture, its marks and the position's words
// and nothing else (player_cursor.js); the details follow when the hand rests.

import { html, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";
import { pictureUrl } from "./api.js";
import { number } from "./format.js";
import { useKeys } from "./parts.js";
import { Cursor, usePosition, useRestingPosition } from "./player_cursor.js";
import { Details, ending } from "./player_details.js";
import { actionLine, Sign } from "./player_marks.js";
import { canOverride } from "./player_override.js";
import { Pictures } from "./player_pictures.js";
import { Screen } from "./player_screen.js";

export { Screen };

export const SPEEDS = [2, 4, 10]; // pictures a second
const URL_REST = 250; // milliseconds without a change, until the URL names the turn
const NARROW = 800; // pixels of width, below which everything stands in one column
const MEDIUM = 1200; // pixels of width, below which the list of turns stands below the picture
const WIDE = 1.3; // width by height of a picture, from which on it does so everywhere
const AROUND = 165; // pixels of height that controls and words take
const LIST = 116; // pixels of height kept for the list of turns below the picture
const FAR = 100; // positions from where pictures were loaded around, until others are

/** The pictures' hashes, one a turn and the last; empty where there was none. */
export function hashesOf(episode) {
  return [...episode.turns.map((turn) => turn.picture), episode.final];
}

/** The position of turn number `turn`; the final picture's where the number is beyond all turns. */
export function positionOf(episode, turn) {
  const { turns } = episode;
  if (!turns.length || turn === null || turn === undefined || turn === "") return 0;
  const at = turns.findIndex((one) => one.number === Number(turn));
  if (at >= 0) return at;
  return Number(turn) > turns[turns.length - 1].number ? turns.length : 0;
}

/** The number of the turn at a position; the final picture's is one more than the last turn's. */
export function numberOf(episode, at) {
  const { turns } = episode;
  if (at < turns.length) return turns[at].number;
  return turns.length ? turns[turns.length - 1].number + 1 : 1;
}

/** What is worth a tick on the scrubber: "error", "reward", "same" (no effect) or "". */
export function tickOf(episode, at) {
  const turn = episode.turns[at];
  if (turn.error) return "error";
  if (turn.reward) return "reward";
  const next = hashesOf(episode)[at + 1];
  return turn.picture && turn.picture === next ? "same" : "";
}

const TICKS = { error: "the action failed", reward: "reward", same: "the picture stayed the same" };
const FINAL = { picture: "", marks: [], elements: [] };

// -- the stage ------------------------------------------------------------------------------------

function labelOf(episode, at) {
  const turn = episode.turns[at];
  return turn ? `Screenshot before turn ${at + 1}: ${actionLine(turn)}` : "The last screenshot";
}

/** The screen at the cursor's position. */
function Stage({ run, episode, cursor, pictures, shown, height }) {
  const at = usePosition(cursor);
  const hashes = useMemo(() => hashesOf(episode), [episode]);
  const turn = episode.turns[at] ?? { ...FINAL, picture: episode.final };
  const next = shown.difference ? (at < episode.turns.length ? hashes[at + 1] : "") : null;
  const words = at < episode.turns.length;
  return html`
    <${Screen} run=${run} turn=${turn} size=${episode.size} pictures=${pictures} height=${height} label=${labelOf(episode, at)}
      shown=${{ marks: shown.marks, elements: shown.elements, next }} />
    ${!words && html`<p class="the-end">${ending(episode)}</p>`}
  `;
}

function Position({ episode, cursor, picture }) {
  const at = usePosition(cursor);
  const turn = episode.turns[at];
  const said = turn ? `turn ${at + 1} of ${episode.turns.length}` : "the end";
  const address = picture(turn ? turn.picture : episode.final);
  return html`
    <span class="position num">${said}</span>
    ${address && html`<a class="open-picture" href=${address} target="_blank" rel="noopener" title="The picture in its own size">picture ↗</a>`}
  `;
}

/** Loads the pictures around the cursor and says how far it is. */
function Preloading({ episode, cursor, pictures }) {
  const [progress, setProgress] = useState(null);
  useEffect(() => {
    const hashes = hashesOf(episode);
    let middle = cursor.at;
    let gone = false;
    const told = (done, all) => gone || setProgress(done < all ? [done, all] : null);
    const load = () => pictures.preload(hashes, (middle = cursor.at), told);
    load();
    const stop = cursor.listen((at) => {
      if (hashes.length > 300 && Math.abs(at - middle) > FAR) load();
    });
    return () => {
      gone = true;
      stop();
    };
  }, [episode.id, cursor, pictures]);
  if (!progress) return null;
  return html`<progress class="preloading" value=${progress[0]} max=${progress[1]} aria-label="Pictures loaded" title="${progress[0]} of ${progress[1]} pictures loaded"></progress>`;
}

// -- controls -------------------------------------------------------------------------------------

function Ticks({ episode }) {
  const last = episode.turns.length;
  const ticks = episode.turns.map((turn, at) => [at, tickOf(episode, at)]).filter(([, kind]) => kind);
  return html`
    <div class="ticks" aria-hidden="true">
      ${ticks.map(([at, kind]) => html`<span key=${at} class="tick ${kind}" style=${{ left: `${(100 * at) / last}%` }} title=${`turn ${at + 1}: ${TICKS[kind]}`}></span>`)}
    </div>
  `;
}

/** The range over all positions. It is moved by hand, not by drawing the page anew. */
function Scrubber({ episode, cursor, keys }) {
  const input = useRef(null);
  useEffect(() => {
    const follow = (at) => {
      input.current.value = at;
      const turn = episode.turns[at];
      input.current.setAttribute("aria-valuetext", turn ? `turn ${at + 1}: ${actionLine(turn)}` : "the final picture");
    };
    follow(cursor.at);
    return cursor.listen(follow);
  }, [episode, cursor]);
  // A range keeps its own arrow keys; the player's other keys work here as well.
  const onKeyDown = (event) => {
    const entry = event.key.startsWith("Arrow") || event.ctrlKey || event.metaKey || event.altKey ? null : keys[event.key];
    if (!entry) return;
    event.preventDefault();
    entry[0]();
  };
  return html`
    <div class="scrubber">
      <input ref=${input} type="range" min="0" max=${episode.turns.length} step="1" aria-label="Turn"
        onInput=${(event) => cursor.set(Number(event.target.value))} onKeyDown=${onKeyDown} />
      <${Ticks} episode=${episode} />
    </div>
  `;
}

/** Moves the cursor on, `speed` times a second, as fast as the pictures are there. */
function usePlaying(cursor, pictures, hashes, speed) {
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    if (!playing) return undefined;
    if (cursor.at >= cursor.last) cursor.set(0);
    let frame = 0;
    let shown = performance.now();
    const step = (now) => {
      frame = requestAnimationFrame(step);
      const next = hashes[cursor.at + 1];
      const waited = now - shown;
      if (waited < 1000 / speed || (next && !pictures.ready(next) && waited < 2000)) return;
      shown = now;
      if (cursor.at >= cursor.last) setPlaying(false);
      else cursor.set(cursor.at + 1);
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [playing, speed, cursor, pictures, hashes]);
  return [playing, setPlaying];
}

function Toggle({ name, text, hint, shown, flip }) {
  return html`<button type="button" class="toggle" aria-pressed=${Boolean(shown[name])} title=${hint} onClick=${() => flip(name)}>${text}</button>`;
}

const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  before: "M10.5 3.5 6 8l4.5 4.5-1.2 1.2L3.6 8l5.7-5.7z",
  play: "M4 2.5v11L13.5 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  next: "M5.5 3.5 10 8l-4.5 4.5 1.2 1.2L12.4 8 6.7 2.3z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
};

function Icon({ name }) {
  return html`<svg viewBox="0 0 16 16" aria-hidden="true"><path d=${ICONS[name]} /></svg>`;
}

function Controls({ cursor, playing, setPlaying, speed, setSpeed, children }) {
  const button = (icon, label, work) => html`<button type="button" class="quiet" aria-label=${label} title=${label} onClick=${work}><${Icon} name=${icon} /></button>`;
  return html`
    <div class="player-controls">
      <div class="transport" role="group" aria-label="Play">
        ${button("first", "First turn (Home)", () => cursor.set(0))}
        ${button("before", "Turn before (←)", () => cursor.set(cursor.at - 1))}
        ${button(playing ? "pause" : "play", playing ? "Pause (Space)" : "Play (Space)", () => setPlaying(!playing))}
        ${button("next", "Next turn (→)", () => cursor.set(cursor.at + 1))}
        ${button("last", "Final picture (End)", () => cursor.set(cursor.last))}
      </div>
      <label class="speed"><span class="unseen">Pictures a second</span>
        <select value=${speed} onChange=${(event) => setSpeed(Number(event.target.value))}>
          ${SPEEDS.map((value) => html`<option key=${value} value=${value} selected=${value === speed}>${value}/s</option>`)}
        </select>
      </label>
      ${children}
    </div>
  `;
}

// -- the list of turns ----------------------------------------------------------------------------

function TurnRow({ turn, at, tick, cursor }) {
  return html`
    <li>
      <button type="button" tabindex="-1" onMouseDown=${(event) => event.preventDefault()} onClick=${() => cursor.set(at)}>
        <span class="n num">${at + 1}</span>
        <span class="line">${actionLine(turn)}</span>
        ${tick === "same" && html`<span class="badge" title="The picture stayed the same">=</span>`}
        ${turn.error && html`<span class="badge bad" title=${turn.feedback}>${turn.error}</span>`}
        ${turn.reward !== 0 && html`<span class="badge good num">${turn.reward > 0 ? "+" : ""}${number(turn.reward)}</span>`}
      </button>
    </li>
  `;
}

/**
 * All turns in one line each. The current one is marked by hand: there may be hundreds. It alone
 * is reached by Tab.
 */
function TurnList({ episode, cursor }) {
  const list = useRef(null);
  useEffect(() => {
    const follow = (at) => {
      const rows = list.current.children;
      const before = list.current.querySelector("[aria-current]");
      before?.removeAttribute("aria-current");
      before?.setAttribute("tabindex", "-1");
      const row = rows[at];
      if (!row) return;
      row.firstElementChild.setAttribute("aria-current", "step");
      row.firstElementChild.setAttribute("tabindex", "0");
      const box = list.current;
      const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
      if (top < box.scrollTop) box.scrollTop = top - 40;
      else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight + 40;
    };
    follow(cursor.at);
    return cursor.listen(follow);
  }, [episode, cursor]);
  const rows = useMemo(
    () => episode.turns.map((turn, at) => html`<${TurnRow} key=${at} turn=${turn} at=${at} tick=${tickOf(episode, at)} cursor=${cursor} />`),
    [episode, cursor],
  );
  const last = episode.turns.length;
  return html`
    <ol class="turn-list" ref=${list} aria-label="Turns">
      ${rows}
      <li key="end">
        <button type="button" tabindex="-1" onMouseDown=${(event) => event.preventDefault()} onClick=${() => cursor.set(last)}>
          <span class="n"><${Sign} name="flag" /></span><span class="line">${ending(episode)}</span>
        </button>
      </li>
    </ol>
  `;
}

// -- the whole ------------------------------------------------------------------------------------

/** How the parts stand on a page of this width: "narrow", "medium", "wide" or "" (side by side). */
export function layoutOf(pageWidth, size) {
  if (pageWidth < NARROW) return "narrow";
  if (pageWidth < MEDIUM) return "medium";
  return size && size[0] / size[1] >= WIDE ? "wide" : "";
}

/** The layout and how much height the picture has: `{layout, height}`. */
function useRoom(ref, episode, compact) {
  const [room, setRoom] = useState({ layout: "", height: 500 });
  const [width, height] = episode.size ?? [0, 0];
  useLayoutEffect(() => {
    const measure = () => {
      const top = Math.round(ref.current.getBoundingClientRect().top + scrollY);
      ref.current.style.setProperty("--player-top", `${top}px`);
      const layout = compact ? "compact" : layoutOf(innerWidth, width ? [width, height] : null);
      const free = innerHeight - top - AROUND - (layout === "wide" ? LIST : 0);
      const short = layout === "narrow" || layout === "compact";
      setRoom({ layout, height: short ? innerHeight * 0.62 : Math.max(260, free) });
    };
    measure();
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, [compact, width, height]);
  return room;
}

/** Follows `turn` of the URL, and tells `onTurn` where it came to. */
function useTurnInUrl(cursor, episode, turn, onTurn) {
  const announced = useRef(null);
  const heard = useRef(onTurn);
  heard.current = onTurn;
  useMemo(() => {
    announced.current = null;
    cursor.begin(positionOf(episode, turn), episode.turns.length);
  }, [cursor, episode.id]);
  useLayoutEffect(() => {
    if (turn === undefined || String(turn) === String(announced.current)) return;
    const wanted = positionOf(episode, turn);
    announced.current = numberOf(episode, wanted); // whoever asked for it need not hear of it
    cursor.set(wanted);
  }, [cursor, turn]);
  useEffect(() => {
    let timer = 0;
    const stop = cursor.listen((at) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const said = numberOf(episode, at);
        if (said === announced.current) return;
        announced.current = said;
        heard.current?.(said);
      }, URL_REST);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [cursor, episode.id]);
}

function RestingDetails({ run, episode, cursor, ...rest }) {
  const at = useRestingPosition(cursor);
  return html`<${Details} run=${run} episode=${episode} at=${at} ...${rest} />`;
}

function playerKeys({ cursor, playing, setPlaying, flip, onPrevious, onNext, setOverriding }) {
  const keys = {
    ArrowLeft: [() => cursor.set(cursor.at - 1), "Turn before"],
    ArrowRight: [() => cursor.set(cursor.at + 1), "Next turn"],
    Home: [() => cursor.set(0), "First turn"],
    End: [() => cursor.set(cursor.last), "Final picture"],
    " ": [() => setPlaying(!playing), "Play or pause"],
    d: [() => flip("difference"), "What changed until the next picture"],
    m: [() => flip("marks"), "Marks of the actions"],
    e: [() => flip("elements"), "Accessible elements"],
  };
  if (onNext) keys.j = [onNext, "Next episode"];
  if (onPrevious) keys.k = [onPrevious, "Episode before"];
  if (setOverriding) keys.o = [() => setOverriding(true), "Override the judge"];
  return keys;
}

const SHOWN = { marks: true, elements: false, difference: false };

/**
 * Plays one episode. `turn` is the number of the turn to show (as turns have it, from 0), `onTurn(number)` hears of others
 * (the final picture counts as one more turn). `onPrevious` and `onNext`, if given, go to the
 * neighbours; `onOverride` hears that a person overrode the judge. `compact`: the screen and its controls alone. `keys`: whether it hears keys, which
 * one player of a page should.
 */
export function Player({ run, episode, turn, onTurn, onPrevious, onNext, onOverride, compact = false, keys: hears = true }) {
  const root = useRef(null);
  const [cursor] = useState(() => new Cursor());
  const picture = useCallback((hash) => (hash ? pictureUrl(run, hash) : ""), [run]);
  const pictures = useMemo(() => new Pictures(picture), [picture]);
  useEffect(() => () => pictures.close(), [pictures]);
  const hashes = useMemo(() => hashesOf(episode), [episode]);
  const [speed, setSpeed] = useState(SPEEDS[1]);
  const [playing, setPlaying] = usePlaying(cursor, pictures, hashes, speed);
  const [shown, setShown] = useState(SHOWN);
  const [overriding, setOverriding] = useState(false);
  const flip = (name) => setShown((old) => ({ ...old, [name]: !old[name] }));
  const room = useRoom(root, episode, compact);
  useTurnInUrl(cursor, episode, turn, onTurn);
  useEffect(() => {
    setPlaying(false);
    setOverriding(false);
  }, [episode.id]);
  const overrides = !compact && canOverride(episode) ? setOverriding : null;
  const keys = playerKeys({ cursor, playing, setPlaying, flip, onPrevious, onNext, setOverriding: overrides });
  useKeys(hears ? keys : {});
  const elements = episode.turns.some((one) => one.elements?.length);
  const details = html`<${RestingDetails} key=${episode.id} run=${run} episode=${episode} cursor=${cursor} overriding=${overriding} setOverriding=${setOverriding} onOverride=${onOverride} />`;
  return html`
    <div class="player ${room.layout}" ref=${root}>
      ${!compact && html`<div class="player-turns"><${TurnList} episode=${episode} cursor=${cursor} /></div>`}
      <div class="player-stage">
        <${Controls} cursor=${cursor} playing=${playing} setPlaying=${setPlaying} speed=${speed} setSpeed=${setSpeed}>
          <${Position} episode=${episode} cursor=${cursor} picture=${picture} />
          <div class="toggles" role="group" aria-label="Shown on the picture">
            <${Toggle} name="marks" text="marks" hint="Marks of the actions (m)" shown=${shown} flip=${flip} />
            <${Toggle} name="difference" text="difference" hint="What changed until the next picture (d)" shown=${shown} flip=${flip} />
            ${elements && html`<${Toggle} name="elements" text="elements" hint="Accessible elements (e)" shown=${shown} flip=${flip} />`}
          </div>
        <//>
        <${Scrubber} episode=${episode} cursor=${cursor} keys=${keys} />
        <${Preloading} episode=${episode} cursor=${cursor} pictures=${pictures} />
        <${Stage} run=${run} episode=${episode} cursor=${cursor} pictures=${pictures} shown=${shown} height=${room.height} />
      </div>
      ${!compact && html`<div class="player-details">${details}</div>`}
    </div>
  `;
}
