// Plots with one time cursor.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { COLORS } from './stage.js';
import { number } from './format.js';

const FORCES = 5;
const TRUST_COLORS = ['#8b9098', '#2f9e44', '#74b816', '#f08c00', '#e8590c', '#e03131'];
const value = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

class Plot {
  constructor(box, title, onPick) {
    this.box = document.createElement('div');
    this.box.className = 'plot';
    this.box.innerHTML = '<div class="plot-head"><b></b><span class="series"></span></div><div class="plot-area"></div><div class="now"></div>';
    this.box.querySelector('b').textContent = title;
    box.append(this.box);
    this.now = this.box.querySelector('.now');
    this.onPick = onPick;
  }

  // series: [{ label, color, dash, data }]; data of logarithmic plots are powers of ten
  set(times, series, { log = false, words = null, unit = '', range = null, dots = false } = {}) {
    const area = this.box.querySelector('.plot-area'), stroke = () => value('--dim'), grid = { stroke: () => value('--grid'), width: 1 };
    const zoom = this.plot && this.whole === false ? { min: this.plot.scales.x.min, max: this.plot.scales.x.max } : null;
    this.plot?.destroy();
    this.series = series;
    this.unit = unit;
    this.words = words;
    this.log = log;
    // what stands above decides how much room is left
    this.box.querySelector('.series').replaceChildren(...series.filter((s) => s.label).map((s) => {
      const item = document.createElement('span');
      item.innerHTML = '<i></i><span></span> <em></em>';
      item.querySelector('i').style.background = s.dash ? `repeating-linear-gradient(90deg, ${s.color} 0 4px, transparent 4px 6px)` : s.color;
      item.querySelector('span').textContent = s.label;
      s.item = item.querySelector('em');
      return item;
    }));
    const font = '11px system-ui, sans-serif';
    this.plot = new uPlot({
      width: Math.max(120, area.clientWidth), height: Math.max(60, area.clientHeight),
      legend: { show: false },
      cursor: { sync: { key: 'time', scales: ['x', null] }, drag: { x: true, y: false }, points: { show: false }, y: false },
      scales: { x: { time: false }, y: { range: range ?? undefined } },
      axes: [
        { stroke, grid, ticks: grid, font, size: 28, space: 60, values: (_, list) => list.map((t) => number(t, 4)) },
        {
          stroke, grid, ticks: grid, font, size: words ? 118 : 56, space: 20,
          values: (_, list) => list.map((y) => (words ? words[y] ?? '' : log ? (Number.isInteger(y) ? `1e${y}` : '') : number(y, 3))),
          splits: words ? () => words.map((_, k) => k).slice(1) : undefined,
          incrs: log ? [1, 2, 4, 8] : undefined,
        },
      ],
      series: [{}, ...series.map((s) => ({
        stroke: s.color, width: s.width ?? 1.5, dash: s.dash, points: s.points ?? { show: false }, spanGaps: false,
        paths: dots ? () => null : undefined,
      }))],
      hooks: { draw: [(u) => { this.whole = !(u.scales.x.min > times[0] || u.scales.x.max < times.at(-1)); this.cursor(this.time ?? 0, this.frame ?? 0); }] },
    }, [times, ...series.map((s) => s.data)], area);
    if (zoom) this.plot.setScale('x', zoom);
    const over = this.plot.over;
    let down = null;
    over.addEventListener('pointerdown', (e) => { down = e.clientX; });
    over.addEventListener('pointerup', (e) => {
      if (down !== null && Math.abs(e.clientX - down) < 4) this.onPick(this.plot.posToVal(e.clientX - over.getBoundingClientRect().left, 'x'));
      down = null;
    });
    this.cursor(this.time ?? 0, this.frame ?? 0);
  }

  cursor(time, frame) {
    Object.assign(this, { time, frame });
    if (!this.plot) return;
    // a live run is ahead of its plots
    const x = this.plot.valToPos(Math.min(time, this.plot.data[0].at(-1)), 'x'), left = this.plot.over.offsetLeft, area = this.box.querySelector('.plot-area');
    const inside = x >= -0.5 && x <= this.plot.over.clientWidth + 0.5;
    this.now.style.display = inside ? 'block' : 'none';
    this.now.style.transform = `translateX(${area.offsetLeft + left + x}px)`;
    this.now.style.top = `${area.offsetTop + this.plot.over.offsetTop}px`;
    this.now.style.height = `${this.plot.over.clientHeight}px`;
    for (const s of this.series) {
      const y = s.data[Math.min(frame, s.data.length - 1)];
      if (s.item) s.item.textContent = y === null || y === undefined ? '' : this.words ? this.words[y] : `${number(this.log ? 10 ** y : y, this.log ? 2 : 4)}${this.unit ? ` ${this.unit}` : ''}`;
    }
  }

  resize() {
    const area = this.box.querySelector('.plot-area');
    if (this.plot && area.clientWidth) this.plot.setSize({ width: area.clientWidth, height: area.clientHeight });
    this.cursor(this.time ?? 0, this.frame ?? 0);
  }

  zoom(factor) {
    const { min, max } = this.plot.scales.x, times = this.plot.data[0];
    if (factor === 0) { this.plot.setScale('x', { min: times[0], max: times.at(-1) }); return; }
    const middle = Math.min(Math.max(this.time, min), max);
    this.plot.setScale('x', { min: Math.max(times[0], middle - (middle - min) * factor), max: Math.min(times.at(-1), middle + (max - middle) * factor) });
  }
}

// Where blows stick far out of the other forces, the height that shows the others; else nothing.
function withoutBlows(lists) {
  const all = lists.flatMap((list) => [...list]).filter((f) => f > 0).sort((a, b) => a - b);
  const usual = all[Math.floor(0.97 * all.length)] ?? 0;
  return all.length > 20 && all.at(-1) > 5 * usual ? 1.5 * usual : null;
}

export class Plots {
  constructor(box, store, onPick) {
    this.box = box;
    const tools = document.createElement('div');
    tools.className = 'plot-tools';
    for (const [label, title, factor] of [['+', 'Zoom plots in around the cursor', 0.5], ['−', 'Zoom plots out', 2], ['all', 'Show all of the time', 0]]) {
      const button = document.createElement('button');
      button.textContent = label;
      button.title = title;
      button.setAttribute('aria-label', title);
      button.addEventListener('click', () => this.all.forEach((p) => p.zoom(factor)));
      tools.append(button);
    }
    box.append(tools);
    this.forces = new Plot(box, 'Contact forces', onPick);
    this.energies = new Plot(box, 'Energies', onPick);
    this.residual = new Plot(box, 'Residual', onPick);
    this.trust = new Plot(box, 'Trust', onPick);
    this.all = [this.forces, this.energies, this.residual, this.trust];
    this.set(store, null);
  }

  set(store, body) {
    Object.assign(this, { store, body });
    const { times } = store, { shown, others } = store.pairForces(body, FORCES);
    const title = body === null ? 'Contact forces' : `Contact forces on ${store.owner(body).name}`;
    this.forces.box.querySelector('b').textContent = `${title}${others > 0 ? ` (largest ${shown.length} of ${shown.length + others})` : ''}`;
    const few = shown.length <= 2, top = withoutBlows(shown.map((p) => p.normal));
    if (top) this.forces.box.querySelector('b').textContent += `, blows to ${number(Math.max(...shown.map((p) => p.most)), 3)} N`;
    this.forces.set(times, shown.length ? shown.flatMap((p, k) => [
      { label: few ? `${p.name} normal` : p.name, color: COLORS[k % COLORS.length], data: p.normal },
      { label: few ? 'friction' : '', color: COLORS[k % COLORS.length], dash: [4, 3], data: p.friction },
    ]) : [{ label: 'none', color: value('--dim'), data: times.map(() => 0) }], { unit: 'N', range: top ? [-0.05 * top, top] : null });
    const some = store.header.energies.map((e, k) => ({ ...e, data: store.energies[k], k })).filter((e) => e.data.some((x) => x !== 0));
    const sum = times.map((_, t) => some.reduce((s, e) => s + e.sign * e.data[t], 0));
    this.energies.set(times, [
      ...some.map((e) => ({ label: e.label, color: COLORS[e.k % COLORS.length], dash: e.stored ? undefined : [4, 3], data: e.data })),
      { label: 'sum', color: value('--text'), width: 1, data: sum },
    ], { unit: 'J' });
    const { residual, trust } = store.steps, tolerance = Math.log10(store.scene.tolerance);
    this.residual.set(times, [
      { label: 'relative', color: COLORS[0], data: residual.map((r) => (r > 0 ? Math.max(Math.log10(r), -18) : null)), points: { show: true, size: 3, fill: COLORS[0] } },
      { label: 'tolerance', color: '#e8590c', dash: [6, 4], width: 1, data: times.map(() => tolerance) },
    ], { log: true, range: (_, low, high) => [Math.floor(Math.min(low, tolerance - 1)), Math.ceil(Math.max(high, tolerance) + 0.5)] });
    // steps are sampled: between the dots nothing was examined
    const words = store.header.trust_words, level = (k) => trust.map((t) => (t === k ? k : null));
    const levels = words.map((_, k) => k).filter((k) => k > 0 && trust.includes(k));
    this.trust.set(times, levels.map((k) => ({ label: '', color: TRUST_COLORS[k], data: level(k), points: { show: true, size: 5, fill: TRUST_COLORS[k] } })), { words, range: [0.5, words.length - 0.5], dots: true });
    this.levels = trust;
    this.cursor(this.time ?? 0, this.frame ?? 0);
  }

  cursor(time, frame) {
    Object.assign(this, { time, frame });
    this.all.forEach((p) => p.cursor(time, frame));
    let known = Math.min(frame, this.levels.length - 1);
    while (known > 0 && !this.levels[known]) known--;
    const word = this.store.header.trust_words[this.levels[known] ?? 0], when = this.levels[known] ? ` (by ${number(this.store.times[known], 5)} s)` : '';
    this.trust.box.querySelector('.series').textContent = word + when;
  }

  resize() { this.all.forEach((p) => p.resize()); }
  restyle() { this.set(this.store, this.body); }
}
