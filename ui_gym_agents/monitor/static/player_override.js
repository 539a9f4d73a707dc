// People's verdicts on an episode. They stand beside the judge's own, which is never hidden.

import { html, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.js";
import { isStatic, post } from "./api.js";
import { when } from "./format.js";

const WHO = "ui-gym-monitor-who";
const VERDICTS = [
  ["success", "Success", "The goal was reached, whatever the judge said"],
  ["failure", "Failure", "The goal was not reached, whatever the judge said"],
  ["withdrawn", "Withdraw", "Earlier overrides no longer hold"],
];

function rememberedName() {
  try {
    return localStorage.getItem(WHO) ?? "";
  } catch {
    return ""; // storage may be forbidden
  }
}

function rememberName(who) {
  try {
    localStorage.setItem(WHO, who);
  } catch {
    // As above: the name is then typed again.
  }
}

/** The overrides of an episode, the latest first. */
export function Overrides({ overrides }) {
  if (!overrides.length) return html`<p class="faint">Nobody has overridden the judge.</p>`;
  const latest = [...overrides].sort((one, other) => (one.at < other.at ? 1 : -1));
  return html`
    <ol class="overrides">
      ${latest.map(({ verdict, reason, who, at }, key) => html`
        <li key=${key}>
          <span class="verdict ${verdict}">${verdict}</span> by <strong>${who || "somebody"}</strong>
          <time dateTime=${at} title=${at}>${when(at)}</time>
          ${reason && html`<p>${reason}</p>`}
        </li>
      `)}
    </ol>
  `;
}

function Verdict({ value, onChange }) {
  return html`
    <fieldset class="verdicts">
      <legend>Verdict</legend>
      ${VERDICTS.map(([name, text, title]) => html`
        <label key=${name} title=${title}>
          <input type="radio" name="verdict" value=${name} checked=${value === name} onChange=${() => onChange(name)} />${text}
        </label>
      `)}
    </fieldset>
  `;
}

/** The form for a new override; `onDone(overrides)` gets what holds then, `onClose` ends it. */
export function OverrideForm({ run, episode, onDone, onClose }) {
  // Whoever opens this disagrees with the judge: the other verdict is chosen at first.
  const [verdict, setVerdict] = useState(episode.success ? "failure" : "success");
  const [reason, setReason] = useState("");
  const [who, setWho] = useState(rememberedName);
  const [state, setState] = useState({ busy: false, error: "" });
  const form = useRef(null);
  // Before anything can be typed: later, it would take the focus from somebody's words.
  useLayoutEffect(() => form.current?.querySelector("input:checked")?.focus(), []);

  const send = async (event) => {
    event?.preventDefault();
    if (state.busy) return;
    setState({ busy: true, error: "" });
    rememberName(who.trim());
    try {
      const body = { episode: episode.id, verdict, reason: reason.trim(), who: who.trim() };
      const answer = await post(`/api/runs/${encodeURIComponent(run)}/overrides`, body);
      setState({ busy: false, error: "" });
      onDone(answer.overrides);
    } catch (error) {
      setState({ busy: false, error: error.message });
    }
  };
  const onKeyDown = (event) => {
    if (event.key === "Escape") onClose();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
  };
  return html`
    <form class="override" ref=${form} onSubmit=${send} onKeyDown=${onKeyDown} aria-label="Override the judge">
      <${Verdict} value=${verdict} onChange=${setVerdict} />
      <label><span>Why</span>
        <textarea rows="2" required value=${reason} placeholder="What the judge did not see" onInput=${(event) => setReason(event.target.value)}></textarea>
      </label>
      <label><span>Who</span>
        <input type="text" required value=${who} autocomplete="name" placeholder="Your name" onInput=${(event) => setWho(event.target.value)} />
      </label>
      ${state.error && html`<p class="notice bad" role="alert">${state.error}</p>`}
      <p class="buttons">
        <button type="submit" class="primary" disabled=${state.busy}>${state.busy ? "Recording…" : "Record the override"}</button>
        <button type="button" onClick=${onClose}>Cancel</button>
      </p>
    </form>
  `;
}

/** Whether an override of this episode can be recorded here. */
export const canOverride = (episode) => !isStatic() && episode.may_override !== false;
