// Two measurements on the same instances: what flipped, and whether that is more than chance.

import { html, useEffect, useRef, useState } from "../vendor/htm-preact.js";
import { useData } from "../api.js";
import { More, Thumb, usePages } from "../episodes.js";
import { number, percent, points, purpose } from "../format.js";
import { Crumbs, Empty, Failed, Loading, Outcome, RateBar, Shown, useKeys, useRows } from "../parts.js";
import { Player } from "../player.js";
import { link, setParams } from "../router.js";

const nameOf = ({ run, kind, step, mode }) => [run, kind, step, mode].join("/");

const FLIPS = {
  both: "success in both",
  a_only: "success in A only",
  b_only: "success in B only",
  neither: "success in neither",
};

// -- what is compared -----------------------------------------------------------------------------

// A run alone stands for its last measurement, if possible in the other side's mode.
function resolved(choices, given, mode) {
  if (!given || given.includes("/")) return given ?? "";
  const own = choices.filter((choice) => choice.run === given);
  const same = own.filter((choice) => choice.mode === mode);
  const later = (one, other) => (one && one.step >= other.step ? one : other);
  const found = (same.length ? same : own).reduce(later, null);
  return found ? nameOf(found) : "";
}

function sides(choices, { a, b }) {
  const first = resolved(choices, a, "greedy");
  return { a: first, b: resolved(choices, b, first.split("/")[3] ?? "greedy") };
}

function Choice({ label, value, choices, onChange }) {
  const runs = [...new Set(choices.map((choice) => choice.run))];
  const known = choices.some((choice) => nameOf(choice) === value);
  const text = (choice) => `${purpose(choice)} · ${percent(choice.success)} of ${choice.n}`;
  return html`
    <label class="field side">
      <span class="label">${label}</span>
      <select value=${known ? value : ""} onChange=${(event) => onChange(event.target.value)}>
        <option value="" selected=${!known}>choose…</option>
        ${runs.map((run) => {
          const own = choices.filter((choice) => choice.run === run);
          return html`
            <optgroup key=${run} label=${own[0].name}>
              ${own.map((choice) => html`<option key=${nameOf(choice)} value=${nameOf(choice)}
                selected=${nameOf(choice) === value}>${own[0].name}: ${text(choice)}</option>`)}
            </optgroup>
          `;
        })}
      </select>
    </label>
  `;
}

function Bar({ choices, a, b }) {
  const set = (changes) => setParams({ ...changes, pair: "", show: "" });
  return html`
    <div class="bar compare">
      <${Choice} label="A" value=${a} choices=${choices}
        onChange=${(value) => set({ a: value, b })} />
      <button type="button" title="Swap A and B" aria-label="Swap A and B"
        onClick=${() => set({ a: b, b: a })}>⇄</button>
      <${Choice} label="B" value=${b} choices=${choices}
        onChange=${(value) => set({ a, b: value })} />
    </div>
  `;
}

// -- numbers --------------------------------------------------------------------------------------

function Side({ name, side }) {
  return html`
    <div class="figure">
      <dt>${name}: <a href=${link(["run", side.run])}>${side.name}</a></dt>
      <dd><${RateBar} rate=${side} /></dd>
      <dd class="under">
        ${purpose(side)}; ${percent(side.low, 0)} to ${percent(side.high, 0)}, n ${side.n}</dd>
    </div>
  `;
}

const pText = (p) => (p < 0.001 ? "p < 0.001" : `p = ${p.toPrecision(2)}`);

function verdict({ p, difference, pairs }) {
  if (!pairs) return "No instance was played by both.";
  if (p >= 0.05) return "Chance alone may explain it.";
  return `${difference > 0 ? "B" : "A"} is better; chance hardly explains it.`;
}

function Numbers({ data }) {
  return html`
    <dl class="figures">
      <${Side} name="A" side=${data.a} />
      <${Side} name="B" side=${data.b} />
      <div class="figure">
        <dt>B less A, on ${number(data.pairs)} pairs</dt>
        <dd>${points(data.difference)} <span class="faint">points</span></dd>
        <dd class="under">
          ${points(data.low)} to ${points(data.high)} (95 %), ${pText(data.p)} (McNemar, exact)</dd>
        <dd class="under">${verdict(data)}</dd>
      </div>
    </dl>
  `;
}

function Flip({ name, flips, pairs, show }) {
  const n = flips[name];
  const chosen = show === name;
  const turn = () => setParams({ show: chosen ? "" : name, pair: "" }, { replace: true });
  return html`
    <td class="flip ${name}">
      <button type="button" aria-pressed=${chosen} title="Show these pairs" onClick=${turn}>
        <b>${number(n)}</b><span class="unseen"> ${FLIPS[name]}</span> <span class="faint">
          ${percent(pairs ? n / pairs : 0, 0)}</span>
      </button>
    </td>
  `;
}

function Flips({ data, show }) {
  const cell = (name) => html`<${Flip} name=${name} flips=${data.flips} pairs=${data.pairs}
    show=${show} />`;
  return html`
    <table class="flips" aria-label="Pairs by outcome">
      <thead><tr><td></td><th scope="col">B success</th><th scope="col">B failure</th></tr></thead>
      <tbody>
        <tr><th scope="row">A success</th>${cell("both")}${cell("a_only")}</tr>
        <tr><th scope="row">A failure</th>${cell("b_only")}${cell("neither")}</tr>
      </tbody>
    </table>
  `;
}

// -- pairs ----------------------------------------------------------------------------------------

const pairOf = (pair) => `${pair.a.id},${pair.b.id}`;

function PairRow({ pair, runs, chosen, params }) {
  const href = link(["compare"], { ...params, pair: chosen ? "" : pairOf(pair) });
  return html`
    <tr class=${chosen ? "chosen" : ""}>
      <td class="pictures"><${Thumb} run=${runs.a} hash=${pair.a.last} />
        <${Thumb} run=${runs.b} hash=${pair.b.last} /></td>
      <td class="main">
        <a class="row" href=${href} aria-current=${chosen ? "true" : null}>
          ${pair.a.goal || pair.task}</a>
        <span class="under"><span class="mono">${pair.task}</span> · seed <span class="mono">
          ${pair.seed}</span></span>
      </td>
      <td data-name="A"><${Outcome} of=${pair.a} /></td>
      <td data-name="B"><${Outcome} of=${pair.b} /></td>
      <td class="num" data-name="turns A">${pair.a.turns}</td>
      <td class="num" data-name="turns B">${pair.b.turns}</td>
    </tr>
  `;
}

function Pairs({ a, b, show, chosen, runs }) {
  const ref = useRef(null);
  useRows(ref, "a.row");
  const params = { a, b, show: show || "all" };
  const where = { run: runs.a, path: "/api/compare", name: "episodes" };
  const list = usePages({ ...where, params, nameOf: pairOf, newest: false });
  const { rows, error, next, loading } = list;
  if (!rows) {
    if (error) return html`<${Failed} error=${error} retry=${list.reload} />`;
    return html`<${Loading} text="Loading pairs…" />`;
  }
  if (!rows.length) return html`<${Empty} title="No such pair"
    hint="Choose another of the four counts." />`;
  return html`
    <div ref=${ref}>
      <div class="scroll">
        <table class="fold" aria-label="Pairs of episodes">
          <thead><tr><th>last: A, B</th><th>goal</th><th>A</th><th>B</th><th class="num">
            turns A</th><th class="num">turns B</th></tr></thead>
          <tbody>${rows.map((pair) => html`<${PairRow} key=${pairOf(pair)} pair=${pair}
            runs=${runs} chosen=${pairOf(pair) === chosen} params=${{ a, b, show }} />`)}</tbody>
        </table>
      </div>
      ${next && html`<${More} loading=${loading} more=${list.more} />`}
    </div>
  `;
}

function Half({ name, run, id, turn, onTurn, onLength }) {
  const answer = useData(`/api/runs/${run}/episodes/${id}`, {});
  const length = answer.data?.turns.length;
  useEffect(() => onLength(name, length ?? 0), [length]);
  // The shorter one says its last position, where it was told to be later: that moves nobody.
  const heard = (said) => said !== Math.min(turn, length ?? 0) && onTurn(said);
  return html`
    <section class="half" aria-label="Episode of ${name}">
      <h3>${name} ${answer.data && html`<${Outcome} of=${answer.data} />`} <a
        href=${link(["run", run, "episode", id], { turn })}>open</a></h3>
      <${Shown} of=${answer}>
        ${(episode) => html`<${Player} run=${run} episode=${episode} turn=${turn} onTurn=${heard}
          keys=${false} compact />`}
      <//>
    </section>
  `;
}

/** Both episodes of a pair, moved through turn by turn together. */
function Pair({ pair, runs }) {
  const ref = useRef(null);
  const [turn, setTurn] = useState(0);
  const [lengths, setLengths] = useState({});
  const [a, b] = pair.split(",");
  const most = Math.max(0, ...Object.values(lengths));
  const move = (next) => setTurn(Math.min(most, Math.max(0, next)));
  const close = () => setParams({ pair: "" });
  useEffect(() => {
    setTurn(0);
    ref.current.scrollIntoView({ block: "nearest" }); // its row may be far below
  }, [pair]);
  useKeys({
    ArrowLeft: [() => move(turn - 1), "Turn before, in both"],
    ArrowRight: [() => move(turn + 1), "Turn after, in both"],
    Escape: [close, "Close the pair"],
  });
  const onLength = (name, length) => setLengths((old) => ({ ...old, [name]: length }));
  const half = (name, id) => html`
    <${Half} key=${id} name=${name} run=${runs[name.toLowerCase()]} id=${id} turn=${turn}
      onTurn=${move} onLength=${onLength} />
  `;
  return html`
    <section class="pair" ref=${ref} aria-label="The chosen pair">
      <div class="bar">
        <button type="button" disabled=${turn <= 0} onClick=${() => move(turn - 1)}>← Turn</button>
        <span class="num" aria-live="polite">
          ${turn < most ? `turn ${turn + 1} of ${most}` : "after the last turn"}</span>
        <button type="button" disabled=${turn >= most} onClick=${() => move(turn + 1)}>
          Turn →</button>
        <button type="button" class="end quiet" onClick=${close}>Close</button>
      </div>
      <div class="halves">${half("A", a)}${half("B", b)}</div>
    </section>
  `;
}

function Body({ a, b, params }) {
  const answer = useData("/api/compare", { a, b, show: "all" });
  const runs = { a: a.split("/")[0], b: b.split("/")[0] };
  return html`
    <${Shown} of=${answer}>
      ${(data) => html`
        <div class="versus"><${Numbers} data=${data} />
          <${Flips} data=${data} show=${params.show} /></div>
        ${params.pair && html`<${Pair} pair=${params.pair} runs=${runs} />`}
        ${data.pairs > 0 && html`<${Pairs} a=${a} b=${b} show=${params.show} chosen=${params.pair}
          runs=${runs} />`}
      `}
    <//>
  `;
}

export function Compare({ route }) {
  const { params } = route;
  const answer = useData("/api/compare/choices", {}, { run: "*" });
  const draw = ({ choices }) => {
    if (!choices.length)
      return html`<${Empty} title="Nothing to compare"
        hint="Two evaluations on the same instances can be compared. No run has one yet." />`;
    const { a, b } = sides(choices, params);
    return html`
      <${Bar} choices=${choices} a=${a} b=${b} />
      ${a && b
        ? html`<${Body} key=${`${a} ${b}`} a=${a} b=${b} params=${params} />`
        : html`<${Empty} title="Choose two evaluations"
          hint="They are compared on the tasks and seeds that both have played." />`}
    `;
  };
  return html`
    <${Crumbs} items=${[{ text: "Runs", href: "#/" }, { text: "Compare" }]} />
    <h1 class="unseen">Compare</h1>
    <${Shown} of=${answer}>${draw}<//>
  `;
}
