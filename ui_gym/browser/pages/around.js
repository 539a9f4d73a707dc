// What stands around a page (ui_gym/browser/around.py). Evaluated in the head: it hangs beside the body, of
// which pages make what they like.
(() => {
  "use strict";
  const make = (tag, className, ...parts) => {
    const node = document.createElement(tag);
    node.className = className;
    node.append(...parts);
    return node;
  };
  const { adverts, cookie_bar: cookies } = uiGym.params.around;
  // A click on it leaves the focus where it is.
  const hang = (node) => {
    node.addEventListener("mousedown", (event) => event.preventDefault());
    document.documentElement.append(node);
  };

  // -- advertisements --

  // Each scene is drawn on 320 x 200 in shades of one hue: shade(lightness, saturation), at(n) in 0..1.
  const sky = (shade) => `<rect width="320" height="200" fill="${shade(88, 50)}"/>`;
  const ridge = (base, height, at, n) => {
    const points = Array.from({ length: 9 }, (_, i) => `${i * 40},${Math.round(base - height * at(n + i))}`);
    return `M0,200 L${points.join(" L")} L320,200 Z`;
  };
  const SCENES = {
    hills: (shade, at) => `${sky(shade)}<circle cx="${40 + 240 * at(1)}" cy="48" r="22" fill="#fff4cf"/>`
      + [0, 1, 2].map((n) => `<path d="${ridge(120 + 30 * n, 60, at, 10 * n)}" fill="${shade(62 - 16 * n, 34)}"/>`).join(""),
    sea: (shade, at) => `${sky(shade)}<rect y="110" width="320" height="90" fill="${shade(42, 52)}"/>`
      + [0, 1, 2].map((n) => {
        const [x, y, size] = [30 + 90 * n + 40 * at(n), 112 + 22 * n, 24 + 10 * n];
        return `<path d="M${x},${y} v${-2 * size} l${size},${2 * size} Z" fill="#fff"/><path d="M${x - size},${y + 3} h${2.2 * size} l-8,10 h${-2 * size + 8} Z" fill="${shade(24, 40)}"/>`;
      }).join(""),
    town: (shade, at) => sky(shade) + Array.from({ length: 8 }, (_, n) => {
      const height = 50 + 100 * at(n);
      const panes = Array.from({ length: Math.floor(height / 24) }, (_, row) =>
        [8, 22].map((x) => `<rect x="${n * 40 + x}" y="${210 - height + row * 24}" width="9" height="12" fill="${at(n + 8 * row + x) > 0.5 ? "#ffe9a8" : shade(26, 30)}"/>`).join("")).join("");
      return `<rect x="${n * 40}" y="${200 - height}" width="37" height="${height}" fill="${shade(36 + 18 * at(n + 20), 28)}"/>${panes}`;
    }).join(""),
    cup: (shade) => `<rect width="320" height="200" fill="${shade(30, 34)}"/><ellipse cx="160" cy="172" rx="96" ry="16" fill="${shade(20, 34)}"/>`
      + `<path d="M98,84 h116 c0,58 -18,86 -58,86 s-58,-28 -58,-86 Z" fill="#fff"/><path d="M212,98 c36,-6 36,48 -8,44" fill="none" stroke="#fff" stroke-width="10"/><ellipse cx="156" cy="84" rx="58" ry="12" fill="${shade(24, 60)}"/>`
      + [130, 156, 182].map((x) => `<path d="M${x},66 c-10,-14 10,-22 0,-40" fill="none" stroke="${shade(72, 20)}" stroke-width="4"/>`).join(""),
    lamp: (shade) => `<rect width="320" height="200" fill="${shade(18, 36)}"/><path d="M160,70 L70,200 h180 Z" fill="${shade(32, 44)}"/><path d="M122,76 l18,-46 h40 l18,46 Z" fill="${shade(74, 70)}"/>`
      + `<rect x="156" y="76" width="8" height="96" fill="#e8dcc0"/><rect x="126" y="172" width="68" height="10" fill="#e8dcc0"/>`,
    shoe: (shade) => `${sky(shade)}<rect y="160" width="320" height="40" fill="${shade(74, 22)}"/><path d="M62,150 c-8,-44 6,-64 18,-62 20,14 40,10 54,-6 24,34 60,38 98,46 26,6 30,16 28,24 Z" fill="${shade(40, 60)}"/>`
      + `<rect x="60" y="148" width="202" height="14" rx="6" fill="#fff"/>` + [150, 168, 186].map((x, n) => `<path d="M${x},${102 + 7 * n} l-14,16" stroke="#fff" stroke-width="5"/>`).join(""),
    tree: (shade, at) => `${sky(shade)}<path d="${ridge(170, 26, at, 4)}" fill="${shade(52, 34)}"/><rect x="152" y="104" width="16" height="76" fill="#6b4a2f"/>`
      + Array.from({ length: 9 }, (_, n) => `<circle cx="${116 + 88 * at(n)}" cy="${48 + 56 * at(n + 9)}" r="${22 + 12 * at(n + 18)}" fill="${shade(30 + 12 * at(n + 27), 42)}"/>`).join("")
      + Array.from({ length: 6 }, (_, n) => `<circle cx="${112 + 96 * at(n + 40)}" cy="${46 + 70 * at(n + 50)}" r="6" fill="#d9622b"/>`).join(""),
  };

  const picture = ({ brand, scene, hue, seed }) => {
    const shade = (light, saturation) => `hsl(${hue} ${saturation}% ${light}%)`;
    const at = (n) => (Math.abs(Math.sin(12.9898 * (n + 1) + 78.233 * seed)) * 43758.5453) % 1;
    const holder = document.createElement("div");
    holder.innerHTML = `<svg viewBox="0 0 320 200" preserveAspectRatio="xMidYMid slice" role="img">${SCENES[scene](shade, at)}</svg>`;
    holder.firstChild.setAttribute("aria-label", `${brand}: ${scene}`);
    return holder.firstChild;
  };
  const told = (advert) => {
    const call = make("i", "", advert.call);
    call.style.background = `hsl(${advert.hue} 60% 30%)`;
    return make("div", "", make("b", "", advert.brand), make("span", "", advert.claim), call);
  };
  const land = (advert) => {
    document.querySelector(".landing")?.remove();
    const back = make("button", "", "Back to the page");
    const landing = make("div", "landing", picture(advert), told(advert));
    landing.lastChild.append(back);
    back.addEventListener("click", () => landing.remove());
    hang(landing);
  };
  if (adverts) {
    const column = make("aside", "adverts", make("p", "", "Advertisements"));
    for (const advert of adverts) {
      const card = make("article", "", picture(advert), told(advert));
      card.addEventListener("click", () => land(advert));
      column.append(card);
    }
    hang(column);
  }

  // -- the bar about cookies --

  if (cookies) {
    const answer = (name) => {
      const button = make("button", name, cookies[name]);
      button.addEventListener("click", () => bar.remove());
      return button;
    };
    const second = cookies.first === "accept" ? "reject" : "accept";
    const answers = make("p", "", answer(cookies.first), answer(second));
    answers.firstChild.style.background = `hsl(${cookies.hue} 60% 30%)`;
    const bar = make("section", `cookie-bar ${cookies.place}`, make("div", "", make("b", "", cookies.title), make("span", "", cookies.text), answers));
    bar.setAttribute("role", "dialog");
    bar.setAttribute("aria-label", cookies.title);
    hang(bar);
  }
})();
