// A model's words token by token, coloured by how likely each was, and the exact input it read.

import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { get, pictureUrl } from "./api.js";
import { percent } from "./format.js";
import { Failed, Loading } from "./parts.js";

/** From this probability down a token gets the next stronger colour. */
export const STEPS = [0.9, 0.5, 0.2, 0.05, 0.01];
const LEGEND = ["over 90 %", "over 50 %", "over 20 %", "over 5 %", "over 1 %", "less"];

/** The probability of a log-probability (in nats); null stays null. */
export function probability(logprob) {
  return logprob === null || logprob === undefined ? null : Math.exp(logprob);
}

/** How strong a token's colour is: 0 (likely, none) to 5; 0 where nothing is known. */
export function strength(logprob) {
  const p = probability(logprob);
  return p === null ? 0 : STEPS.filter((step) => p <= step).length;
}

/** A token's text as it is shown: breaks, tabs and lone spaces can be seen. */
export function visibleText(text) {
  if (text === "") return "∅";
  if (/^ +$/.test(text)) return text.replace(/ /g, "␣");
  return text.replace(/\r/g, "␍").replace(/\n/g, "↵\n").replace(/\t/g, "⇥\t");
}

const signed = (value) => value.toFixed(Math.abs(value) < 0.1 ? 4 : 2).replace("-", "−");

/** What is said of one token: its text, log-probability and probability. */
export function describe({ text, logprob }) {
  const quoted = JSON.stringify(text);
  if (logprob === null || logprob === undefined) return `${quoted}: no log-probability recorded`;
  return `${quoted}: log-probability ${signed(logprob)}, probability ${percent(probability(logprob), 2)}`;
}

// -- fetching -------------------------------------------------------------------------------------

const held = new Map(); // path -> answer; what was sampled never changes
const HELD = 60;

async function tokensOf(path) {
  if (!held.has(path)) {
    const answer = await get(path);
    held.set(path, answer);
    if (held.size > HELD) held.delete(held.keys().next().value);
  }
  return held.get(path);
}

/** The tokens of a turn (`path` null: none wanted): `{data, error, retry}`. */
export function useTokens(path) {
  const [state, setState] = useState({ path: null, data: null, error: null });
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (path === null) return undefined;
    let gone = false;
    const tell = (change) => gone || setState({ path, data: null, error: null, ...change });
    tokensOf(path).then((data) => tell({ data }), (error) => tell({ error }));
    return () => {
      gone = true;
    };
  }, [path, count]);
  const current = state.path === path ? state : { data: held.get(path) ?? null, error: null };
  return { data: current.data, error: current.error, retry: () => setCount((value) => value + 1) };
}

// -- output ---------------------------------------------------------------------------------------

function Legend() {
  return html`
    <ul class="token-legend" aria-label="Colours by probability">
      ${LEGEND.map((text, at) => html`<li key=${at}><span class="token p${at}">${text}</span></li>`)}
    </ul>
  `;
}

function Row({ tokens, chosen, choose }) {
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    const jump = { Home: 0, End: tokens.length - 1 }[event.key];
    if (step === undefined && jump === undefined) return;
    event.preventDefault(); // here the arrows walk through the tokens, not through the turns
    event.stopPropagation();
    const at = jump ?? (chosen ?? -1) + step;
    choose(Math.min(tokens.length - 1, Math.max(0, at)));
  };
  const over = (event) => {
    const at = event.target.dataset?.at;
    if (at !== undefined) choose(Number(at));
  };
  return html`
    <div class="token-row" tabindex="0" role="group" aria-label="Tokens; the arrow keys go from one to the next"
      onKeyDown=${move} onFocus=${() => chosen ?? choose(0)} onPointerOver=${over} onPointerDown=${over}>
      ${tokens.map(({ text, logprob }, at) => html`
        <span key=${at} data-at=${at} class="token p${strength(logprob)} ${at === chosen ? "chosen" : ""}">${visibleText(text)}</span>
      `)}
    </div>
  `;
}

function AsTable({ tokens }) {
  const [open, setOpen] = useState(false);
  return html`
    <details class="token-table" open=${open} onToggle=${(event) => setOpen(event.target.open)}>
      <summary>As a table</summary>
      ${open && html`
        <table>
          <thead><tr><th scope="col">#</th><th scope="col">Token</th><th scope="col">Log-probability</th><th scope="col">Probability</th></tr></thead>
          <tbody>
            ${tokens.map(({ text, logprob }, at) => html`
              <tr key=${at}>
                <td class="num">${at + 1}</td><td><code>${visibleText(text)}</code></td>
                <td class="num">${logprob === null || logprob === undefined ? "–" : signed(logprob)}</td>
                <td class="num">${percent(probability(logprob), 2)}</td>
              </tr>
            `)}
          </tbody>
        </table>
      `}
    </details>
  `;
}

/** What the model said, token by token: a line says the chosen token's numbers. */
export function TokenOutput({ data }) {
  const [chosen, setChosen] = useState(null);
  useEffect(() => setChosen(null), [data]);
  const token = chosen === null ? null : data.output[chosen];
  const count = data.output.length;
  const sum = data.logprob_sum === null || data.logprob_sum === undefined ? "" : `, together ${signed(data.logprob_sum)} nats`;
  return html`
    <div class="tokens">
      ${count === 0 ? html`<p class="faint">No tokens to show.</p>` : html`<${Row} tokens=${data.output} chosen=${chosen} choose=${setChosen} />`}
      <p class="token-said" aria-live="polite">${token ? describe(token) : `${count} tokens${sum}`}${data.samples > 1 && !token ? `; the last of ${data.samples} samples of this turn` : ""}</p>
      ${data.note && html`<p class="notice">${data.note}</p>`}
      ${count > 0 && html`<${Legend} /><${AsTable} tokens=${data.output} />`}
    </div>
  `;
}

// -- input ----------------------------------------------------------------------------------------

/** Neighbouring plain texts of the input as one: [{text} | {text, special} | {picture}]. */
export function joined(pieces) {
  const parts = [];
  for (const piece of pieces) {
    const last = parts[parts.length - 1];
    const plain = piece.picture === undefined && !piece.special;
    if (plain && last && last.picture === undefined && !last.special) last.text += piece.text;
    else parts.push({ ...piece });
  }
  return parts;
}

/** What the model read, exactly: special tokens as chips, pictures where their places were. */
export function TokenInput({ run, data }) {
  if (!data.input.length) return html`<p class="faint">${data.note || "The input was not recorded."}</p>`;
  return html`
    <div class="token-input" tabindex="0" role="group" aria-label="Exact input of the model">
      ${joined(data.input).map((piece, at) => {
        if (piece.picture !== undefined)
          return html`<a key=${at} href=${pictureUrl(run, piece.picture)} target="_blank" rel="noopener"><img src=${pictureUrl(run, piece.picture)} alt="Picture that the model saw here" loading="lazy" /></a>`;
        if (piece.special) return html`<span key=${at} class="special">${piece.text}</span>`;
        return html`<span key=${at}>${piece.text}</span>`;
      })}
    </div>
  `;
}

/** Draws `children(data)` of what `useTokens` gave, or how it stands. */
export function TokensShown({ of, children }) {
  if (of.error) return html`<${Failed} error=${of.error} retry=${of.retry} />`;
  return of.data ? children(of.data) : html`<${Loading} text="Decoding tokens…" />`;
}
