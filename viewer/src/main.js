// The viewer: one clock for the scene, the plots and the numbers.

import './style.css';
import * as THREE from 'three';
import { decode, embedded } from './decode.js';
import { number } from './format.js';
import { Panel, SHOWN } from './panel.js';
import { Patch } from './patch.js';
import { Plots } from './plots.js';
import { STATUS_COLORS, Stage } from './stage.js';
import { Store } from './store.js';

const $ = (id) => document.getElementById(id);
const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const POLL = { live: 40, recording: 2000 };

const ICONS = {
  play: 'M3 1v14l11-7z', pause: 'M3 1h4v14H3zM9 1h4v14H9z', first: 'M2 1h2v14H2zM14 1v14L5 8z', last: 'M12 1h2v14h-2zM2 1v14l9-7z',
  back: 'M12 1v14L3 8z', forward: 'M4 1v14l9-7z',
};
const icon = (name) => `<svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true"><path fill="currentColor" d="${ICONS[name]}"/></svg>`;

class App {
  constructor(chunk) {
    this.store = new Store(chunk);
    this.mode = chunk.header.mode;
    this.frame = 0;
    this.selected = null;
    this.speed = 1;
    this.playing = false;
    this.follow = this.mode === 'live';
    this.stage = new Stage($('view'), this.store);
    this.stage.setTypicalForce(this.store.typicalForce());
    this.patch = new Patch($('patch'));
    this.panel = new Panel(this);
    this.plots = new Plots($('plots'), this.store, (time) => this.jump(time));
    document.title = `${this.store.scene.name} - Stiction`;
    $('name').textContent = this.store.scene.name;
    $('speed').append(...SPEEDS.map((s) => new Option(`${s} x`, s, s === 1, s === 1)));
    this.theme();
    this.controls();
    this.arrived();
    this.go(this.follow ? this.store.length - 1 : 0);
    if (this.mode !== 'report') this.poll();
    new ResizeObserver(() => { this.stage.resize(); this.plots.resize(); this.ticks(); }).observe($('stage'));
  }

  get live() { return this.mode === 'live'; }
  get phase() { return this.store.header.phase; }
  get over() { return !this.live || this.phase === 'finished' || this.phase === 'failed'; }

  // --- time

  go(frame, share = 0) {
    this.frame = Math.min(Math.max(frame, 0), this.store.length - 1);
    const { store } = this, time = store.times[this.frame];
    this.stage.place(this.frame, share);
    this.plots.cursor(time, this.frame);
    this.patch.set(store, this.frame, this.selected);
    this.panel.refresh();
    $('scrub').value = this.frame;
    $('scrub').setAttribute('aria-valuetext', `${number(time, 6)} s`);
    $('time').textContent = `${time.toFixed(4)} s  ·  ${this.frame + 1} / ${store.length}`;
  }

  // To a record by hand: the clock stops, and a live run goes on unseen.
  seek(frame) {
    this.playing = false;
    this.follow = false;
    this.go(frame);
    this.state();
  }

  jump(time) { this.seek(this.store.frameAt(time)); }

  step(by) {
    if (by > 0 && !this.over && this.frame === this.store.length - 1) { this.command('step'); this.follow = true; return; }
    this.seek(this.frame + by);
  }

  event(by) {
    const { store } = this, now = store.times[this.frame];
    const list = store.events.map((e) => e.time);
    const time = by > 0 ? list.find((t) => t > now + 1e-12) : list.findLast((t) => t < now - 1e-12);
    if (time === undefined) return;
    // the record after the event shows what it led to
    const frame = store.frameAt(time);
    this.seek(by > 0 && store.times[frame] < time - 1e-12 ? Math.min(frame + 1, store.length - 1) : frame);
  }

  toggle() {
    if (!this.over) {
      this.command(this.phase === 'paused' ? 'resume' : 'pause');
      this.follow = true;
      return;
    }
    this.playing = !this.playing;
    this.follow = false;
    if (this.playing) {
      if (this.frame === this.store.length - 1) this.go(0);
      this.clock = { time: this.store.times[this.frame], at: performance.now() };
      requestAnimationFrame((now) => this.tick(now));
    }
    this.state();
  }

  tick(now) {
    if (!this.playing) return;
    const { store } = this, time = this.clock.time + this.speed * Math.max(0, now - this.clock.at) / 1000;
    const frame = store.frameAt(time), last = store.length - 1;
    if (frame >= last) { this.playing = false; this.go(last); this.state(); return; }
    const span = store.times[frame + 1] - store.times[frame];
    this.go(frame, Math.min(Math.max((time - store.times[frame]) / span, 0), 1));
    requestAnimationFrame((next) => this.tick(next));
  }

  setSpeed(speed) {
    this.speed = speed;
    if (this.playing) this.clock = { time: this.store.times[this.frame], at: performance.now() };
    $('speed').value = speed;
    if (this.live) this.command({ speed });
  }

  // --- more of a run or of a recording that grows

  async poll() {
    try {
      const { store } = this, have = { run: store.header.run, frames: store.length, contacts: store.contacts.length, events: store.events.length };
      const answer = await fetch(`api/clip?${new URLSearchParams(have)}`);
      if (!answer.ok) throw new Error(await answer.text());
      const chunk = decode(await answer.arrayBuffer());
      this.lost = null;
      if (chunk.header.scene && chunk.columns.time.length) this.replace(chunk);
      else {
        const phase = this.phase;
        if (store.append(chunk) < store.length || phase !== chunk.header.phase) this.arrived();
      }
      this.fault = chunk.header.fault;
    } catch (e) {
      console.info(e);
      this.lost ??= `The program has ended or does not answer; what was received stays here. (${e.message})`;
    }
    this.notices();
    setTimeout(() => this.poll(), this.lost ? 1000 : this.over && this.live ? 500 : POLL[this.mode]);
  }

  // Another run, or a recording that has changed: the camera and the selection stay.
  replace(chunk) {
    const time = this.store.times[this.frame], end = this.frame === this.store.length - 1;
    this.store = new Store(chunk);
    this.stage.store = this.store;
    this.plots.store = this.store;
    this.frame = Math.min(this.frame, this.store.length - 1);
    this.stage.frame = this.frame;
    this.panel.fill();
    this.arrived(true);
    this.go(this.live || end ? this.store.length - 1 : this.store.frameAt(time));
    this.follow = this.live;
  }

  arrived(now = false) {
    const { store } = this;
    $('scrub').max = store.length - 1;
    if (!(this.stage.perNewton > 0) || now) this.stage.setTypicalForce(store.typicalForce());
    if (this.follow) this.go(store.length - 1);
    this.state();
    // plots and lists of a live run a few times a second
    const due = performance.now() - (this.plotted ?? -1e9);
    clearTimeout(this.later);
    const refresh = () => {
      this.plotted = performance.now();
      if (this.live) this.stage.setTypicalForce(store.typicalForce());
      this.plots.set(this.store, this.selected);
      if (this.panel.events !== this.store.events.length) this.panel.fillEvents();
      this.ticks();
      this.legend();
    };
    if (now || due > 400) refresh(); else this.later = setTimeout(refresh, 400 - due);
  }

  async command(command) {
    try {
      const answer = await fetch('api/command', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(command) });
      if (!answer.ok) throw new Error(await answer.text());
    } catch (e) {
      this.lost = `The program does not answer. (${e.message})`;
      this.notices();
    }
  }

  // --- what the user sees of it

  state() {
    const running = this.live && !this.over ? this.phase === 'running' : this.playing;
    $('play').innerHTML = icon(running ? 'pause' : 'play');
    $('play').setAttribute('aria-label', running ? 'Pause' : 'Play');
    $('reset').hidden = !this.live;
    const words = { report: 'report', recording: 'recording', live: `live, ${this.phase}` }[this.mode];
    $('mode').textContent = words + (this.live && !this.follow && !this.over ? ' (looking back: End follows the run)' : '');
    $('mode').dataset.phase = this.live ? this.phase : this.mode;
    this.notices();
  }

  notices() {
    const { header } = this.store, list = [this.lost, this.fault, ...header.warnings].filter(Boolean);
    $('notice').hidden = !list.length;
    $('notice').textContent = list.join(' · ');
    $('notice').title = $('notice').textContent;
  }

  legend() {
    const unit = this.stage.perNewton > 0 ? this.stage.long / (this.stage.perNewton * this.stage.arrowScale) : 0;
    const item = (color, text) => `<span><i style="background:${color}"></i>${text}</span>`;
    const forces = unit > 0 ? `<span>an arrow of ${number(this.stage.long, 2)} m is ${number(unit, 2)} N</span>` : '';
    $('legend').innerHTML = item(STATUS_COLORS[1], 'stick') + item(STATUS_COLORS[2], 'slip') + item(STATUS_COLORS[0], 'open') + forces;
  }

  // Events on the track.
  ticks() {
    const canvas = $('ticks'), { store } = this, w = canvas.width = canvas.clientWidth || 300, pen = canvas.getContext('2d');
    const first = store.times[0], span = store.times.at(-1) - first || 1, words = store.header.event_words;
    const tint = { close: '#2f9e44', open: STATUS_COLORS[0], stick: STATUS_COLORS[1], slip: STATUS_COLORS[2], 'impact-without-collision': '#e03131' };
    let last = -9;
    for (const e of store.events) {
      const x = 8 + (w - 16) * (e.time - first) / span;
      if (x - last < 1) continue;
      pen.fillStyle = tint[words[e.kind]] ?? '#888';
      pen.fillRect(x, 0, 1.5, 10);
      last = x;
    }
  }

  theme(next) {
    let stored = null;
    try { stored = localStorage.getItem('stiction-theme'); } catch { /* pages without storage */ }
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    const theme = next ?? stored ?? (dark ? 'dark' : 'light');
    document.documentElement.dataset.theme = theme;
    if (next) try { localStorage.setItem('stiction-theme', next); } catch { /* the same */ }
    this.stage.restyle();
    this.plots.restyle();
    this.patch.list && this.patch.draw();
  }

  select(k) {
    this.selected = k;
    this.stage.select(k);
    this.panel.select(k);
    this.plots.set(this.store, k);
    this.stage.mark();
    this.patch.set(this.store, this.frame, k);
    if (k !== null && this.panel.tab !== 'bodies') this.panel.open('bodies');
  }

  cycle(by) {
    const n = this.store.scene.owners.length;
    this.select(this.selected === null ? (by > 0 ? 0 : n - 1) : (this.selected + by + n) % n);
  }

  show(key, on) {
    this.stage.shown[key] = on;
    $(`show-${key}`).checked = on;
    this.stage.paintSelection();
    this.stage.mark();
    this.stage.draw();
  }

  scaleArrows(factor) {
    this.stage.arrowScale = factor;
    this.stage.mark();
    this.stage.draw();
    this.legend();
  }

  fold(id) {
    const hidden = document.body.classList.toggle(`no-${id}`);
    $(`toggle-${id}`).setAttribute('aria-pressed', !hidden);
    this.stage.resize();
    this.plots.resize();
  }

  // --- pulling at bodies

  // A spring from a point of a body to a place, both in the world.
  pull(body, point, target) {
    const group = this.stage.owners[body], local = point.clone().sub(group.position).applyQuaternion(group.quaternion.clone().invert());
    this.hold = { body, local, target: target.clone() };
    this.send();
  }

  send() {
    if (!this.hold || this.sending) return;
    this.sending = true;
    const { body, local, target } = this.hold;
    this.command({ drag: { body, point: local.toArray(), target: target.toArray() } }).then(() => { this.sending = false; });
    const from = local.clone().applyQuaternion(this.stage.owners[body].quaternion).add(this.stage.owners[body].position);
    this.stage.setLines(this.stage.pull, [...from.toArray(), ...target.toArray()]);
    this.stage.draw();
  }

  release() {
    if (!this.hold) return;
    this.hold = null;
    this.stage.setLines(this.stage.pull, []);
    this.stage.draw();
    // after the last pull on its way
    const later = () => (this.sending ? setTimeout(later, 10) : this.command('release'));
    later();
  }

  // --- mouse, keys, buttons

  controls() {
    const canvas = $('view'), click = (id, f) => $(id).addEventListener('click', f);
    for (const name of ['first', 'back', 'forward', 'last']) $(name).innerHTML = icon(name);
    click('play', () => this.toggle());
    click('back', () => this.step(-1));
    click('forward', () => this.step(1));
    click('first', () => this.seek(0));
    click('last', () => this.end());
    click('reset', () => this.reset());
    click('previous-event', () => this.event(-1));
    click('next-event', () => this.event(1));
    click('theme', () => this.theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
    click('help-button', () => $('help').showModal());
    click('toggle-plots', () => this.fold('plots'));
    click('toggle-panel', () => this.fold('panel'));
    $('scrub').addEventListener('input', (e) => this.seek(Number(e.target.value)));
    $('speed').addEventListener('change', (e) => this.setSpeed(Number(e.target.value)));
    $('keys').innerHTML = KEYS.filter(([, , live]) => !live || this.live).map(([key, what]) => `<div><kbd>${key}</kbd> ${what}</div>`).join('');
    let down = null;
    canvas.addEventListener('pointerdown', (e) => {
      canvas.focus({ preventScroll: true });
      down = { x: e.clientX, y: e.clientY };
      const hit = e.ctrlKey && !this.over ? this.stage.pick(e.clientX, e.clientY) : null;
      if (!hit || hit.owner >= this.store.bodies) return;
      // the camera stays while a body is pulled
      e.stopImmediatePropagation();
      canvas.setPointerCapture(e.pointerId);
      const normal = this.stage.camera.getWorldDirection(new THREE.Vector3());
      this.plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, hit.point);
      if (this.phase === 'paused') this.command('resume');
      this.follow = true;
      this.select(hit.owner);
      this.pull(hit.owner, hit.point, hit.point);
    }, { capture: true });
    canvas.addEventListener('pointermove', (e) => {
      if (!this.hold || !this.plane) return;
      e.stopImmediatePropagation();
      this.stage.ray(e.clientX, e.clientY).ray.intersectPlane(this.plane, this.hold.target);
      this.send();
    }, { capture: true });
    canvas.addEventListener('pointerup', (e) => {
      if (this.plane) { this.plane = null; this.release(); down = null; return; }
      if (!down || e.button !== 0 || Math.hypot(e.clientX - down.x, e.clientY - down.y) > 4) return;
      down = null;
      this.select(this.stage.pick(e.clientX, e.clientY)?.owner ?? null);
    }, { capture: true });
    canvas.addEventListener('contextmenu', (e) => e.preventDefault());
    canvas.addEventListener('webglcontextlost', (e) => e.preventDefault());
    window.addEventListener('keydown', (e) => this.key(e));
    window.addEventListener('keyup', (e) => { if (e.key === 'Control' || e.key.startsWith('Arrow')) { if (this.hold && !this.plane) this.release(); } });
    window.addEventListener('blur', () => this.release());
    $('bodies').addEventListener('keydown', (e) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      if (by) { e.preventDefault(); e.stopPropagation(); this.cycle(by); }
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.theme());
  }

  end() {
    this.seek(this.store.length - 1);
    this.follow = this.live;
    this.state();
  }

  reset() {
    if (!this.live) { this.seek(0); return; }
    this.follow = true;
    this.playing = false;
    this.command('reset');
  }

  key(e) {
    if (e.metaKey || e.altKey || $('help').open) return;
    const field = e.target.closest?.('input, select, textarea'), button = e.target.closest?.('button');
    if (e.ctrlKey) {
      const along = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
      if (!along || this.over || this.selected === null || this.selected >= this.store.bodies) return;
      e.preventDefault();
      if (this.hold) return;
      const camera = this.stage.camera, reach = 1.5 * this.stage.size, at = this.stage.owners[this.selected].position;
      const right = new THREE.Vector3(1, 0, 0).applyQuaternion(camera.quaternion), up = new THREE.Vector3(0, 1, 0).applyQuaternion(camera.quaternion);
      if (this.phase === 'paused') this.command('resume');
      this.follow = true;
      this.pull(this.selected, at, at.clone().addScaledVector(right, reach * along[0]).addScaledVector(up, reach * along[1]));
      return;
    }
    if (field && !['Escape', 'F1'].includes(e.key)) return;
    const shift = e.shiftKey, speed = (by) => this.setSpeed(SPEEDS[Math.min(Math.max(SPEEDS.indexOf(this.speed) + by, 0), SPEEDS.length - 1)]);
    const actions = {
      ' ': button ? null : () => this.toggle(),
      ArrowLeft: () => (shift ? this.stage.turn(-1, 0) : this.step(-1)),
      ArrowRight: () => (shift ? this.stage.turn(1, 0) : this.step(1)),
      ArrowUp: () => (shift ? this.stage.turn(0, 1) : this.step(10)),
      ArrowDown: () => (shift ? this.stage.turn(0, -1) : this.step(-10)),
      Home: () => this.seek(0), End: () => this.end(), Backspace: () => this.reset(),
      PageDown: () => this.cycle(1), PageUp: () => this.cycle(-1), Escape: () => this.select(null),
      '-': () => speed(-1), '=': () => speed(1), '+': () => speed(1),
      '[': () => this.stage.align(this.stage.look - 1), ']': () => this.stage.align(this.stage.look + 1),
      a: () => this.stage.align(0), s: () => this.stage.align(this.stage.look, false),
      i: () => this.stage.zoom(1.15), o: () => this.stage.zoom(1 / 1.15),
      ',': () => this.event(-1), '.': () => this.event(1),
      d: () => $('theme').click(), p: () => this.fold('plots'), b: () => this.fold('panel'),
      F1: () => $('help').showModal(), '?': () => $('help').showModal(),
    };
    for (const [name, , letter] of SHOWN) actions[letter] = () => this.show(name, !this.stage.shown[name]);
    const action = actions[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!action) return;
    e.preventDefault();
    action();
  }
}

const KEYS = [
  ['Space', 'play or pause'], ['← →', 'one record back or on; in a paused live run → makes one'], ['↓ ↑', 'ten records'], ['Home End', 'first and last record; End follows a live run'],
  [', .', 'event before, next event'], ['- =', 'slower, faster'], ['Backspace', 'start again'],
  ['Left drag', 'turn the camera (planar: move)'], ['Right drag', 'move'], ['Wheel', 'zoom'], ['Click', 'select a body'],
  ['Ctrl drag', 'pull at a body with a spring', true], ['Ctrl arrows', 'pull at the selected body', true],
  ['Shift arrows', 'turn the camera'], ['I O', 'zoom in, out'], ['A', 'see everything'], ['S', 'centre on the selected body'], ['[ ]', 'front, side, top'],
  ['Page Up Page Down', 'body before, next body'], ['Esc', 'select nothing'],
  ['C F N K', 'contact points, forces, normals, friction cones'], ['E G T', 'axes, edges, transparent bodies'], ['P B D', 'plots, panel, light or dark'], ['F1 ?', 'this list'],
];

async function load() {
  const element = document.getElementById('clip');
  if (element) return embedded(element);
  const answer = await fetch('api/clip');
  if (!answer.ok) throw new Error(await answer.text());
  return decode(await answer.arrayBuffer());
}

load().then((chunk) => {
  if (!chunk.columns.time.length && chunk.header.mode !== 'live') throw new Error('the recording has no records yet');
  const start = () => { window.viewer = new App(chunk); };
  if (chunk.columns.time.length) { start(); return; }
  // a run that has not begun yet
  setTimeout(() => location.reload(), 200);
}).catch((e) => {
  $('notice').hidden = false;
  $('notice').textContent = `Nothing to show: ${e.message}`;
});
