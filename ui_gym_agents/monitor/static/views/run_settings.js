// A run's settings as a tree or, with a filter, as a list; and the facts of where it ran.

import { html, useState } from "../vendor/htm-preact.js";
import { Field } from "../parts.js";

function branch(value) {
  return value !== null && typeof value === "object" && Object.keys(value).length > 0;
}

function text(value) {
  return typeof value === "string" ? value || '""' : JSON.stringify(value);
}

function flat(value, path = "") {
  if (!branch(value)) return [[path, text(value)]];
  return Object.entries(value).flatMap(([name, one]) => flat(one, path ? `${path}.${name}` : name));
}

function Leaf({ name, value }) {
  return html`<div class="setting"><dt class="mono">${name}</dt><dd class="mono">
    ${value}</dd></div>`;
}

function Tree({ value, open }) {
  return Object.entries(value).map(([name, one]) => {
    if (!branch(one)) return html`<${Leaf} key=${name} name=${name} value=${text(one)} />`;
    return html`
      <details key=${name} class="branch" open=${open}>
        <summary class="mono">${name} <span class="faint">
          ${Object.keys(one).length}</span></summary>
        <dl><${Tree} value=${one} open=${false} /></dl>
      </details>
    `;
  });
}

export function Settings({ config }) {
  const [filter, setFilter] = useState("");
  if (!branch(config)) return html`<p class="faint">No settings are known.</p>`;
  const wanted = filter.toLowerCase();
  const fits = (pair) => pair.join(" ").toLowerCase().includes(wanted);
  const found = wanted && flat(config).filter(fits);
  return html`
    <${Field} label="Filter settings" hidden type="text" hint="Filter settings" value=${filter}
      onChange=${setFilter} />
    ${found
      ? html`<dl class="settings">${found.map(([name, value]) => html`
        <${Leaf} key=${name} name=${name} value=${value} />`)}</dl>
          ${!found.length && html`<p class="faint">No setting has this in its name or value.</p>`}`
      : html`<dl class="settings"><${Tree} value=${config} open=${false} /></dl>`}
  `;
}

export function Facts({ facts, place }) {
  const { versions = {}, ...rest } = facts ?? {};
  const pairs = [["folder", place], ...Object.entries(rest), ...Object.entries(versions)];
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return html`
    <dl class="settings">
      ${known.map(([name, value]) => html`<${Leaf} key=${name} name=${name}
        value=${Array.isArray(value) ? value.join(" ") : text(value)} />`)}
    </dl>
  `;
}
