// The panel: what is shown, bodies and their numbers, events, summary, scene.

import { COLORS, STATUS_COLORS } from './stage.js';
import { STATUS, dot, length } from './store.js';
import { number, vector } from './format.js';

const $ = (id) => document.getElementById(id);
const LISTED = 400;

function element(tag, text, className) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
}

export const SHOWN = [
  ['contacts', 'Contact points', 'c'], ['forces', 'Forces', 'f'], ['normals', 'Normals', 'n'], ['cones', 'Friction cones', 'k'],
  ['axes', 'Axes', 'e'], ['edges', 'Edges', 'g'], ['transparent', 'Transparent', 't'],
];

export class Panel {
  constructor(app) {
    this.app = app;
    for (const [key, label, letter] of SHOWN) {
      const box = element('input'), line = element('label');
      box.type = 'checkbox';
      box.id = `show-${key}`;
      box.checked = app.stage.shown[key];
      box.addEventListener('change', () => app.show(key, box.checked));
      line.title = `Key ${letter.toUpperCase()}`;
      line.append(box, ` ${label}`);
      $('show').append(line);
    }
    const slider = element('input'), line = element('label');
    Object.assign(slider, { type: 'range', min: -2, max: 2, step: 0.25, value: 0, id: 'arrow-scale' });
    slider.addEventListener('input', () => app.scaleArrows(2 ** Number(slider.value)));
    line.append('Arrow length ', slider);
    line.className = 'wide';
    $('show').append(line);
    const tabs = [...$('tabs').children];
    tabs.forEach((tab, k) => {
      tab.tabIndex = k ? -1 : 0;
      tab.addEventListener('click', () => this.open(tab.id.slice(4)));
      tab.addEventListener('keydown', (e) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
        if (!step) return;
        e.preventDefault();
        e.stopPropagation();
        const next = tabs[(k + step + tabs.length) % tabs.length];
        this.open(next.id.slice(4));
        next.focus();
      });
    });
    this.tab = 'bodies';
    this.fill();
  }

  open(name) {
    this.tab = name;
    for (const tab of $('tabs').children) {
      const chosen = tab.id === `tab-${name}`;
      tab.setAttribute('aria-selected', chosen);
      tab.tabIndex = chosen ? 0 : -1;
      $(`pane-${tab.id.slice(4)}`).hidden = !chosen;
    }
    this.refresh();
  }

  // What does not change with time; again after more of a run has arrived.
  fill() {
    const { store } = this.app, { header, scene } = store;
    $('bodies').replaceChildren(...scene.owners.map((owner, k) => {
      const line = element('div', owner.name, 'body');
      line.id = `body-${k}`;
      line.setAttribute('role', 'option');
      line.prepend(element('i'));
      line.firstChild.style.background = k < store.bodies ? COLORS[k % COLORS.length] : 'var(--ground)';
      line.addEventListener('click', () => this.app.select(k));
      return line;
    }));
    $('text').textContent = header.text;
    $('summary').replaceChildren(
      ...header.summary.flatMap(([head, text]) => [element('dt', head), element('dd', text)]),
      ...header.warnings.flatMap((text) => [element('dt', 'warning'), element('dd', text)]),
    );
    this.fillEvents();
    this.select(this.app.selected);
  }

  fillEvents() {
    const { store } = this.app, words = store.header.event_words, total = store.events.length;
    const lines = store.events.slice(0, LISTED).map((e) => {
      const line = element('button', undefined, 'event');
      line.append(element('b', `${number(e.time, 6)} s`), element('i', words[e.kind], words[e.kind]), ` ${store.contacts[e.contact].name}${e.count > 1 ? ` (${e.count} elements)` : ''}${e.impulse ? `, ${number(e.impulse, 3)} N s` : ''}`);
      line.addEventListener('click', () => this.app.jump(e.time));
      return line;
    });
    const more = total > LISTED ? [element('p', `${total - LISTED} more: go through them with the keys , and .`, 'note')] : [];
    $('events').replaceChildren(...(total ? lines : [element('p', 'No events: nothing touched, stuck, slipped or opened.', 'note')]), ...more);
    $('tab-events').textContent = total ? `Events ${total}` : 'Events';
    this.events = total;
  }

  select(k) {
    for (const line of $('bodies').children) line.setAttribute('aria-selected', line.id === `body-${k}`);
    $('bodies').removeAttribute('aria-activedescendant');
    if (k !== null) {
      $('bodies').setAttribute('aria-activedescendant', `body-${k}`);
      $(`body-${k}`).scrollIntoView({ block: 'nearest' });
    }
    this.refresh();
  }

  refresh() {
    const { store, selected, frame } = this.app;
    if (this.tab === 'events') {
      const now = store.times[frame], lines = $('events').querySelectorAll('.event');
      let at = -1;
      store.events.slice(0, LISTED).forEach((e, k) => { if (e.time <= now + 1e-12) at = k; });
      if (this.marked !== at) {
        lines.forEach((l, k) => l.classList.toggle('past', k <= at));
        lines[at]?.scrollIntoView({ block: 'nearest' });
        this.marked = at;
      }
    }
    if (this.tab !== 'bodies') return;
    const box = $('numbers');
    if (selected === null) {
      box.replaceChildren(element('p', 'Click a body, or go through them with Page Up and Page Down.', 'note'));
      return;
    }
    const owner = store.owner(selected), rows = [], row = (head, text, unit = '') => rows.push([head, text, unit]);
    if (selected < store.bodies) {
      const s = store.body(frame, selected), velocity = s.slice(7, 10), turn = s.slice(10, 13);
      row('position', vector([...s.slice(0, 3)], 5), 'm');
      if (store.scene.planar) row('angle', number(2 * Math.atan2(s[6], s[3]), 5), 'rad');
      else row('attitude w x y z', vector([...s.slice(3, 7)], 4));
      row('velocity', vector([...velocity]), 'm/s');
      row('speed', number(length(velocity), 4), 'm/s');
      row('angular velocity', vector([...turn]), 'rad/s');
      row('mass', number(owner.mass, 5), 'kg');
      if (owner.inertia) row('inertia', store.scene.planar ? number(owner.inertia[2], 4) : vector(owner.inertia, 3), 'kg m²');
      row('joint', owner.joint + (owner.parent ? ` on ${owner.parent}` : ''));
    }
    const parts = owner.parts.map((p) => p.shape + (p.material ? `, ${p.material}` : ''));
    if (parts.length) row('shape', [...new Set(parts)].join('; '));
    const table = element('table'), mine = this.contactRows(selected, frame);
    for (const [head, text, unit] of rows) {
      const line = element('tr');
      line.append(element('th', head), element('td', text), element('td', unit, 'unit'));
      table.append(line);
    }
    box.replaceChildren(element('h2', owner.name), table, ...mine);
  }

  // Contacts of a body, with the share of the friction limit that is used.
  contactRows(body, frame) {
    const { store } = this.app, groups = new Map();
    for (const t of store.touches(frame)) {
      const contact = store.contacts[t.contact];
      if (!contact.owners.includes(body)) continue;
      if (!groups.has(t.contact)) groups.set(t.contact, { contact, normal: 0, f: [0, 0, 0], status: 0, slip: 0, elements: 0 });
      const g = groups.get(t.contact), fn = dot(t.f, t.n);
      g.normal += fn;
      t.f.forEach((x, k) => { g.f[k] += x - fn * t.n[k]; });
      g.status = t.status === 1 || g.status === 1 ? 1 : Math.max(g.status, t.status);
      g.slip = Math.max(g.slip, length(t.s));
      g.elements++;
    }
    if (!groups.size) return [element('p', 'It touches nothing in this record.', 'note')];
    const table = element('table', undefined, 'contacts'), head = element('tr');
    for (const [text, unit] of [['touches', ''], ['normal', 'N'], ['friction', 'N'], ['limit', 'used'], ['slip', 'm/s']]) {
      const cell = element('th', text);
      if (unit) cell.append(element('br'), unit);
      head.append(cell);
    }
    table.append(head);
    for (const { contact, normal, f, status, slip, elements } of groups.values()) {
      const line = element('tr'), [a, b] = contact.owners, friction = length(f), limit = contact.friction * normal;
      const name = element('td', store.owner(a === body ? b : a).name + (elements > 1 ? ` (${elements})` : ''));
      const dot_ = element('i', undefined, 'dot');
      dot_.style.background = STATUS_COLORS[status];
      dot_.title = STATUS[status];
      name.prepend(dot_);
      name.title = `${contact.name}: ${STATUS[status]}`;
      const share = contact.grain || contact.sides !== 0 ? '' : limit > 0 ? `${Math.round(100 * friction / limit)} %` : '';
      line.append(name, element('td', number(normal, 4)), element('td', number(friction, 3)), element('td', share), element('td', status === 0 ? '' : number(slip, 2)));
      table.append(line);
    }
    return [table];
  }
}
