// A motion: what was decoded so far, and sums over it.

const BODY = ['x', 'y', 'z', 'qw', 'qx', 'qy', 'qz', 'vx', 'vy', 'vz', 'wx', 'wy', 'wz'];
export const OPEN = 0, STICK = 1, SLIP = 2;
export const STATUS = ['open', 'stick', 'slip'];
// elements from which on a contact is drawn as its resultant
const MOST_ARROWS = 4;

export class Store {
  constructor({ header, columns }) {
    this.header = header;
    this.scene = header.scene;
    this.bodies = header.scene.owners.filter((o) => o.mass !== null).length;
    this.times = [];
    this.contacts = [];
    this.frames = []; // numbers of the bodies, and the rows of its contacts
    this.chunks = [];
    this.steps = { residual: [], trust: [], ending: [], iterations: [] };
    this.energies = header.energies.map(() => []);
    this.events = [];
    this.append({ header, columns });
  }

  get length() { return this.times.length; }

  append({ header, columns }) {
    this.header = { ...this.header, ...header, contacts: undefined };
    const first = this.length, count = columns.time.length, n = this.bodies;
    for (const contact of header.contacts) this.contacts.push(contact);
    for (let k = 0; k < count; k++) {
      const bodies = new Float64Array(13 * n);
      BODY.forEach((name, c) => {
        const list = columns[name];
        for (let b = 0; b < n; b++) bodies[13 * b + c] = list[b * count + k];
      });
      this.times.push(columns.time[k]);
      this.frames.push({ bodies });
    }
    // rows of contacts stay in their columns; each frame knows which are its own
    const rows = columns.frame.length, starts = new Int32Array(count + 1), order = new Int32Array(rows);
    for (let row = 0; row < rows; row++) starts[columns.frame[row] - first + 1]++;
    for (let k = 0; k < count; k++) starts[k + 1] += starts[k];
    const next = starts.slice();
    for (let row = 0; row < rows; row++) order[next[columns.frame[row] - first]++] = row;
    for (let k = 0; k < count; k++) {
      this.frames[first + k].columns = columns;
      this.frames[first + k].rows = order.subarray(starts[k], starts[k + 1]);
    }
    if (rows) this.chunks.push(columns);
    for (const [name, list] of Object.entries(this.steps)) for (const x of columns[name]) list.push(x);
    this.header.energies.forEach((e, k) => { for (const x of columns[e.name]) this.energies[k].push(x); });
    columns.event_time.forEach((time, k) => this.events.push({
      time, contact: columns.event_contact[k], kind: columns.event_kind[k],
      count: columns.event_count[k], impulse: columns.event_impulse[k],
    }));
    return first;
  }

  // The last record at or before a time.
  frameAt(time) {
    let low = 0, high = this.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time + 1e-12) low = middle; else high = middle - 1;
    }
    return low;
  }

  body(frame, body) { return this.frames[frame].bodies.subarray(13 * body, 13 * body + 13); }

  touches(frame) {
    const { columns: c, rows } = this.frames[frame];
    return Array.from(rows, (r) => ({
      contact: c.contact[r], element: c.element[r], status: c.status[r],
      p: [c.px[r], c.py[r], c.pz[r]], n: [c.nx[r], c.ny[r], c.nz[r]], f: [c.fx[r], c.fy[r], c.fz[r]],
      s: [c.sx[r], c.sy[r], c.sz[r]], gap: c.gap[r],
    }));
  }

  owner(k) { return this.scene.owners[k]; }

  // Forces to be drawn: of single elements, and of patches the resultant at the centre of pressure.
  marks(frame) {
    const touches = this.touches(frame), groups = new Map();
    for (const t of touches) {
      if (!groups.has(t.contact)) groups.set(t.contact, []);
      groups.get(t.contact).push(t);
    }
    const list = [];
    for (const group of groups.values()) {
      if (group.length <= MOST_ARROWS && !(this.contacts[group[0].contact].spacing > 0)) { list.push(...group); continue; }
      const sum = resultant(group);
      if (sum) list.push(sum);
    }
    return list;
  }

  // Normal force and friction of each pair of owners over time; those with the largest forces first.
  pairForces(body, most) {
    const pairs = new Map(), of = this.contacts.map(({ owners: [a, b] }) => {
      if (body !== null && a !== body && b !== body) return null;
      const key = `${a}/${b}`, zeros = () => new Float64Array(this.length);
      if (!pairs.has(key)) {
        pairs.set(key, { name: `${this.owner(a).name} / ${this.owner(b).name}`, normal: zeros(), fx: zeros(), fy: zeros(), fz: zeros(), most: 0 });
      }
      return pairs.get(key);
    });
    for (const c of this.chunks) {
      for (let r = 0; r < c.frame.length; r++) {
        const pair = of[c.contact[r]], frame = c.frame[r];
        if (!pair) continue;
        const fn = c.fx[r] * c.nx[r] + c.fy[r] * c.ny[r] + c.fz[r] * c.nz[r];
        pair.normal[frame] += fn;
        pair.fx[frame] += c.fx[r] - fn * c.nx[r];
        pair.fy[frame] += c.fy[r] - fn * c.ny[r];
        pair.fz[frame] += c.fz[r] - fn * c.nz[r];
        pair.most = Math.max(pair.most, pair.normal[frame]);
      }
    }
    const all = [...pairs.values()].sort((p, q) => q.most - p.most);
    const shown = all.slice(0, most);
    for (const p of shown) p.friction = p.fx.map((x, k) => Math.hypot(x, p.fy[k], p.fz[k]));
    return { shown, others: all.length - shown.length };
  }

  // A large but not extreme force, by which arrows are scaled: the median of the largest force of each record.
  typicalForce() {
    const list = [], stride = Math.max(1, Math.ceil(this.length / 200));
    for (let k = 0; k < this.length; k += stride) {
      const most = Math.max(0, ...this.marks(k).map((m) => length(m.f)));
      if (most > 0) list.push(most);
    }
    list.sort((a, b) => a - b);
    return list.length ? list[Math.floor(list.length / 2)] : 0;
  }
}

// The sum of a patch's forces, at its centre of pressure.
export function resultant(group) {
  const total = group.reduce((sum, t) => sum + dot(t.f, t.n), 0);
  if (!(total > 0)) return null;
  const p = [0, 0, 0], f = [0, 0, 0], s = [0, 0, 0];
  let status = SLIP;
  for (const t of group) {
    const fn = dot(t.f, t.n);
    for (let k = 0; k < 3; k++) {
      p[k] += fn / total * t.p[k];
      f[k] += t.f[k];
      s[k] += fn / total * t.s[k];
    }
    if (t.status === STICK) status = STICK;
  }
  return { ...group[0], p, f, s, status, patch: true };
}

export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const length = (a) => Math.hypot(a[0], a[1], a[2]);
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
// Tangent t of a normal, as near to x as possible.
export function tangent(n) {
  for (const axis of Math.abs(n[0]) < 0.999 ? [[1, 0, 0]] : [[0, 1, 0]]) {
    const d = dot(axis, n), t = axis.map((x, k) => x - d * n[k]), l = length(t);
    return t.map((x) => x / l);
  }
}
