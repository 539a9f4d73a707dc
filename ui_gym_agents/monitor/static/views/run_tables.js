// What a run's success is made of: by task and suite, and by task over its training.

import { html, useMemo, useState } from "../vendor/htm-preact.js";
import { number, percent, purpose, rate } from "../format.js";
import { RateBar } from "../parts.js";
import { link } from "../router.js";

/** Rows in the order of a column; a click on its head turns the order round. */
function useOrder(first) {
  const [order, setOrder] = useState(first);
  const sorted = (rows) => {
    const { name, up } = order;
    const less = (one, other) => (one[name] === other[name] ? 0 : one[name] < other[name] ? -1 : 1);
    return [...rows].sort((one, other) => (up ? less(one, other) : less(other, one)));
  };
  const head = (name, text, kind = "") => {
    const here = order.name === name;
    const sort = here ? (order.up ? "ascending" : "descending") : null;
    const turn = () => setOrder({ name, up: here ? !order.up : true });
    return html`
      <th class=${kind} aria-sort=${sort}>
        <button type="button" class="sort" onClick=${turn}>${text}${here && html`
          <span aria-hidden="true">${order.up ? " ↑" : " ↓"}</span>`}</button>
      </th>
    `;
  };
  return { sorted, head };
}

/** Success of the last training steps; `blind_rate` is what an agent that sees nothing gets. */
export function RateTable({ run, rows, by, label }) {
  const { sorted, head } = useOrder({ name: "success", up: true });
  const blind = rows.some((row) => row.blind_rate !== null && row.blind_rate !== undefined);
  return html`
    <div class="scroll">
      <table aria-label=${label}>
        <thead>
          <tr>
            ${head(by, by)} ${head("success", "success")} ${head("n", "episodes", "num")}
            ${blind && html`<th class="num" title="What an agent that sees nothing would get">
              blind</th>`}
            <th class="num">failures</th>
          </tr>
        </thead>
        <tbody>
          ${sorted(rows).map((row) => {
            const page = (more) => link(["run", run, "episodes"], { [by]: row[by], ...more });
            return html`
              <tr key=${row[by]}>
                <td class="mono">${row[by] ? html`<a href=${page({})}>
                  ${row[by]}</a>` : "(none)"}</td>
                <td><${RateBar} rate=${row} /> <span class="faint">
                  ${row.n ? `${percent(row.low, 0)} to ${percent(row.high, 0)}` : ""}</span></td>
                <td class="num">${number(row.n)}</td>
                ${blind && html`<td class="num">${percent(row.blind_rate)}</td>`}
                <td class="num">${row[by] ? html`<a href=${page({ won: 0 })}>
                  ${number(row.n - row.successes)}</a>` : number(row.n - row.successes)}</td>
              </tr>
            `;
          })}
        </tbody>
      </table>
    </div>
  `;
}

function Cell({ run, task, column, cell }) {
  if (!cell || !cell.n) return html`<td class="heat none"><span class="faint">·</span></td>`;
  const { kind, step, mode } = column;
  const href = link(["run", run, "episodes"], { task, kind, step, mode });
  return html`
    <td class="heat" style=${{ "--part": `${Math.round(100 * cell.success)}%` }}>
      <a href=${href} title="${task}, ${purpose(column)}: ${rate(cell)}">
        ${Math.round(100 * cell.success)}</a>
    </td>
  `;
}

// "before", "40", "end 60"
function headOf({ kind, step }) {
  const word = SHORT[kind] ?? kind;
  return kind === "baseline" ? word : `${word} ${step}`;
}

const SHORT = { baseline: "before", step: "", evaluation: "", final: "end", filter: "filter" };

/** Success in percent by task (rows) and measurement (columns); a cell opens its episodes. */
export function HeatMap({ run, heat }) {
  // Tasks and measurements may be many: what is the same is not drawn again.
  return useMemo(() => html`<${Heat} run=${run} heat=${heat} />`, [run, JSON.stringify(heat)]);
}

function Heat({ run, heat }) {
  const { columns, rows } = heat;
  return html`
    <div class="scroll">
      <table class="heatmap" aria-label="Success in percent by task over training">
        <thead>
          <tr>
            <th>task</th>
            ${columns.map((column, at) => html`
              <th key=${at} class="num" title=${purpose(column)}>
                ${headOf(column)}
                ${column.mode && html`<span class="under">${column.mode}</span>`}
              </th>
            `)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(({ task, cells }) => html`
            <tr key=${task}>
              <th scope="row" class="mono">${task}</th>
              ${cells.map((cell, at) => html`<${Cell} key=${at} run=${run} task=${task}
                column=${columns[at]} cell=${cell} />`)}
            </tr>
          `)}
        </tbody>
      </table>
    </div>
  `;
}
