// What is too faint on a page: [words, ratio, colour, ground], where the contrast is below 4.5:1.
// Left out: words on a picture or a gradient (but a button's: there its last colour counts), words of
// what cannot be pressed, and what lies outside of the window or under something else.
(() => {
  const SKIPPED = "script, style, svg, :disabled, .ghost, [inert], [aria-hidden=true]";
  const part = (text) => {
    const numbers = text.match(/-?[\d.]+(e-?\d+)?/g).map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    return [...numbers.slice(0, 3).map((number) => number * scale), numbers[3] ?? 1];
  };
  const over = (top, low) => [0, 1, 2].map((i) => top[i] * top[3] + low[i] * (1 - top[3]));
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (colour) => {
    const [r, g, b] = colour.map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      const picture = style.backgroundImage;
      if (picture !== "none" && !at.matches("body, button, th, label")) return null;
      const graded = picture !== "none" && at.matches("button, th");
      layers.push(part(graded ? picture.match(/rgba?\([^)]*\)/g).at(-1) : style.backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    return layers.reduceRight((low, top) => over(top, low), [255, 255, 255]);
  };
  const isSeen = (node, box) => {
    const hit = document.elementFromPoint(box.left + Math.min(box.width, 8) / 2, box.top + box.height / 2);
    return box.width > 0 && hit !== null && (node.contains(hit) || hit.contains(node));
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text; (text = walk.nextNode());) {
    const node = text.parentElement;
    const range = document.createRange();
    range.selectNodeContents(text);
    if (!text.data.trim() || node.closest(SKIPPED) || !isSeen(node, range.getBoundingClientRect())) continue;
    const low = ground(node);
    if (low === null) continue;
    const { color } = getComputedStyle(node);
    const [a, b] = [light(over(part(color), low)), light(low)].sort((p, q) => q - p);
    const ratio = Math.round((100 * (a + 0.05)) / (b + 0.05)) / 100;
    if (ratio < 4.5) found.push([text.data.trim(), ratio, color, low.map(Math.round).join(" ")]);
  }
  return found;
})()
