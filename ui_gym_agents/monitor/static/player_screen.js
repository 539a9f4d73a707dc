// The screen: one picture, scaled to fit, with the marks of what was done on it.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";
import { pictureUrl } from "./api.js";
import { differenceText, paintDifference } from "./picture_diff.js";
import { ActionWords, ElementBoxes, Marks } from "./player_marks.js";
import { Pictures } from "./player_pictures.js";

const LARGEST = 4; // times its own size, for tiny pages
const CRISP = 2; // from this scale on pixels stay squares
const FULL = 420; // pixels of the page from which on marks have their full size
const REST = 120; // milliseconds without another picture, until the whole one is drawn
const SLOW = 150; // milliseconds, until a picture that is not there is said to be loading

/** The scale at which a picture fits into a box: whole numbers where it is made much larger. */
export function fitScale([width, height], [boxWidth, boxHeight]) {
  if (!width || !height || boxWidth <= 0) return 1;
  const scale = Math.min(boxWidth / width, Math.max(80, boxHeight) / height, LARGEST);
  return scale >= CRISP ? Math.floor(scale) : scale;
}

/** The width of an element, whenever it changes. */
function useWidth(ref) {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measure = () => setWidth(ref.current?.clientWidth ?? 0);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return width;
}

function drawOn(canvas, drawable, image) {
  const [width, height] = [image.naturalWidth, image.naturalHeight];
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  canvas.getContext("2d").drawImage(drawable, 0, 0, width, height);
}

/**
 * Draws the picture of `hash` on the canvas, and tells how that went: `{state, size}`, the state
 * one of "none" (the turn has no picture), "loading", "shown", "missing".
 */
function usePicture(canvas, pictures, hash) {
  const [seen, setSeen] = useState({ state: hash ? "loading" : "none", size: null });
  useLayoutEffect(() => {
    if (!hash) {
      setSeen({ state: "none", size: null });
      return undefined;
    }
    let timer = 0;
    let gone = false;
    const show = ({ image, copy }) => {
      drawOn(canvas.current, copy ?? image, image);
      const size = [image.naturalWidth, image.naturalHeight];
      setSeen((old) => (old.state === "shown" && String(old.size) === String(size) ? old : { state: "shown", size }));
      const small = copy && copy.width < image.naturalWidth;
      if (small) timer = setTimeout(() => drawOn(canvas.current, image, image), REST);
    };
    const ready = pictures.ready(hash);
    if (ready) show(ready);
    else {
      timer = setTimeout(() => setSeen((old) => ({ ...old, state: "loading" })), SLOW);
      pictures.load(hash).then(
        (image) => {
          clearTimeout(timer);
          if (!gone) show({ image, copy: null });
        },
        () => {
          clearTimeout(timer);
          if (!gone) setSeen({ state: "missing", size: null });
        },
      );
    }
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [pictures, hash]);
  return seen;
}

/** Paints what changes from one picture to the next, and says it: `{text, box}`. */
function useDifference(canvas, pictures, hash, next) {
  const [found, setFound] = useState(null);
  useEffect(() => {
    setFound(null);
    if (next === null || !hash) return undefined;
    if (!next) {
      setFound({ text: "This is the last picture: nothing follows that could differ.", box: null });
      return undefined;
    }
    let gone = false;
    const work = async () => {
      const [before, after] = await Promise.all([pictures.load(hash), pictures.load(next)]);
      if (gone) return;
      const result = paintDifference(canvas.current, before, after);
      setFound({ text: differenceText(result), box: result.box });
    };
    const fail = () => gone || setFound({ text: "The next picture was not kept.", box: null });
    const timer = setTimeout(() => work().catch(fail), REST);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [pictures, hash, next]);
  return found;
}

function Missing({ state }) {
  if (state === "none")
    return html`<div class="no-picture"><strong>No picture</strong><span>The agent saw the elements as text alone.</span></div>`;
  return html`
    <div class="no-picture">
      <strong>This picture was not kept</strong>
      <span>A run keeps the pictures of every so many groups of a step: <code>run.keep_pictures</code> (1: all). Evaluations keep all.</span>
    </div>
  `;
}

function Changed({ box: [x, y, width, height] }) {
  return ["halo", "ink"].map((layer) => html`
    <rect key=${layer} class="changed ${layer}" x=${x} y=${y} width=${width} height=${height} />
  `);
}

/**
 * The picture that a turn saw, with its marks and, below it, its actions in words.
 *
 * `turn`: `{picture, marks, elements}`. `size`: of the picture, until it is there. `shown`:
 * `{marks, elements, words, next}`: `next` is the hash of the picture to compare with ("" if there
 * is none; null: no comparison). `height`: the most that it may be high, in pixels of the page.
 */
export function Screen({ run, turn, size, shown = {}, height = 600, pictures = null, label = "" }) {
  const { marks = true, elements = false, words = true, next = null } = shown;
  const own = useMemo(() => pictures ?? new Pictures((hash) => pictureUrl(run, hash)), [run, pictures]);
  useEffect(() => () => pictures ?? own.close(), [own]);
  const frame = useRef(null);
  const canvas = useRef(null);
  const veil = useRef(null);
  const width = useWidth(frame);
  const seen = usePicture(canvas, own, turn.picture);
  const found = useDifference(veil, own, turn.picture, seen.state === "shown" ? next : null);

  const real = seen.size ?? size ?? [16, 10];
  const scale = fitScale(real, [width, height]);
  const unit = Math.min(1, Math.max(0.6, (real[0] * scale) / FULL)) / scale;
  const visible = seen.state === "shown" || seen.state === "loading";
  const box = { width: `${real[0] * scale}px`, height: `${real[1] * scale}px` };
  return html`
    <figure class="screen" ref=${frame}>
      <div class="screen-box ${seen.state} ${scale >= CRISP ? "crisp" : ""}" style=${box} aria-busy=${seen.state === "loading"}>
        <canvas ref=${canvas} hidden=${!visible} role="img" aria-label=${label || "Screenshot"}></canvas>
        <canvas ref=${veil} class="veil" hidden=${!visible || !found?.box} aria-hidden="true"></canvas>
        ${visible && html`
          <svg viewBox="0 0 ${real[0]} ${real[1]}" preserveAspectRatio="none" aria-hidden="true">
            ${elements && html`<${ElementBoxes} elements=${turn.elements ?? []} unit=${unit} />`}
            ${found?.box && html`<${Changed} box=${found.box} />`}
            ${marks && html`<${Marks} marks=${turn.marks ?? []} size=${real} unit=${unit} />`}
          </svg>
        `}
        ${!visible && html`<${Missing} state=${seen.state} />`}
        ${seen.state === "loading" && html`<span class="spinner" role="status" aria-label="Loading the picture"></span>`}
      </div>
      ${words && html`<figcaption>
        <${ActionWords} marks=${turn.marks ?? []} />
        ${next !== null && html`<p class="difference" role="status">${found ? found.text : "Comparing…"}</p>`}
      </figcaption>`}
    </figure>
  `;
}
