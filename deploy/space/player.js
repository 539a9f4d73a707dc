// Plays the episodes of episodes.json. What agents and tasks wrote is only ever set as text.
"use strict";

const $ = (id) => document.getElementById(id);
const SECONDS = 1.2;
let episodes = [];
let chosen = 0;
let step = 0;
let timer = null;

function show() {
  const episode = episodes[chosen];
  const frame = episode.frames[step];
  const last = episode.frames.length - 1;
  $("goal").textContent = episode.goal;
  const ended = episode.success ? "success" : `no success, score ${episode.score}`;
  $("about").textContent = `${episode.task}, seed ${episode.seed}: ${ended}`;
  $("picture").src = frame.picture;
  $("step").max = last;
  $("step").value = step;
  $("number").textContent = `${step} of ${last}`;
  $("action").textContent = step < last ? frame.action : `The end: ${ended}.`;
  $("feedback").textContent = frame.feedback;
  document.querySelectorAll(".point").forEach((point) => point.remove());
  for (const [x, y] of frame.points) {
    const point = document.createElement("span");
    point.className = "point";
    point.style.left = `${100 * x}%`;
    point.style.top = `${100 * y}%`;
    $("screen").append(point);
  }
  document.querySelectorAll("#episodes button").forEach((button, number) => {
    button.setAttribute("aria-current", String(number === chosen));
  });
  if (last > step) new Image().src = episode.frames[step + 1].picture;
  history.replaceState(null, "", `#${chosen}/${step}`);
}

function go(toEpisode, toStep) {
  chosen = Math.min(Math.max(toEpisode, 0), episodes.length - 1);
  step = Math.min(Math.max(toStep, 0), episodes[chosen].frames.length - 1);
  show();
}

function play(on) {
  clearInterval(timer);
  timer = on ? setInterval(forth, 1000 * SECONDS) : null;
  $("play").textContent = on ? "Pause" : "Play";
}

function forth() {
  if (step >= episodes[chosen].frames.length - 1) play(false);
  else go(chosen, step + 1);
}

function fromAddress() {
  const [, episode, at] = location.hash.match(/^#(\d+)\/(\d+)$/) ?? [null, 0, 0];
  go(Number(episode), Number(at));
}

async function main() {
  const found = await (await fetch("episodes.json")).json();
  episodes = found.episodes;
  $("summary").textContent = found.summary;
  episodes.forEach((episode, number) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.textContent = `${episode.task}, ${episode.seed}`;
    button.className = episode.success ? "won" : "lost";
    button.onclick = () => { play(false); go(number, 0); };
    item.append(button);
    $("episodes").append(item);
  });
  $("back").onclick = () => { play(false); go(chosen, step - 1); };
  $("on").onclick = () => { play(false); go(chosen, step + 1); };
  $("play").onclick = () => {
    if (!timer && step >= episodes[chosen].frames.length - 1) go(chosen, 0);
    play(!timer);
  };
  $("step").oninput = () => { play(false); go(chosen, Number($("step").value)); };
  const keys = { ArrowLeft: "back", ArrowRight: "on", " ": "play" };
  addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.target.matches("button, input")) return;
    event.preventDefault();
    $(keys[event.key]).click();
  });
  addEventListener("hashchange", fromAddress);
  fromAddress();
}

main();
