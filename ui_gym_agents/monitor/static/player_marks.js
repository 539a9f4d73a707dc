// What an action did, drawn over the picture it was done on: pure geometry first, then its SVG.
//
// Points are in pixels of the picture. `unit` is how many of them one pixel of the page covers, so
// that marks keep their size on the page whatever the picture's.

import { html } from "./vendor/htm-preact.js";

const NEAR = 1; // pixels: said and done closer than this are the same point
const RING = 13; // all sizes in pixels of the page
const CROSS = 6;
const HEAD = 11;
const SCROLL = [36, 160]; // the shortest and longest arrow of a scroll

/** How far two points are from each other. */
export function distance([x1, y1], [x2, y2]) {
  return Math.hypot(x2 - x1, y2 - y1);
}

/** Where the model's own points and the executed ones differ: [{said, done, far}] in pixels. */
export function misses(mark) {
  return (mark.said ?? [])
    .map((said, at) => ({ said, done: mark.points[at] }))
    .filter(({ done }) => done !== undefined)
    .map((pair) => ({ ...pair, far: distance(pair.said, pair.done) }))
    .filter(({ far }) => far > NEAR);
}

/** The corners of the head of an arrow that ends in `to`; none where it has no direction. */
export function arrowHead(from, to, length) {
  const long = distance(from, to);
  if (long === 0) return [];
  const [ux, uy] = [(to[0] - from[0]) / long, (to[1] - from[1]) / long];
  const [bx, by] = [to[0] - ux * length, to[1] - uy * length];
  const half = length * 0.55;
  return [to, [bx - uy * half, by + ux * half], [bx + uy * half, by - ux * half]];
}

/** The arrow of a scroll, [from, to]: it points to what comes into view, and stays inside. */
export function scrollArrow(mark, [width, height], unit) {
  const [from] = mark.points;
  const wanted = Math.hypot(mark.dx, mark.dy);
  if (!from || wanted === 0) return null;
  const [least, most] = SCROLL.map((value) => value * unit);
  const long = Math.min(most, Math.max(least, wanted));
  const inside = (value, size) => Math.min(size - 1, Math.max(0, value));
  const to = [
    inside(from[0] + (mark.dx / wanted) * long, width),
    inside(from[1] + (mark.dy / wanted) * long, height),
  ];
  return [from, to];
}

const lineOf = ([x1, y1], [x2, y2], role) => ({ shape: "line", role, x1, y1, x2, y2 });
const ringOf = ([x, y], r, role) => ({ shape: "ring", role, x, y, r });

function arrowOf(from, to, unit, role) {
  const head = arrowHead(from, to, HEAD * unit);
  return [lineOf(from, to, role), ...(head.length ? [{ shape: "head", role, points: head }] : [])];
}

function doneShapes(mark, size, unit) {
  const { kind, points } = mark;
  if (kind === "drag" && points.length > 1) {
    const path = points.slice(1).map((to, at) => [points[at], to]);
    const last = path.pop();
    return [
      ringOf(points[0], 5 * unit, "start"),
      ...path.map(([from, to]) => lineOf(from, to, "done")),
      ...arrowOf(...last, unit, "done"),
    ];
  }
  const arrow = kind === "scroll" ? scrollArrow(mark, size, unit) : null;
  if (arrow) return [ringOf(arrow[0], 5 * unit, "start"), ...arrowOf(...arrow, unit, "done")];
  return points.map((point) => ringOf(point, RING * unit, "done"));
}

/** All that is drawn of one mark over a picture of `size`: [{shape, role, ...}]. */
export function shapesOf(mark, size, unit) {
  // A cross on the very point of the ring would say nothing, and hide what was aimed at.
  const missed = misses(mark);
  const links = missed.map(({ said, done }) => lineOf(said, done, "miss"));
  const crosses = missed.map(({ said: [x, y] }) => ({
    shape: "cross", role: "said", x, y, arm: CROSS * unit,
  }));
  return [...links, ...doneShapes(mark, size, unit), ...crosses];
}

/** Where the number of a mark is written, beside its first point; null without one. */
export function numberAt(mark, [width, height], unit) {
  const [point] = mark.points;
  if (!point) return null;
  const away = (RING + 4) * unit;
  const right = point[0] + away + 14 * unit < width;
  const low = Math.min(height - 2 * unit, Math.max(12 * unit, point[1] - away + 8 * unit));
  return [right ? point[0] + away : point[0] - away - 8 * unit, low];
}

// -- drawing --------------------------------------------------------------------------------------

function Shape({ of }) {
  if (of.shape === "ring") return html`<circle cx=${of.x} cy=${of.y} r=${of.r} />`;
  if (of.shape === "line") return html`<line x1=${of.x1} y1=${of.y1} x2=${of.x2} y2=${of.y2} />`;
  if (of.shape === "head") return html`<polygon points=${of.points.map((at) => at.join(",")).join(" ")} />`;
  const { x, y, arm } = of;
  return html`<path d="M${x - arm} ${y - arm}L${x + arm} ${y + arm}M${x - arm} ${y + arm}L${x + arm} ${y - arm}" />`;
}

/** One mark: a light halo below dark and coloured ink, to be seen on any background. */
function MarkShape({ mark, number, size, unit }) {
  const shapes = shapesOf(mark, size, unit);
  const at = number ? numberAt(mark, size, unit) : null;
  return html`
    <g class="mark">
      ${["halo", "ink"].map((layer) => shapes.map((shape, key) => html`
        <g key="${layer}${key}" class="${layer} ${shape.role} ${shape.shape}"><${Shape} of=${shape} /></g>
      `))}
      ${shapes.filter((shape) => shape.shape === "ring" && shape.role === "done").map((shape) => html`
        <circle class="pulse" cx=${shape.x} cy=${shape.y} r=${shape.r} />
      `)}
      ${at && html`<text x=${at[0]} y=${at[1]} font-size=${13 * unit}>${number}</text>`}
    </g>
  `;
}

/** The marks of a turn; numbered where there are several. */
export function Marks({ marks, size, unit }) {
  return html`
    <g class="marks">
      ${marks.map((mark, at) => html`
        <${MarkShape} key=${at} mark=${mark} number=${marks.length > 1 ? at + 1 : 0} size=${size} unit=${unit} />
      `)}
    </g>
  `;
}

/** Where the label of an element goes: above its box, or inside where there is no room. */
export function labelAt([x, y], unit) {
  return [x + 3 * unit, y > 18 * unit ? y - 5 * unit : y + 14 * unit];
}

/** Boxes of what was accessible on the screen; a label shows while the pointer is over its box. */
export function ElementBoxes({ elements, unit }) {
  return html`
    <g class="elements">
      ${elements.map(({ id, label, box }) => html`
        <g key=${id} class="element">
          <rect x=${box[0]} y=${box[1]} width=${box[2]} height=${box[3]} />
          <text class="id" x=${box[0] + 3 * unit} y=${box[1] + 11 * unit} font-size=${10 * unit}>${id}</text>
          <text class="name" x=${labelAt(box, unit)[0]} y=${labelAt(box, unit)[1]} font-size=${12 * unit}>${label || `element ${id}`}</text>
          <title>${id}: ${label}</title>
        </g>
      `)}
    </g>
  `;
}

// -- in words -------------------------------------------------------------------------------------

function Keys({ keys }) {
  // "ctrl++" is ctrl and the key +.
  const names = keys.endsWith("++") ? [...keys.slice(0, -2).split("+"), "+"] : keys.split("+");
  return names.map((name, at) => html`<kbd key=${at}>${name || "+"}</kbd>`);
}

function arrowOfScroll({ dx, dy }) {
  if (Math.abs(dx) > Math.abs(dy)) return dx > 0 ? "→" : "←";
  return dy > 0 ? "↓" : dy < 0 ? "↑" : "";
}

// Drawn, not written: few fonts have all of them.
const SIGNS = {
  keyboard: "M1.5 4h13v8.5h-13zM4 6.5h.6M7 6.5h.6M10 6.5h.6M12 6.5h.6M5 10h6",
  clock: "M8 2a6 6 0 1 0 .01 0zM8 4.5V8l2.5 1.5",
  flag: "M4 14V2.5h8L10 5.5l2 3H4",
};

/** A small sign beside an action or a turn. */
export function Sign({ name }) {
  return html`<svg class="sign" viewBox="0 0 16 16" aria-hidden="true"><path d=${SIGNS[name]} /></svg>`;
}

function Says({ mark, number }) {
  const far = misses(mark).map((miss) => miss.far);
  return html`
    <li class="says">
      ${number > 0 && html`<span class="number">${number}</span>`}
      ${mark.kind === "type" && html`<span class="typed" title="Typed text"><${Sign} name="keyboard" />${mark.typed}</span>`}
      ${mark.kind === "key" && html`<span class="caps" title="Keys"><${Keys} keys=${mark.keys} /></span>`}
      ${mark.kind === "wait" && html`<${Sign} name="clock" />`}
      ${mark.kind === "finish" && html`<${Sign} name="flag" />`}
      ${mark.kind === "scroll" && html`<span class="sign" aria-hidden="true">${arrowOfScroll(mark)}</span>`}
      <code>${mark.text}</code>
      ${far.length > 0 && html`<span class="far" title="From the model's own point (cross) to the executed one (ring)">${Math.max(...far).toFixed(1)} px off</span>`}
    </li>
  `;
}

/** The actions of a turn in words: typed text, key caps, a sign for waiting. */
export function ActionWords({ marks }) {
  return html`
    <ul class="action-words">
      ${marks.map((mark, at) => html`<${Says} key=${at} mark=${mark} number=${marks.length > 1 ? at + 1 : 0} />`)}
    </ul>
  `;
}

/** A turn's action in one line. */
export function actionLine(turn) {
  const known = (turn.marks ?? []).map((mark) => mark.text).filter(Boolean);
  if (known.length) return known.join("; ");
  const lines = (turn.text ?? "").trim().split("\n");
  return lines[lines.length - 1] || "(said nothing)";
}
