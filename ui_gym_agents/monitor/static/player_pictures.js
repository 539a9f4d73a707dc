// The pictures of an episode, decoded ahead so that the player can show any of them at once.
//
// Browsers drop decoded pictures as they like, and decoding one again takes longer than a frame. So
// of each picture a copy is kept whose pixels stay: smaller, where all of them together would take
// too much memory. It is shown while scrubbing; the whole picture follows when the hand rests.

const BUDGET = 256 * 2 ** 20; // bytes for all copies
const MOST = 300; // pictures decoded ahead
const AT_ONCE = 3; // requests

/** The scale (at most 1) at which `count` pictures of this size fit into `budget` bytes. */
export function copyScale(width, height, count, budget = BUDGET) {
  return Math.min(1, Math.sqrt(budget / (4 * width * height * Math.max(1, count))));
}

/** The different hashes of `hashes`, the nearest to position `at` first; at most `most`. */
export function nearestFirst(hashes, at, most = MOST) {
  const order = hashes
    .map((hash, position) => [Math.abs(position - at), hash])
    .sort(([one], [other]) => one - other)
    .map(([, hash]) => hash);
  return [...new Set(order)].filter(Boolean).slice(0, most);
}

const pause = () => new Promise((done) => setTimeout(done, 0));

/** Pictures by hash; `address(hash)` says where one is. */
export class Pictures {
  #address;
  #entries = new Map(); // hash -> {image, copy, loading}
  #round = 0; // the latest `preload`; earlier ones stop

  constructor(address) {
    this.#address = address;
  }

  /** What is there of a picture by now: `{image, copy}`, or undefined. */
  ready(hash) {
    const entry = this.#entries.get(hash);
    return entry?.image ? entry : undefined;
  }

  /** The whole picture. Rejects where it cannot be had. */
  load(hash) {
    const known = this.#entries.get(hash);
    if (known) return known.loading;
    const entry = { image: null, copy: null, loading: null };
    entry.loading = this.#fetch(hash, entry);
    this.#entries.set(hash, entry);
    return entry.loading;
  }

  async #fetch(hash, entry) {
    const image = new Image();
    image.decoding = "async";
    image.src = this.#address(hash);
    try {
      await image.decode();
    } catch (error) {
      this.#entries.delete(hash); // asked again the next time it is shown
      throw error;
    }
    entry.image = image;
    return image;
  }

  /** Loads these, the nearest to position `at` first; `told(done, all)` hears how far it is. */
  async preload(hashes, at, told = () => {}) {
    const round = ++this.#round;
    const wanted = nearestFirst(hashes, at);
    this.#keepOnly(wanted);
    let done = 0;
    const queue = [...wanted];
    const work = async () => {
      while (queue.length && round === this.#round) {
        await this.#prepare(queue.shift(), wanted.length);
        done += 1;
        if (round === this.#round) told(done, wanted.length);
        await pause(); // so that keys and pointer come first
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  async #prepare(hash, count) {
    let image;
    try {
      image = await this.load(hash);
    } catch {
      return; // the screen says so when it comes to it
    }
    const entry = this.#entries.get(hash);
    if (!entry || entry.copy || !image.naturalWidth) return;
    const [width, height] = [image.naturalWidth, image.naturalHeight];
    const scale = copyScale(width, height, count);
    const copy = await createImageBitmap(image, {
      resizeWidth: Math.max(1, Math.round(width * scale)),
      resizeHeight: Math.max(1, Math.round(height * scale)),
      resizeQuality: "medium",
    }).catch(() => null); // the picture is then decoded each time it is shown
    if (!copy) return;
    if (this.#entries.get(hash) === entry) entry.copy = copy;
    else copy.close();
  }

  #keepOnly(hashes) {
    const kept = new Set(hashes);
    for (const [hash, entry] of this.#entries)
      if (!kept.has(hash)) {
        entry.copy?.close();
        this.#entries.delete(hash);
      }
  }

  /** Gives all memory back. */
  close() {
    this.#round += 1;
    this.#keepOnly([]);
  }
}
