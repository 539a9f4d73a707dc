// Where a player is in its episode. It changes up to sixty times a second while scrubbing, so it
// lives outside of the page's state: only what must follow each change listens.

import { useEffect, useState } from "./vendor/htm-preact.js";

const REST = 120; // milliseconds without a change, until slow parts of the page follow

/** A position from 0 to `last`. Listeners hear of it once a frame at most. */
export class Cursor {
  at = 0;
  last = 0;
  #listeners = new Set();
  #frame = 0;

  set(position) {
    const next = Math.min(this.last, Math.max(0, Math.round(position)));
    if (next === this.at) return;
    this.at = next;
    this.#soon();
  }

  /** Begins anew, in an episode whose last position is `last`; listeners are not told. */
  begin(position, last) {
    this.last = last;
    this.at = Math.min(last, Math.max(0, position));
  }

  listen(heard) {
    this.#listeners.add(heard);
    return () => this.#listeners.delete(heard);
  }

  #soon() {
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => this.#tell());
  }

  #tell() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    for (const heard of [...this.#listeners]) heard(this.at);
  }
}

/** The position, for what follows each change. */
export function usePosition(cursor) {
  const [, setAt] = useState(cursor.at);
  useEffect(() => cursor.listen(setAt), [cursor]);
  return cursor.at;
}

/** The position, for what is slow to draw: at once after a rest, else when the hand rests. */
export function useRestingPosition(cursor, rest = REST) {
  const [at, setAt] = useState(cursor.at);
  useEffect(() => {
    let timer = 0;
    let changed = -Infinity;
    setAt(cursor.at);
    const stop = cursor.listen((position) => {
      const now = performance.now();
      clearTimeout(timer);
      if (now - changed > 2 * rest) setAt(position);
      else timer = setTimeout(() => setAt(position), rest);
      changed = now;
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [cursor, rest]);
  return Math.min(at, cursor.last);
}
