// Which pixels changed between two pictures: computed in the browser, from what is shown anyway.

const TOLERANCE = 12; // of 255, of one channel: below it lies what compression does to a picture
const VEIL = [12, 14, 20, 130]; // RGBA, over what stayed
const TINT = [255, 0, 170, 120]; // over what changed; seldom a colour of an interface

// A pixel as one number, in the machine's own order of bytes: four times faster to write.
const packed = (rgba) => new Uint32Array(new Uint8Array(rgba).buffer)[0];

/**
 * What changed between two `ImageData`-like pictures: `{same_size, changed, total, share, box}`,
 * `box` = [x, y, width, height] around all changes, null without any.
 *
 * `paint`, a `Uint32Array` with one number a pixel, gets a veil over what stayed and a tint over
 * the rest.
 */
export function compare(one, other, { tolerance = TOLERANCE, paint = null } = {}) {
  const { width, height } = one;
  const total = width * height;
  if (other.width !== width || other.height !== height)
    return { same_size: false, changed: total, total, share: 1, box: null };
  const [a, b] = [one.data, other.data];
  const [veil, tint] = [packed(VEIL), packed(TINT)];
  let [left, top, right, bottom, changed] = [width, height, -1, -1, 0];
  for (let y = 0, at = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1, at += 4) {
      const far =
        Math.abs(a[at] - b[at]) > tolerance ||
        Math.abs(a[at + 1] - b[at + 1]) > tolerance ||
        Math.abs(a[at + 2] - b[at + 2]) > tolerance;
      if (paint) paint[at >> 2] = far ? tint : veil;
      if (!far) continue;
      changed += 1;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      bottom = y;
    }
  const box = changed ? [left, top, right - left + 1, bottom - top + 1] : null;
  return { same_size: true, changed, total, share: total ? changed / total : 0, box };
}

/** The outcome of `compare` in words. */
export function differenceText(found) {
  if (!found.same_size) return "The next picture has another size: all of it is new.";
  if (!found.changed) return "Nothing changed: the next picture is the same.";
  const [x, y, width, height] = found.box;
  const share = 100 * found.share;
  const said = share < 0.01 ? "under 0.01" : share.toFixed(share < 1 ? 2 : 1);
  return `${said} % of the pixels changed, in a box of ${width} × ${height} at (${x}, ${y}).`;
}

function pixels(image, width, height) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, width, height);
}

const sizeOf = (image) => [image.naturalWidth, image.naturalHeight];

/** Compares two loaded images and paints what changed on `canvas`. As `compare` answers. */
export function paintDifference(canvas, before, after) {
  const [width, height] = sizeOf(before);
  [canvas.width, canvas.height] = [width, height];
  const painted = new ImageData(width, height);
  const found = compare(pixels(before, width, height), pixels(after, ...sizeOf(after)), {
    paint: new Uint32Array(painted.data.buffer),
  });
  if (found.changed && found.same_size) canvas.getContext("2d").putImageData(painted, 0, 0);
  return found;
}
