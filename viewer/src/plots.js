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

  // series: [{ label, color, dash, data }]
  set(times, series, { log = false, words = null, unit = '', range = null, steps = false } = {}) {
    const area = this.box.querySelector('.plot-area'), stroke = () => value('--dim'), grid = { stroke: () => value('--grid'), width: 1 };
    const zoom = this.plot && !this.whole ? { ...this.plot.scales.x } : null;
    this.plot?.destroy();
    this.series = series;
    this.unit = unit;
    this.words = words;
    const font = '11px system-ui, sans-serif';
    this.plot = new uPlot({
      width: Math.max(120, area.clientWidth), height: Math.max(60, area.clientHeight),
      legend: { show: false },
      cursor: { sync: { key: 'time', scales: ['x', null] }, drag: { x: true, y: false }, points: { show: false }, y: false },
      scales: { x: { time: false }, y: { distr: log ? 3 : 1, range: range ?? undefined } },
      axes: [
        { stroke, grid, ticks: grid, font, size: 22, space: 60, values: (_, list) => list.map((t) => number(t, 4)) },
        {
          stroke, grid, ticks: grid, font, size: words ? 108 : 56, space: 18,
          values: (_, list) => list.map((y) => (words ? words[y] ?? '' : log ? logLabel(y) : number(y, 3))),
          splits: words ? () => words.map((_, k) => k) : undefined,
        },
      ],
      series: [{}, ...series.map((s) => ({
        stroke: s.color, width: s.width ?? 1.5, dash: s.dash, points: s.points ?? { show: false }, spanGaps: false,
        paths: steps ? uPlot.paths.stepped({ align: -1 }) : undefined,
      }))],
      hooks: { setScale: [(u, key) => { if (key === 'x') { this.whole = !(u.scales.x.min > times[0] || u.scales.x.max < times.at(-1)); this.cursor(this.time ?? 0, this.frame ?? 0); } }] },
    }, [times, ...series.map((s) => s.data)], area);
    if (zoom) this.plot.setScale('x', zoom);
    const over = this.plot.over;
    let down = null;
    over.addEventListener('pointerdown', (e) => { down = e.clientX; });
    over.addEventListener('pointerup', (e) => {
      if (down !== null && Math.abs(e.clientX - down) < 4) this.onPick(this.plot.posToVal(e.clientX - over.getBoundingClientRect().left, 'x'));
      down = null;
    });
    this.box.querySelector('.series').replaceChildren(...series.filter((s) => s.label).map((s) => {
      const item = document.createElement('span');
      item.innerHTML = '<i></i><span></span> <em></em>';
      item.querySelector('i').style.background = s.dash ? `repeating-linear-gradient(90deg, ${s.color} 0 4px, transparent 4px 6px)` : s.color;
      item.querySelector('span').textContent = s.label;
      s.item = item.querySelector('em');
      return item;
    }));
    this.cursor(this.time ?? 0, this.frame ?? 0);
  }

  cursor(time, frame) {
    Object.assign(this, { time, frame });
    if (!this.plot) return;
    const x = this.plot.valToPos(time, 'x'), left = this.plot.over.offsetLeft, area = this.box.querySelector('.plot-area');
    const inside = x >= -0.5 && x <= this.plot.over.clientWidth + 0.5;
    this.now.style.display = inside ? 'block' : 'none';
    this.now.style.transform = `translateX(${area.offsetLeft + left + x}px)`;
    this.now.style.top = `${area.offsetTop + this.plot.over.offsetTop}px`;
    this.now.style.height = `${this.plot.over.clientHeight}px`;
    for (const s of this.series) {
      const y = s.data[Math.min(frame, s.data.length - 1)];
      if (s.item) s.item.textContent = y === null || y === undefined ? '' : this.words ? this.words[y] : `${number(y, 4)}${this.unit ? ` ${this.unit}` : ''}`;
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

const logLabel = (y) => (y > 0 && Number.isInteger(Math.round(Math.log10(y) * 1e6) / 1e6) ? `1e${Math.round(Math.log10(y))}` : '');

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
    const few = shown.length <= 2;
    this.forces.set(times, shown.length ? shown.flatMap((p, k) => [
      { label: few ? `${p.name} normal` : p.name, color: COLORS[k % COLORS.length], data: p.normal },
      { label: few ? 'friction' : '', color: COLORS[k % COLORS.length], dash: [4, 3], data: p.friction },
    ]) : [{ label: 'none', color: value('--dim'), data: times.map(() => 0) }], { unit: 'N' });
    const some = store.header.energies.map((e, k) => ({ ...e, data: store.energies[k], k })).filter((e) => e.data.some((x) => x !== 0));
    const sum = times.map((_, t) => some.reduce((s, e) => s + e.sign * e.data[t], 0));
    this.energies.set(times, [
      ...some.map((e) => ({ label: e.label, color: COLORS[e.k % COLORS.length], dash: e.stored ? undefined : [4, 3], data: e.data })),
      { label: 'sum', color: value('--text'), width: 1, data: sum },
    ], { unit: 'J' });
    const { residual, trust } = store.steps, none = residual.every((r) => !(r > 0));
    const tolerance = store.scene.tolerance;
    this.residual.set(times, [
      { label: 'worst since the record before', color: COLORS[0], data: residual.map((r) => (r > 0 ? Math.max(r, 1e-18) : null)), points: { show: true, size: 3, fill: COLORS[0] } },
      { label: 'tolerance', color: '#e8590c', dash: [6, 4], width: 1, data: times.map(() => tolerance) },
    ], { log: true, range: none ? [1e-16, 1] : (_, low, high) => [10 ** Math.floor(Math.log10(Math.max(low, 1e-18))), 10 ** Math.ceil(Math.log10(high) + 0.1)] });
    const words = store.header.trust_words, worst = Math.max(0, ...new Set(trust));
    this.trust.set(times, [{ label: 'worst since the record before', color: TRUST_COLORS[worst], data: trust }], { words, range: [-0.5, words.length - 0.5], steps: true });
  }

  cursor(time, frame) { this.all.forEach((p) => p.cursor(time, frame)); }
  resize() { this.all.forEach((p) => p.resize()); }
  restyle() { this.set(this.store, this.body); }
}
