// The curves of a run: which metrics are shown together, and how.

import { html, useEffect, useMemo, useRef, useState } from "../vendor/htm-preact.js";
import { get, useChange } from "../api.js";
import { aligned, Chart } from "../charts.js";
import { Failed, Loading } from "../parts.js";

// Metrics that belong together share a chart; a chart without any is not shown.
const CHARTS = [
  { title: "Success", metrics: ["success", "task_success"], percent: true, whole: true },
  { title: "Reward and score", metrics: ["reward", "mean_reward", "score"] },
  { title: "Entropy", metrics: ["entropy"] },
  { title: "KL divergence", metrics: ["kl", "approx_kl"] },
  { title: "Logprob gap", metrics: ["logprob_gap"] },
  { title: "Clip fraction", metrics: ["clip_fraction", "clip_low", "clip_high"], percent: true },
  { title: "Gradient norm", metrics: ["grad_norm"] },
  { title: "Loss", metrics: ["loss", "heldout_loss", "value_loss"] },
  { title: "Valid actions", metrics: ["valid_actions"], percent: true },
  { title: "Truncated turns", metrics: ["truncated_turns"], percent: true },
  { title: "Failed episodes", metrics: ["failed_episodes", "unrewarded_episodes"] },
  { title: "Groups", metrics: ["groups", "informative_groups"] },
  { title: "Turns per episode", metrics: ["turns"] },
];

const TIME = "time_";
const NO_PHASE = ["time_elapsed"];

const NOTHING = { names: [], rows: [], last: 0 };

function merged(old, page) {
  if (page.last < old.last) return null; // begun anew: what we hold is void
  const names = [...new Set([...old.names, ...page.names])];
  const same = names.length === old.names.length && names.length === page.names.length;
  const place = (from) => names.map((name) => from.indexOf(name));
  const fit = (rows, from) => {
    if (same && from.every((name, at) => name === names[at])) return rows;
    const places = place(from);
    return rows.map(([step, time, ...values]) => [
      step,
      time,
      ...places.map((at) => (at < 0 ? null : values[at])),
    ]);
  };
  const fresh = new Set(page.rows.map(([step]) => step));
  const kept = fit(old.rows, old.names).filter(([step]) => !fresh.has(step));
  return { names, rows: [...kept, ...fit(page.rows, page.names)], last: page.last };
}

/** The metrics of all steps; what is new is fetched alone. `epoch` changes where steps were void. */
export function useSteps(run, epoch) {
  const [state, setState] = useState({ steps: null, error: null });
  const held = useRef(NOTHING);
  const turn = useRef(0);

  const load = async (all) => {
    if (all) held.current = NOTHING;
    const mine = (turn.current += 1);
    try {
      const { last } = held.current;
      const page = await get(`/api/runs/${run}/steps`, last ? { after: last } : {});
      if (mine !== turn.current) return;
      const next = merged(held.current, page);
      if (!next) {
        load(true);
        return;
      }
      held.current = next;
      setState({ steps: next, error: null });
    } catch (error) {
      if (mine === turn.current) setState((old) => ({ ...old, error }));
    }
  };
  useEffect(() => {
    load(true);
  }, [run, epoch]);
  useChange(run, () => load(false));
  return { ...state, reload: () => load(true) };
}

function seriesOf(steps, name, label = name) {
  const at = steps.names.indexOf(name) + 2;
  const rows = steps.rows.filter((row) => row[at] !== null && row[at] !== undefined);
  return { label, x: rows.map((row) => row[0]), values: rows.map((row) => row[at]) };
}

const MODES = { greedy: "--line-2", sampled: "--line-3" };

// Evaluations are few and have intervals, so they are points with a band.
function measured(measurements, mode) {
  const ones = measurements.filter((one) => one.mode === mode && one.success !== null && one.n);
  const column = (name) => ones.map((one) => one[name]);
  const [low, high] = [column("low"), column("high")];
  const color = MODES[mode] ?? "--line-4";
  const label = mode ? `held out, ${mode}` : "held out";
  return { label, x: column("step"), values: column("success"), low, high, color, points: true };
}

function successSeries(steps, measurements) {
  const modes = [...new Set(measurements.map((one) => one.mode))];
  const held = modes.map((mode) => measured(measurements, mode)).filter((one) => one.x.length);
  const training = steps.names.includes("success") ? [seriesOf(steps, "success", "training")] : [];
  return [...training, ...held];
}

function StepChart({ chart, steps, marks, measurements }) {
  const { metrics, title, percent, whole } = chart;
  const { x, series } = useMemo(() => {
    if (title === "Success") return aligned(successSeries(steps, measurements));
    return aligned(metrics.map((name) => seriesOf(steps, name, chart.short?.(name))));
  }, [steps, measurements, metrics.join()]);
  return html`<${Chart} title=${title} x=${x} series=${series} marks=${marks} percent=${percent}
    whole=${whole} />`;
}

/** The charts that `names` fill, and the names that no chart has taken. */
function chosen(names, hasMeasurements) {
  const charts = CHARTS.map((chart) => ({
    ...chart,
    metrics: chart.metrics.filter((name) => names.includes(name)),
  }));
  const shown = charts.filter(
    ({ title, metrics }) => metrics.length || (title === "Success" && hasMeasurements),
  );
  const phases = names.filter((name) => name.startsWith(TIME) && !NO_PHASE.includes(name));
  if (phases.length) {
    const short = (name) => name.slice(TIME.length);
    shown.push({ title: "Seconds by phase", metrics: phases, short });
  }
  const taken = new Set([...shown.flatMap(({ metrics }) => metrics), ...NO_PHASE]);
  return { shown, rest: names.filter((name) => !taken.has(name)) };
}

const MARKED = ["resumed", "evaluation", "checkpoint"];
const MOST_MARKS = 80; // of more, only where a run was resumed is marked

function marksOf(timeline) {
  const all = timeline.filter(({ kind, step }) => MARKED.includes(kind) && step);
  const shown = all.length > MOST_MARKS ? all.filter(({ kind }) => kind === "resumed") : all;
  return shown.map(({ step, kind, text }) => ({ x: step, text: text || kind }));
}

/** The charts; the run's own metrics, which no chart knows, are under "more". */
export function RunCharts({ run, timeline, measurements, live }) {
  const epoch = timeline.filter(({ kind }) => kind === "resumed").length;
  const { steps, error, reload } = useSteps(run, epoch);
  const [more, setMore] = useState(false);
  const marks = useMemo(() => marksOf(timeline), [JSON.stringify(timeline)]);
  if (!steps) return error ? html`<${Failed} error=${error} retry=${reload} />` : html`
    <${Loading} />`;
  // One measurement is no curve.
  const several = new Set(measurements.map(({ step }) => step)).size > 1;
  if (!steps.rows.length && !several)
    return live && html`<p class="faint">No step is over yet: curves begin with the first.</p>`;
  const { shown, rest } = chosen(steps.names, measurements.length > 0);
  const draw = (chart) =>
    html`<${StepChart} key=${chart.title} chart=${chart} steps=${steps} marks=${marks}
      measurements=${measurements} />`;
  return html`
    ${error && html`<p class="notice bad" role="alert">
      Curves are not up to date: ${error.message}</p>`}
    <div class="charts">${shown.map(draw)}</div>
    ${rest.length > 0 && html`
      <details onToggle=${(event) => setMore(event.target.open)}>
        <summary>More: ${rest.length} other metric${rest.length === 1 ? "" : "s"}</summary>
        ${more && html`<div class="charts">
          ${rest.map((name) => draw({ title: name, metrics: [name] }))}</div>`}
      </details>
    `}
  `;
}

