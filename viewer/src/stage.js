// The scene in three dimensions: bodies, world, contacts, camera.

import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { OPEN, SLIP, STICK, cross, dot, length, tangent } from './store.js';

export const COLORS = ['#5c82b5', '#d99a55', '#78a880', '#b57685', '#8f80b5', '#73a8b3', '#c7b36b', '#998f85'];
export const STATUS_COLORS = { [OPEN]: '#8b9098', [STICK]: '#1f6fd6', [SLIP]: '#e4570b' };
const ACCENT = '#ffb300';
const HALF_ANGLE = 0.39;
const MARGIN = 1.2;

const UP = new THREE.Vector3(0, 1, 0);
const matrix = new THREE.Matrix4(), quaternion = new THREE.Quaternion();
const position = new THREE.Vector3(), scale = new THREE.Vector3(), direction = new THREE.Vector3();

// Instances of one geometry, solid in front of bodies and faint behind them.
class Marks {
  constructor(scene, geometry, { opacity = 1, behind = 0.28, side = THREE.FrontSide } = {}) {
    this.parent = scene;
    this.geometry = geometry;
    const options = { side, opacity, transparent: opacity < 1, depthWrite: opacity === 1 };
    this.materials = [new THREE.MeshBasicMaterial(options)];
    if (behind) {
      this.materials.push(new THREE.MeshBasicMaterial({
        side, transparent: true, opacity: behind * opacity, depthFunc: THREE.GreaterDepth, depthWrite: false,
      }));
    }
    this.room = 0;
    this.meshes = [];
  }

  set(list) {
    if (list.length > this.room) {
      this.meshes.forEach((m) => { this.parent.remove(m); m.dispose(); });
      this.room = Math.max(64, 2 * list.length);
      this.meshes = this.materials.map((material) => {
        const mesh = new THREE.InstancedMesh(this.geometry, material, this.room);
        mesh.frustumCulled = false;
        mesh.raycast = () => {};
        mesh.setColorAt(0, new THREE.Color());
        this.parent.add(mesh);
        return mesh;
      });
    }
    for (const mesh of this.meshes) {
      list.forEach(([m, color], k) => { mesh.setMatrixAt(k, m); mesh.setColorAt(k, color); });
      mesh.count = list.length;
      mesh.instanceMatrix.needsUpdate = true;
      mesh.instanceColor.needsUpdate = true;
    }
  }
}

const color = Object.fromEntries(Object.entries(STATUS_COLORS).map(([k, c]) => [k, new THREE.Color(c)]));

export class Stage {
  constructor(canvas, store) {
    this.canvas = canvas;
    this.store = store;
    const { scene: info } = store;
    this.planar = info.planar;
    this.size = info.size;
    this.shown = { contacts: true, forces: true, normals: false, cones: false, axes: false, transparent: false, edges: true };
    this.arrowScale = 1;
    this.selected = null;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = !this.planar;
    this.scene = new THREE.Scene();
    this.camera = this.planar ? new THREE.OrthographicCamera() : new THREE.PerspectiveCamera(2 * HALF_ANGLE * 180 / Math.PI);
    this.camera.up.set(...info.up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    if (this.planar) {
      this.controls.enableRotate = false;
      this.controls.mouseButtons = { LEFT: THREE.MOUSE.PAN, MIDDLE: THREE.MOUSE.DOLLY, RIGHT: THREE.MOUSE.PAN };
      this.controls.touches = { ONE: THREE.TOUCH.PAN, TWO: THREE.TOUCH.DOLLY_PAN };
    }
    this.controls.addEventListener('change', () => this.draw());
    this.lights();
    this.owners = info.owners.map((owner, k) => this.build(owner, k));
    this.extras();
    this.directions = store.header.directions.map((d) => new THREE.Vector3(...d));
    this.align();
  }

  lights() {
    const { up, radius, center } = this.store.scene;
    this.sky = new THREE.HemisphereLight('#ffffff', '#8a8f98', 1.9);
    this.sky.position.set(...up);
    this.sun = new THREE.DirectionalLight('#ffffff', 1.7);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    const reach = 2.2 * radius, shadow = this.sun.shadow.camera;
    Object.assign(shadow, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * radius, far: 12 * radius });
    this.sun.shadow.bias = -5e-4;
    this.sun.shadow.normalBias = 0.004 * radius;
    const [right, , back] = this.store.header.directions;
    const from = new THREE.Vector3(...up).multiplyScalar(3).add(new THREE.Vector3(...right).multiplyScalar(1.1)).add(new THREE.Vector3(...back).multiplyScalar(1.2));
    this.sunFrom = from.normalize().multiplyScalar(6 * radius);
    this.sun.position.set(...center).add(this.sunFrom);
    this.sun.target.position.set(...center);
    this.scene.add(this.sky, this.sun, this.sun.target);
  }

  geometry(index) {
    this.geometries ??= new Map();
    if (!this.geometries.has(index)) {
      const mesh = this.store.scene.meshes[index], solid = new THREE.BufferGeometry(), lines = new THREE.BufferGeometry();
      solid.setAttribute('position', new THREE.Float32BufferAttribute(mesh.vertices.flat(), 3));
      solid.setAttribute('normal', new THREE.Float32BufferAttribute(mesh.normals.flat(), 3));
      solid.setIndex(mesh.triangles.flat());
      lines.setAttribute('position', new THREE.Float32BufferAttribute(mesh.lines.flat(2), 3));
      this.geometries.set(index, [solid, lines]);
    }
    return this.geometries.get(index);
  }

  // A body or a world part as a group of its shapes.
  build(owner, k) {
    const group = new THREE.Group(), moves = k < this.store.bodies;
    group.userData = { owner: k, materials: [], lines: [] };
    for (const part of owner.parts) {
      const [solid, lines] = this.geometry(part.mesh), ground = part.shape === 'half_space' && !moves;
      const material = this.planar ? new THREE.MeshBasicMaterial({ side: THREE.DoubleSide }) : new THREE.MeshLambertMaterial();
      if (moves) material.color.set(COLORS[k % COLORS.length]);
      // walls are seen through, and from behind not at all
      const wall = ground && !this.planar && this.facing(part) < 0.5;
      material.userData = { ground, moves, wall };
      if (ground && !this.planar) this.chequer(material, solid);
      const mesh = new THREE.Mesh(solid, material);
      mesh.castShadow = !ground;
      mesh.receiveShadow = true;
      const place = new THREE.Group();
      place.position.set(...part.position);
      const [w, x, y, z] = part.attitude;
      place.quaternion.set(x, y, z, w);
      place.add(mesh);
      group.userData.materials.push(material);
      if (!ground || this.planar) {
        const outline = new THREE.LineSegments(lines, new THREE.LineBasicMaterial({ transparent: true, opacity: this.planar ? 0.9 : 0.35 }));
        outline.raycast = () => {};
        place.add(outline);
        group.userData.lines.push(outline);
      }
      group.add(place);
    }
    // planar pictures: the world lies under the bodies
    if (this.planar && !moves) group.position.z = -0.01 * this.store.scene.radius;
    this.scene.add(group);
    return group;
  }

  // Cosine of the angle between up and the normal of a half-space.
  facing(part) {
    const [w, x, y, z] = part.attitude;
    return new THREE.Vector3(0, 0, 1).applyQuaternion(new THREE.Quaternion(x, y, z, w)).dot(new THREE.Vector3(...this.store.scene.up));
  }

  // Squares on the ground, and far away the colour of the sky.
  chequer(material, geometry) {
    const cell = this.store.scene.radius / 2, canvas = document.createElement('canvas');
    canvas.width = canvas.height = 128;
    const pen = canvas.getContext('2d');
    pen.fillStyle = '#ffffff';
    pen.fillRect(0, 0, 128, 128);
    pen.fillStyle = '#eef0f2';
    pen.fillRect(0, 0, 64, 64);
    pen.fillRect(64, 64, 64, 64);
    const texture = new THREE.CanvasTexture(canvas);
    texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
    texture.anisotropy = 8;
    texture.colorSpace = THREE.SRGBColorSpace;
    const at = geometry.getAttribute('position'), uv = new Float32Array(2 * at.count);
    for (let k = 0; k < at.count; k++) { uv[2 * k] = at.getX(k) / (2 * cell); uv[2 * k + 1] = at.getY(k) / (2 * cell); }
    geometry.setAttribute('uv', new THREE.BufferAttribute(uv, 2));
    material.map = texture;
  }

  extras() {
    const sphere = new THREE.SphereGeometry(1, 16, 12);
    const shaft = new THREE.CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0);
    const head = new THREE.ConeGeometry(1, 1, 16).translate(0, 0.5, 0);
    this.points = new Marks(this.scene, sphere);
    this.shafts = new Marks(this.scene, shaft, { behind: 0.5 });
    this.heads = new Marks(this.scene, head, { behind: 0.5 });
    this.cones = new Map();
    this.normals = this.lineSet('#14a06a');
    this.springs = this.lineSet('#9a5fc0');
    this.pull = this.lineSet(ACCENT);
    this.axes = new THREE.AxesHelper(1.2 * this.size);
    this.axes.material.depthTest = false;
    this.axes.visible = false;
    this.scene.add(this.axes);
    this.scene.add(this.origin = new THREE.AxesHelper(0.5 * this.store.scene.radius));
    this.origin.visible = false;
  }

  lineSet(tint) {
    const lines = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: tint, depthTest: false, transparent: true, opacity: 0.9 }));
    lines.frustumCulled = false;
    lines.raycast = () => {};
    lines.renderOrder = 2;
    this.scene.add(lines);
    return lines;
  }

  setLines(lines, list) {
    lines.geometry.setAttribute('position', new THREE.Float32BufferAttribute(list, 3));
  }

  // The first look: everything, from the front, or along an axis of the world.
  align(view = 0, everything = true) {
    const { center, radius, up } = this.store.scene;
    const [right, above, back] = this.directions;
    const vertical = new THREE.Vector3(...up), looks = [back.clone()];
    if (!this.planar) {
      const front = back.clone().addScaledVector(vertical, -back.dot(vertical)).normalize();
      const side = new THREE.Vector3().crossVectors(vertical, front);
      looks.push(front, side, vertical.clone().addScaledVector(front, 1e-3).normalize());
    }
    this.look = ((view % looks.length) + looks.length) % looks.length;
    const target = everything ? new THREE.Vector3(...center) : this.target();
    this.resize();
    const [wide, high, deep] = (this.look ? [radius, radius, radius] : this.store.scene.extent).map((x) => MARGIN * x);
    const tangent = Math.tan(HALF_ANGLE), distance = this.planar ? 10 * radius : deep + Math.max(high / tangent, wide / (tangent * (this.aspect ?? 1.6)));
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(looks[this.look], distance);
    Object.assign(this.camera, { near: distance / 200, far: 60 * distance, zoom: 1 });
    this.resize(true);
    this.controls.update();
    this.draw();
  }

  target() {
    const { center } = this.store.scene;
    return this.selected === null ? new THREE.Vector3(...center) : this.owners[this.selected].position.clone();
  }

  turn(horizontal, vertical) {
    if (this.planar) {
      const step = 0.1 * this.store.scene.radius / this.camera.zoom, [right, above] = this.directions;
      const move = right.clone().multiplyScalar(step * horizontal).addScaledVector(above, step * vertical);
      this.camera.position.add(move);
      this.controls.target.add(move);
    } else {
      const up = this.camera.up, from = this.camera.position.clone().sub(this.controls.target);
      from.applyAxisAngle(up, 0.1 * horizontal);
      const angle = from.angleTo(up), wanted = THREE.MathUtils.clamp(angle - 0.1 * vertical, 0.05, Math.PI - 0.05);
      from.applyAxisAngle(new THREE.Vector3().crossVectors(up, from).normalize(), wanted - angle);
      this.camera.position.copy(this.controls.target).add(from);
    }
    this.controls.update();
    this.draw();
  }

  zoom(factor) {
    if (this.planar) { this.camera.zoom *= factor; this.camera.updateProjectionMatrix(); } else {
      this.camera.position.sub(this.controls.target).divideScalar(factor).add(this.controls.target);
    }
    this.controls.update();
    this.draw();
  }

  resize(force) {
    const { clientWidth: w, clientHeight: h } = this.canvas.parentElement;
    if (!w || !h) return;
    const ratio = Math.min(window.devicePixelRatio, 2);
    if (force || this.width !== w || this.height !== h || this.ratio !== ratio) {
      Object.assign(this, { width: w, height: h, ratio, aspect: w / h });
      this.renderer.setPixelRatio(ratio);
      this.renderer.setSize(w, h, false);
      if (this.planar) {
        const [wide, high] = this.store.scene.extent.map((e) => MARGIN * e), per = Math.max(wide / w, high / h), x = per * w, y = per * h;
        Object.assign(this.camera, { left: -x, right: x, top: y, bottom: -y });
      } else this.camera.aspect = w / h;
      this.camera.updateProjectionMatrix();
      this.draw();
    }
  }

  // Colours of a theme, from the style sheet.
  restyle() {
    const style = getComputedStyle(document.documentElement), value = (name) => style.getPropertyValue(name).trim();
    this.scene.background = new THREE.Color(value('--stage'));
    const { radius } = this.store.scene;
    if (!this.planar) this.scene.fog = new THREE.Fog(value('--stage'), 6 * radius, 22 * radius);
    for (const group of this.owners) {
      for (const material of group.userData.materials) if (!material.userData.moves) material.color.set(value('--ground'));
    }
    this.paintSelection();
    this.draw();
  }

  paintSelection() {
    const line = getComputedStyle(document.documentElement).getPropertyValue('--line').trim();
    this.owners.forEach((group, k) => {
      const chosen = k === this.selected;
      for (const outline of group.userData.lines) {
        outline.material.color.set(chosen ? ACCENT : line);
        outline.material.opacity = chosen ? 1 : this.planar ? 0.85 : 0.35;
        outline.visible = this.shown.edges || chosen;
      }
      for (const material of group.userData.materials) {
        material.emissive?.set(chosen ? '#3a2c00' : '#000000');
        const clear = this.shown.transparent && material.userData.moves || material.userData.wall;
        Object.assign(material, { transparent: clear, opacity: clear ? 0.35 : 1, depthWrite: !clear, needsUpdate: true });
      }
    });
  }

  select(k) {
    this.selected = k;
    this.paintSelection();
    this.draw();
  }

  // Bodies at a record, or between two of them by a share.
  place(frame, share = 0) {
    this.frame = frame;
    const { store } = this;
    for (let b = 0; b < store.bodies; b++) {
      const s = store.body(frame, b), group = this.owners[b];
      group.position.set(s[0], s[1], s[2]);
      group.quaternion.set(s[4], s[5], s[6], s[3]);
      if (share > 0 && frame + 1 < store.length) {
        const e = store.body(frame + 1, b);
        group.position.lerp(position.set(e[0], e[1], e[2]), share);
        group.quaternion.slerp(quaternion.set(e[4], e[5], e[6], e[3]), share);
      }
    }
    this.mark();
    this.draw();
  }

  world(owner, point) {
    return owner === null ? new THREE.Vector3(...point) : new THREE.Vector3(...point).applyQuaternion(this.owners[owner].quaternion).add(this.owners[owner].position);
  }

  // Contacts and forces of the current record.
  mark() {
    const { store, shown, size } = this, marks = store.marks(this.frame);
    const all = shown.contacts ? store.touches(this.frame) : [];
    this.points.set(all.map((t) => {
      const spacing = store.contacts[t.contact].spacing;
      const radius = spacing ? Math.min(0.05 * size, 0.3 * spacing) : 0.05 * size;
      return [new THREE.Matrix4().compose(position.set(...t.p), quaternion.identity(), scale.setScalar(radius)), color[t.status]];
    }));
    const shafts = [], heads = [];
    for (const m of shown.forces ? marks : []) {
      const force = length(m.f), long = Math.min(force * this.perNewton * this.arrowScale, 3 * this.long * Math.max(1, this.arrowScale));
      if (!(long > 0.02 * this.long)) continue;
      direction.set(...m.f).normalize();
      quaternion.setFromUnitVectors(UP, direction);
      const thin = Math.min(size, 0.8 * this.long), head = Math.min(0.25 * thin, 0.5 * long), thick = 0.03 * thin;
      shafts.push([new THREE.Matrix4().compose(position.set(...m.p), quaternion, scale.set(thick, long - head, thick)), color[m.status]]);
      position.addScaledVector(direction, long - head);
      heads.push([new THREE.Matrix4().compose(position, quaternion, scale.set(0.085 * thin, head, 0.085 * thin)), color[m.status]]);
    }
    this.shafts.set(shafts);
    this.heads.set(heads);
    this.setLines(this.normals, shown.normals ? marks.flatMap((m) => [...m.p, ...m.p.map((x, k) => x + 0.8 * size * m.n[k])]) : []);
    this.markCones(shown.cones ? marks : []);
    this.setLines(this.springs, store.scene.springs.flatMap((ends) => ends.flatMap((e) => this.world(e.owner, e.point).toArray())));
    this.axes.visible = shown.axes && this.selected !== null;
    if (this.axes.visible) {
      this.axes.position.copy(this.owners[this.selected].position);
      this.axes.quaternion.copy(this.owners[this.selected].quaternion);
    }
    this.origin.visible = shown.axes;
  }

  // Friction cones: admissible forces on the second body.
  markCones(marks) {
    const lists = new Map(), high = 0.9 * this.size;
    for (const m of marks) {
      const contact = this.store.contacts[m.contact];
      if (!(contact.friction > 0) || m.status === OPEN) continue;
      let t = tangent(m.n), [mt, mo] = [contact.friction, contact.friction];
      if (contact.grain) {
        const [across, along, owner] = contact.grain, fixed = owner < this.store.bodies;
        const d = fixed ? new THREE.Vector3(...along).applyQuaternion(this.owners[owner].quaternion).toArray() : along;
        const flat = d.map((x, k) => x - dot(d, m.n) * m.n[k]), l = length(flat);
        if (l > 1e-9) t = flat.map((x) => x / l);
        mo = across;
      }
      const o = cross(m.n, t);
      // steep cones are cut where they are as wide as high
      const h = high / Math.max(1, mt, mo);
      matrix.makeBasis(position.set(...t).multiplyScalar(mt * h).clone(), scale.set(...m.n).multiplyScalar(h).clone(), direction.set(...o).multiplyScalar(-mo * h).clone());
      matrix.setPosition(...m.p);
      if (!lists.has(contact.sides)) lists.set(contact.sides, []);
      lists.get(contact.sides).push([matrix.clone(), color[m.status]]);
    }
    for (const sides of lists.keys()) if (!this.cones.has(sides)) {
      // the tip at the origin, open along y; the pyramid is about the cone, a polygon within it with a corner on t
      const n = Math.abs(sides) || 40, geometry = new THREE.ConeGeometry(sides < 0 ? Math.SQRT2 : 1, 1, n, 1, true);
      geometry.rotateX(Math.PI).translate(0, 0.5, 0).rotateY(sides < 0 ? Math.PI / 4 : Math.PI / 2);
      this.cones.set(sides, new Marks(this.scene, geometry, { opacity: 0.3, behind: 0.5, side: THREE.DoubleSide }));
    }
    for (const [sides, cones] of this.cones) cones.set(lists.get(sides) ?? []);
  }

  setTypicalForce(force) {
    this.long = Math.min(1.3 * this.size, 0.5 * this.store.scene.radius);
    this.perNewton = force > 0 ? this.long / force : 0;
  }

  ray(x, y) {
    // bodies and camera as they are now, not as they were last drawn
    this.scene.updateMatrixWorld();
    this.camera.updateMatrixWorld();
    const box = this.canvas.getBoundingClientRect(), caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2(2 * (x - box.left) / box.width - 1, 1 - 2 * (y - box.top) / box.height), this.camera);
    return caster;
  }

  // The body or world part under the pointer, and where it is hit.
  pick(x, y) {
    const hits = this.ray(x, y).intersectObjects(this.owners, true);
    for (const hit of hits) {
      for (let node = hit.object; node; node = node.parent) {
        if (node.userData.owner !== undefined) return { owner: node.userData.owner, point: hit.point };
      }
    }
    return null;
  }

  // Where the centre of mass of a body is on the page.
  project(owner) {
    this.camera.updateMatrixWorld();
    const box = this.canvas.getBoundingClientRect(), at = this.world(owner, this.store.owner(owner).center).project(this.camera);
    return [box.left + (at.x + 1) / 2 * box.width, box.top + (1 - at.y) / 2 * box.height];
  }

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.renderer.render(this.scene, this.camera);
    });
  }
}
