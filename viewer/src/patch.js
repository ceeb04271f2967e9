// A patch seen along its normal: pressure, friction, slip and status of each element.

import { OPEN, SLIP, STICK, cross, dot, length, tangent } from './store.js';
import { STATUS_COLORS } from './stage.js';
import { number } from './format.js';

const RAMP = ['#30123b', '#4662d7', '#36aaf9', '#1ae4b6', '#72fe5e', '#c8ef34', '#faba39', '#f66b19', '#ca2a04'];

function ramp(x) {
  const at = Math.min(Math.max(x, 0), 1) * (RAMP.length - 1), k = Math.min(Math.floor(at), RAMP.length - 2);
  const [a, b] = [RAMP[k], RAMP[k + 1]].map((c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));
  return `rgb(${a.map((v, i) => Math.round(v + (at - k) * (b[i] - v))).join(',')})`;
}

export class Patch {
  constructor(figure) {
    this.figure = figure;
    this.canvas = figure.querySelector('canvas');
    this.title = figure.querySelector('#patch-title');
    this.scale = figure.querySelector('#patch-scale');
    this.what = figure.querySelector('select');
    this.what.addEventListener('change', () => this.draw());
  }

  // The patch of the selected body, or the one with the largest force.
  set(store, frame, body) {
    const groups = new Map();
    for (const t of store.touches(frame)) {
      const { spacing, owners } = store.contacts[t.contact];
      if (!(spacing > 0)) continue;
      const mine = body !== null && owners.includes(body);
      if (!groups.has(t.contact)) groups.set(t.contact, { list: [], force: mine ? 1e300 : 0 });
      const group = groups.get(t.contact);
      group.list.push(t);
      group.force += dot(t.f, t.n);
    }
    const best = [...groups.entries()].sort((a, b) => b[1].force - a[1].force)[0];
    this.figure.hidden = !best;
    if (!best) return;
    Object.assign(this, { store, contact: store.contacts[best[0]], list: best[1].list });
    this.draw();
  }

  values() {
    const { spacing } = this.contact, { planar } = this.store.scene, area = planar ? spacing : spacing * spacing;
    const unit = planar ? 'N/m' : 'Pa';
    const friction = (t) => { const fn = dot(t.f, t.n); return length(t.f.map((x, k) => x - fn * t.n[k])); };
    return {
      pressure: { unit, of: (t) => dot(t.f, t.n) / area },
      friction: { unit, of: (t) => friction(t) / area },
      slip: { unit: 'm/s', of: (t) => (t.status === OPEN ? 0 : length(t.s)) },
      status: { unit: '', of: (t) => t.status },
    }[this.what.value];
  }

  draw() {
    const { list, contact, canvas } = this, { planar } = this.store.scene, pen = canvas.getContext('2d');
    const { unit, of } = this.values(), status = this.what.value === 'status', values = list.map(of), most = Math.max(...values, 0);
    const n = list[0].n, t = tangent(n), o = cross(n, t), count = list.length;
    const middle = [0, 1, 2].map((k) => list.reduce((s, e) => s + e.p[k], 0) / count);
    const at = list.map((e) => { const d = e.p.map((x, k) => x - middle[k]); return [dot(d, t), dot(d, o)]; });
    const { width: w, height: h } = canvas;
    pen.clearRect(0, 0, w, h);
    const dim = getComputedStyle(document.documentElement).getPropertyValue('--dim').trim();
    const half = contact.elements * contact.spacing / 2, margin = 14;
    const fill = (k) => (status ? STATUS_COLORS[values[k]] : ramp(most > 0 ? values[k] / most : 0));
    if (planar) {
      // along t; the force is the height
      const factor = (w - 2 * margin) / (2 * half), base = h - 40, high = h - 80;
      list.forEach((e, k) => {
        const x = w / 2 + (at[k][0] - contact.spacing / 2) * factor, tall = status ? high / 2 : most > 0 ? high * values[k] / most : 0;
        pen.fillStyle = status ? fill(k) : STATUS_COLORS[e.status];
        pen.fillRect(x + 3, base - tall, contact.spacing * factor - 6, tall);
      });
      pen.strokeStyle = dim;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.moveTo(margin, base);
      pen.lineTo(w - margin, base);
      pen.stroke();
    } else {
      const side = h - 2 * margin, factor = side / (2 * half), cell = contact.spacing * factor;
      list.forEach((e, k) => {
        const x = w / 2 + at[k][0] * factor, y = h / 2 - at[k][1] * factor;
        if (e.status === OPEN && !(values[k] > 0)) {
          pen.strokeStyle = dim;
          pen.globalAlpha = 0.25;
          pen.strokeRect(x - cell / 2, y - cell / 2, cell, cell);
          pen.globalAlpha = 1;
          return;
        }
        pen.fillStyle = fill(k);
        pen.fillRect(x - cell / 2, y - cell / 2, cell + 0.5, cell + 0.5);
      });
      // slip: a stroke per slipping element, along the slip
      const fastest = Math.max(...list.map((e) => (e.status === SLIP ? length(e.s) : 0)));
      pen.strokeStyle = status ? '#fff' : 'rgba(255,255,255,0.9)';
      pen.lineWidth = Math.max(1, cell / 12);
      for (const [k, e] of list.entries()) {
        if (e.status === STICK && !status) {
          pen.fillStyle = 'rgba(255,255,255,0.85)';
          pen.beginPath();
          pen.arc(w / 2 + at[k][0] * factor, h / 2 - at[k][1] * factor, Math.max(1.2, cell / 9), 0, 7);
          pen.fill();
        }
        if (e.status !== SLIP || !(fastest > 0)) continue;
        const l = length(e.s);
        if (!(l > 0)) continue;
        const reach = 0.42 * cell * (0.4 + 0.6 * l / fastest), dx = reach * dot(e.s, t) / l, dy = -reach * dot(e.s, o) / l;
        const x = w / 2 + at[k][0] * factor, y = h / 2 - at[k][1] * factor;
        pen.beginPath();
        pen.moveTo(x - dx, y - dy);
        pen.lineTo(x + dx, y + dy);
        pen.moveTo(x + dx - 0.5 * (dx + dy), y + dy - 0.5 * (dy - dx));
        pen.lineTo(x + dx, y + dy);
        pen.lineTo(x + dx - 0.5 * (dx - dy), y + dy - 0.5 * (dy + dx));
        pen.stroke();
      }
    }
    const closed = list.filter((e) => e.status !== OPEN).length, slips = list.filter((e) => e.status === SLIP).length;
    this.title.textContent = contact.name;
    this.title.title = contact.name;
    this.scale.replaceChildren();
    const bar = document.createElement('span');
    bar.className = 'ramp';
    if (!status && !planar) bar.style.background = `linear-gradient(90deg, ${RAMP.join(',')})`;
    const words = `${closed - slips} stick, ${slips} slip, ${count - closed} open; side ${number(2 * half, 3)} m`;
    this.scale.append(...(status ? [words] : planar ? [`highest ${number(most, 4)} ${unit}; ${words}`] : ['0', bar, `${number(most, 4)} ${unit}; ${words}`]));
    if (!planar && !status) this.scale.append(' (dots stick, strokes slip)');
  }
}
