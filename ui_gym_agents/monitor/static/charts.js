// Charts over the steps of a run, drawn by uPlot, which is loaded when the first one is shown.

import { html, useEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";
import { number, percent as percentText } from "./format.js";
import { useTheme } from "./parts.js";

const COLORS = ["--line-1", "--line-2", "--line-3", "--line-4", "--line-5", "--line-6"];
const STEPS = [1, 2, 5].flatMap((base) => [0, 1, 2, 3, 4, 5, 6].map((power) => base * 10 ** power));
STEPS.sort((one, other) => one - other);

const TOLD = 5; // marks that the words on a chart name

let loading = null;

function loadScript(source) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => resolve(window.uPlot);
    script.onerror = () => reject(new Error("The drawing library could not be loaded."));
    document.head.append(script);
  });
}

function loadStyle(source) {
  const sheet = document.createElement("link");
  sheet.rel = "stylesheet";
  sheet.href = source;
  document.head.append(sheet);
}

// The single-file export has uPlot in the page already.
function library() {
  if (window.uPlot) return Promise.resolve(window.uPlot);
  if (!loading) {
    loadStyle(new URL("./vendor/uplot.css", import.meta.url).href);
    loading = loadScript(new URL("./vendor/uplot.js", import.meta.url).href);
    loading.catch(() => (loading = null));
  }
  return loading;
}

library().catch(() => {}); // whoever draws says what went wrong

/** One x for series with x of their own: [{x, values, ...}] -> {x, series}. */
export function aligned(lists) {
  const x = [...new Set(lists.flatMap((list) => list.x))].sort((one, other) => one - other);
  const place = new Map(x.map((value, at) => [value, at]));
  const spread = (list, values) => {
    if (!values) return undefined;
    const column = new Array(x.length).fill(null);
    list.x.forEach((value, at) => (column[place.get(value)] = values[at] ?? null));
    return column;
  };
  const columns = (list) => ({
    ...list,
    values: spread(list, list.values),
    low: spread(list, list.low),
    high: spread(list, list.high),
  });
  return { x, series: lists.map(columns) };
}

// -- what uPlot is told ---------------------------------------------------------------------------

function colorOf(style, series, at) {
  return style.getPropertyValue(series.color ?? COLORS[at % COLORS.length]).trim();
}

// `color` is six hex digits; `part` of 100 of it is left.
function faded(color, part) {
  return color + Math.round(2.55 * part).toString(16).padStart(2, "0");
}

function columnsOf({ x, series }) {
  const parts = series.flatMap(({ values, low, high }) => (low ? [values, low, high] : [values]));
  return [x, ...parts];
}

function lines(series, style, few) {
  const [all, bands] = [[{}], []];
  series.forEach((one, at) => {
    const stroke = colorOf(style, one, at);
    const dots = { show: Boolean(one.points) || few, size: one.points ? 7 : 4, fill: stroke };
    all.push({ stroke, width: 1.6, spanGaps: true, points: dots });
    if (!one.low) return;
    const place = all.length;
    const edge = { stroke: faded(stroke, 45), width: 1, spanGaps: true, points: { show: false } };
    all.push(edge, edge);
    bands.push({ series: [place + 1, place], fill: faded(stroke, 14) });
  });
  return { series: all, bands };
}

function drawMarks(marks, style) {
  return (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = style.getPropertyValue("--faint").trim();
    ctx.globalAlpha = 0.55;
    ctx.setLineDash([3, 3].map((size) => size * devicePixelRatio));
    ctx.lineWidth = devicePixelRatio;
    for (const { x } of marks) {
      const left = Math.round(plot.valToPos(x, "x", true)) + 0.5;
      if (left < bbox.left || left > bbox.left + bbox.width + 1) continue;
      ctx.beginPath();
      ctx.moveTo(left, bbox.top);
      ctx.lineTo(left, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };
}

// A flat line in the middle, not at an edge; never below zero where nothing is.
function span(plot, low, high) {
  if (low === null || low === undefined) return [0, 1];
  const room = (high - low) * 0.08 || Math.abs(high) * 0.2 || 1;
  return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
}

function options({ props, style, size, onCursor }) {
  const { series, marks = [], height, percent, whole } = props;
  const few = props.x.length < 40;
  const text = style.getPropertyValue("--faint").trim();
  const grid = { stroke: style.getPropertyValue("--grid").trim(), width: 1 };
  const axis = { stroke: text, grid, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  const digits = (step) => (String(Number((100 * step).toPrecision(3))).split(".")[1] ?? "").length;
  const show = (value, step) => (percent ? percentText(value, digits(step)) : number(value));
  const shown = (ticks) => ticks.map((value) => show(value, ticks[1] - ticks[0] || 1));
  return {
    width: size,
    height,
    legend: { show: false },
    padding: [6, 10, 0, 0],
    cursor: { y: false, sync: { key: "steps" }, points: { size: 7 } },
    scales: { x: { time: false }, y: { range: whole ? [0, 1] : span } },
    axes: [
      { ...axis, size: 24, gap: 2, space: 48, incrs: STEPS },
      { ...axis, size: 50, gap: 4, space: 28, values: (_, ticks) => shown(ticks) },
    ],
    ...lines(series, style, few),
    hooks: { draw: [drawMarks(marks, style)], setCursor: [(plot) => onCursor(plot.cursor.idx)] },
  };
}

// -- what people read -----------------------------------------------------------------------------

function lastAt(values) {
  for (let at = values.length - 1; at >= 0; at -= 1) if (values[at] !== null) return at;
  return -1;
}

function valueText({ values, low, high }, at, percent) {
  const value = values[at];
  if (value === null || value === undefined) return null;
  const edge = (x) => (percent ? Math.round(100 * x) : number(x));
  const band = low && low[at] !== null ? ` (${edge(low[at])}–${edge(high[at])})` : "";
  return `${percent ? percentText(value) : number(value)}${band}`;
}

/** The chart in words, for those who do not see it. */
function summary({ title, x, series, percent, marks = [] }) {
  const parts = series.map((one) => {
    const at = lastAt(one.values);
    if (at < 0) return `${one.label}: no values`;
    const first = one.values.findIndex((value) => value !== null);
    const from = valueText(one, first, percent);
    return `${one.label}: ${from} at step ${x[first]}, ${valueText(one, at, percent)} at step ${x[at]}`;
  });
  const last = marks.slice(-TOLD).map((mark) => mark.text);
  const events = last.length ? `. Last marks: ${last.join(", ")}` : "";
  return `${title}. ${parts.join("; ")}${events}`;
}

// Marks that lie at a step, or near it where steps are many.
function near(marks, x, at) {
  const close = Math.max(0, (x[x.length - 1] - x[0]) / 100);
  return (marks ?? []).filter((mark) => Math.abs(mark.x - x[at]) <= close);
}

function Readout({ x, series, percent, at, marks, live }) {
  const one = (item, place) => {
    const index = at ?? lastAt(item.values);
    const text = index < 0 ? null : valueText(item, index, percent);
    if (text === null && series.length > 1) return null;
    return html`
      <span key=${item.label} class="value">
        ${series.length > 1 && html`
          <span class="swatch s${place % COLORS.length}"
            style=${item.color ? { background: `var(${item.color})` } : {}}></span>
          <span class="name">${item.label} </span>
        `}
        <b>${text ?? "–"}</b>
      </span>
    `;
  };
  const events = at === null ? [] : near(marks, x, at);
  return html`
    <div class="readout" aria-live=${live ? "polite" : "off"}>
      ${at !== null && html`<span class="name">step ${number(x[at])}</span>`} ${series.map(one)}
      ${events.map((mark) => html`<span class="name">${mark.text}</span>`)}
    </div>
  `;
}

// -- the component --------------------------------------------------------------------------------

function usePlot(props, setAt) {
  const box = useRef(null);
  const plot = useRef(null);
  const [error, setError] = useState(null);
  const theme = useTheme();
  const { x, series, marks, height, percent, whole } = props;
  const shape = JSON.stringify([
    series.map(({ label, low, color, points }) => [label, Boolean(low), color, points]),
    [marks, height, percent, whole, theme, x.length < 40],
  ]);
  const data = useMemo(() => columnsOf(props), [x, series]);
  const latest = useRef(data);
  latest.current = data;

  useEffect(() => {
    let over = false;
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry.contentRect.width);
      if (plot.current && width) plot.current.setSize({ width, height });
    });
    const make = (UPlot) => {
      if (over) return;
      const style = getComputedStyle(box.current);
      const size = box.current.clientWidth || 300;
      const told = options({ props, style, size, onCursor: (at) => setAt(at ?? null) });
      plot.current = new UPlot(told, latest.current, box.current);
      observer.observe(box.current);
    };
    library().then(make, (fault) => over || setError(fault));
    return () => {
      over = true;
      observer.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape]);

  useEffect(() => {
    if (plot.current && plot.current.data !== data) plot.current.setData(data);
  }, [data]);
  return { box, plot, error };
}

/**
 * Lines over the steps `x`; `series` = [{label, values, low, high, color, points}], missing values
 * null, `color` the name of a CSS variable. `marks` = [{x, text}] are vertical lines; `percent`
 * writes values as percents; `whole` shows all from 0 to 1. Drag to zoom, double-click to go back.
 */
export function Chart({ height = 150, ...given }) {
  const props = { height, ...given };
  const [at, setAt] = useState(null);
  const [focused, setFocused] = useState(false);
  const { box, plot, error } = usePlot(props, setAt);
  const { title, x } = props;
  const place = at !== null && at < x.length ? at : null;

  const onKeyDown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !plot.current || !x.length) return;
    event.preventDefault();
    const next = place === null ? x.length - 1 : Math.min(x.length - 1, Math.max(0, place + step));
    plot.current.setCursor({ left: plot.current.valToPos(x[next], "x"), top: 1 }, true, true);
  };
  return html`
    <figure class="chart" tabindex="0" aria-label=${summary(props)} onKeyDown=${onKeyDown}
      onFocus=${() => setFocused(true)} onBlur=${() => setFocused(false)}>
      <figcaption>
        <span class="title">${title}</span>
        <${Readout} ...${props} at=${place} live=${focused} />
      </figcaption>
      ${error ? html`<p class="notice bad">${error.message}</p>` : html`
        <div ref=${box} class="plot" style=${{ height: `${height}px` }}></div>`}
    </figure>
  `;
}
