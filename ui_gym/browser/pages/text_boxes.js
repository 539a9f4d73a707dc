// Where the letters from `start` to `end` of an element are: a box for each line, in pixels.
(selector, start, end) => {
  const element = document.querySelector(selector);
  if (!element) return null;
  const range = document.createRange();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let before = 0;
  let open = false;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const after = before + node.length;
    if (!open && start < after) { range.setStart(node, start - before); open = true; }
    if (open && end <= after) { range.setEnd(node, end - before); break; }
    before = after;
  }
  const boxes = [...range.getClientRects()].filter((box) => box.width > 0);
  return boxes.map((box) => [box.left, box.top, box.width, box.height]);
}
