// Buttons whose words do not fit, and what stands over the left or right edge of the window.
[...document.querySelectorAll("button, input, th, label, h1, h2, .dialog, .card")]
  .filter((node) => {
    const box = node.getBoundingClientRect();
    if (!box.width || !box.height || node.closest("[inert], .ghost")) return false;
    const spills = node.matches("button") && getComputedStyle(node).overflow === "visible";
    const cut = spills && node.scrollWidth > node.clientWidth + 4;
    return cut || box.left < -1 || box.right > innerWidth + 1;
  })
  .map((node) => `${node.id || node.className}: ${node.textContent.slice(0, 30)}`)
