// The viewer in a real browser: live runs, recordings, reports; and the server without one.
// Run by scripts/test-viewer; the program is named by STICTION.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = process.env.STICTION ?? path.join(root, 'target/release/stiction');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stiction-viewer-'));
const scene = (name) => path.join(root, 'scenes', `${name}.toml`);
let browser;
const started = [];

function run(args, code = 0) {
  const done = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
  assert.equal(done.status, code, `${args.join(' ')}: ${done.stdout}${done.stderr}`);
  return code === 0 ? done.stdout : done.stderr;
}

// Starts `stiction view` and returns its address.
async function view(...args) {
  const child = spawn(program, ['view', ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  const address = await new Promise((found, failed) => {
    let text = '';
    child.stdout.on('data', (bytes) => { text += bytes; const url = text.match(/http:\S+/); if (url) found(url[0]); });
    child.on('exit', (code) => failed(new Error(`ended with ${code}: ${text}`)));
  });
  return { address, child };
}

async function end(child, signal = 'SIGINT') {
  const code = new Promise((ended) => child.on('exit', ended));
  child.kill(signal);
  return code;
}

// A page without errors and without requests to anywhere else.
async function open(address, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1000, height: 640 }, colorScheme: 'light', ...options });
  page.problems = [];
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type()) && !/GPU stall|GL Driver/.test(m.text())) page.problems.push(m.text()); });
  page.on('pageerror', (e) => page.problems.push(e.message));
  page.on('request', (r) => { if (!r.url().startsWith(address) && !/^(data|blob):/.test(r.url())) page.problems.push(`request to ${r.url()}`); });
  await page.goto(address);
  await page.waitForFunction(() => window.viewer, null, { polling: 50 });
  return page;
}

const state = (page) => page.evaluate(() => ({ frame: viewer.frame, length: viewer.store.length, phase: viewer.phase, selected: viewer.selected, time: viewer.store.times[viewer.frame] }));
const poses = (page) => page.evaluate(() => viewer.stage.owners.slice(0, viewer.store.bodies).map((g) => [...g.position.toArray(), g.quaternion.w, g.quaternion.x, g.quaternion.y, g.quaternion.z]));
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

function csv(file) {
  const [head, ...lines] = fs.readFileSync(file, 'utf8').trim().split('\n').map((l) => l.split(','));
  return lines.map((cells) => Object.fromEntries(head.map((name, k) => [name, cells[k]])));
}

before(async () => {
  const flags = ['--headless', '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags });
  run(['run', scene('heap'), '--quiet']);
  run(['export', 'heap.recording']);
  run(['run', scene('mindlin/like-materials'), '--quiet', '--duration', '2.5']);
  run(['report', 'heap.recording']);
  run(['report', 'like-materials.recording']);
});

after(async () => {
  for (const child of started) child.kill('SIGKILL');
  await browser?.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

test('a recording is drawn as the renderer draws it, and scrubbed to its poses', async () => {
  const { address, child } = await view('heap.recording');
  const page = await open(address);
  const rows = csv(path.join(folder, 'heap.csv.recording/bodies.csv')), bodies = 6;
  const { length } = await state(page);
  assert.equal(length, rows.length / bodies);
  for (const frame of [0, 17, length - 1]) {
    await page.locator('#scrub').fill(String(frame));
    const found = await poses(page);
    for (let b = 0; b < bodies; b++) {
      const row = rows[frame * bodies + b];
      ['x', 'y', 'z', 'qw', 'qx', 'qy', 'qz'].forEach((c, k) => assert.ok(Math.abs(found[b][k] - Number(row[c])) < 2e-6, `${row.body} ${c}: ${found[b][k]} instead of ${row[c]}`));
    }
    assert.equal((await state(page)).time, Number(rows[frame * bodies].time));
  }
  // the same record, drawn without a browser at the size of the canvas
  const time = rows[17 * bodies].time;
  await page.locator('#scrub').fill('17');
  let result;
  // the page draws when it comes to it, and may still change its layout
  for (let tries = 0; tries < 30 && !(result?.differ < 0.02); tries++) {
    await wait(300);
    const [w, h] = await page.evaluate(() => [viewer.stage.width, viewer.stage.height]);
    run(['render', 'heap.recording', '--at', time, '--size', `${w}x${h}`, '--out', 'same.png', '--force']);
    const image = fs.readFileSync(path.join(folder, 'same.png')).toString('base64');
    result = await compare(page, image, w, h);
  }
  assert.ok(result.bodies > 0.02, `coloured: ${result.bodies}`);
  assert.ok(result.differ < 0.02, `different: ${result.differ}`);
  assert.deepEqual(page.problems, []);
  await page.close();
  assert.equal(await end(child), 0);
});

// Shares of pixels that differ and that are coloured. In a blank page: the viewer's may load no images.
async function compare(page, image, w, h) {
  const own = (await page.evaluate(() => document.getElementById('view').toDataURL())).split(',')[1];
  const blank = await browser.newPage();
  const result = await blank.evaluate(async ([one, two, width, height]) => {
    const pixels = async (data) => {
      const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], { type: 'image/png' }));
      const canvas = new OffscreenCanvas(width, height), pen = canvas.getContext('2d');
      pen.drawImage(bitmap, 0, 0, width, height);
      return pen.getImageData(0, 0, width, height).data;
    };
    const a = await pixels(one), b = await pixels(two);
    let differ = 0, bodies = 0;
    for (let k = 0; k < a.length; k += 4) {
      if ([0, 1, 2].some((c) => Math.abs(a[k + c] - b[k + c]) > 24)) differ++;
      const rgb = [a[k], a[k + 1], a[k + 2]];
      if (Math.max(...rgb) - Math.min(...rgb) > 40) bodies++;
    }
    return { differ: differ / (width * height), bodies: bodies / (width * height) };
  }, [own, image, w, h]);
  await blank.close();
  return result;
}

test('bodies are picked, and their numbers shown', async () => {
  const { address, child } = await view('heap.recording');
  const page = await open(address);
  await page.locator('#scrub').fill('60');
  const [x, y] = await page.evaluate(() => viewer.stage.project(3));
  await page.mouse.click(x, y);
  const row = csv(path.join(folder, 'heap.csv.recording/bodies.csv'))[60 * 6 + 3];
  assert.equal(await page.locator('#numbers h2').textContent(), 'wedge');
  const shown = (await page.locator('#numbers tr', { hasText: 'position' }).locator('td').first().textContent()).split(', ').map(Number);
  assert.ok(Math.abs(shown[0] - Number(row.x)) < 1e-4 && Math.abs(shown[1] - Number(row.y)) < 1e-4, `${shown} instead of ${row.x}, ${row.y}`);
  // forces on it balance its weight: it rests on others
  const sum = await page.evaluate(() => viewer.store.touches(60).filter((t) => viewer.store.contacts[t.contact].owners[1] === 3).reduce((s, t) => s + t.f[1], 0)
    - viewer.store.touches(60).filter((t) => viewer.store.contacts[t.contact].owners[0] === 3).reduce((s, t) => s + t.f[1], 0));
  const weight = 9.81 * await page.evaluate(() => viewer.store.owner(3).mass);
  assert.ok(Math.abs(sum / weight - 1) < 1e-3, `${sum} N against ${weight} N`);
  // the plots go by the body; a click on one goes to a time
  assert.match(await page.locator('.plot-head b').first().textContent(), /on wedge/);
  const box = await page.locator('.plot .u-over').nth(1).boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const { time } = await state(page);
  assert.ok(Math.abs(time - 0.75) < 0.03, `${time}`);
  await page.keyboard.press('Escape');
  assert.equal((await state(page)).selected, null);
  assert.deepEqual(page.problems, []);
  await page.close();
  await end(child);
});

test('the keyboard reaches everything', async () => {
  const { address, child } = await view('heap.recording');
  const page = await open(address);
  // Tab visits every control that is shown
  const controls = await page.evaluate(() => [...document.querySelectorAll('button, select, input, [tabindex="0"]')].filter((e) => e.checkVisibility() && e.tabIndex >= 0).map((e, k) => { e.dataset.control = k; return e.id || e.textContent; }));
  assert.ok(controls.length > 25, `${controls.length}`);
  const visited = new Set();
  await page.locator('body').focus();
  for (let k = 0; k < controls.length + 5; k++) {
    await page.keyboard.press('Tab');
    visited.add(await page.evaluate(() => document.activeElement.dataset?.control));
  }
  const missed = controls.filter((_, k) => !visited.has(String(k)));
  assert.deepEqual(missed, []);
  await page.locator('#view').focus();
  const press = async (key) => { await page.keyboard.press(key); return state(page); };
  await press('Home');
  assert.equal((await press('ArrowRight')).frame, 1);
  assert.equal((await press('ArrowUp')).frame, 11);
  assert.equal((await press('ArrowLeft')).frame, 10);
  await press('Home');
  const events = await page.evaluate(() => viewer.store.events.map((e) => e.time));
  assert.ok((await press('.')).time >= events[0] - 1e-9);
  assert.equal((await press('PageDown')).selected, 0);
  assert.equal((await press('End')).frame, (await state(page)).length - 1);
  for (const [key, what] of [['k', 'cones'], ['n', 'normals'], ['t', 'transparent']]) {
    await press(key);
    assert.ok(await page.locator(`#show-${what}`).isChecked(), what);
  }
  const look = () => page.evaluate(() => [...viewer.stage.camera.position.toArray(), viewer.stage.camera.zoom]);
  const before_ = await look();
  await press('Shift+ArrowRight');
  await press('i');
  assert.notDeepEqual(await look(), before_);
  await press('a');
  assert.deepEqual(await look(), before_);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
  await press('d');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await press('F1');
  assert.ok(await page.locator('#help').evaluate((d) => d.open));
  await press('Escape');
  await press('Home');
  await press(' ');
  await page.waitForFunction(() => viewer.frame > 3);
  await press(' ');
  const { frame } = await state(page);
  await wait(200);
  assert.equal((await state(page)).frame, frame);
  // tabs go by arrow keys
  await page.locator('#tab-bodies').focus();
  await press('ArrowRight');
  assert.ok(await page.locator('#pane-events').isVisible());
  await page.locator('.event').nth(5).focus();
  await press('Enter');
  assert.ok(Math.abs((await state(page)).time - events[5]) < 0.021);
  assert.deepEqual(page.problems, []);
  await page.close();
  await end(child);
});

test('a report opens from its file, alone', async () => {
  const page = await open(pathToFileURL(path.join(folder, 'like-materials.html')).href, { colorScheme: 'dark' });
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.keyboard.press('End');
  // the ball is drawn in its colour (orange) on a grey ground
  await wait(300);
  const [ball, ground] = await page.evaluate(() => {
    const view = document.getElementById('view'), box = view.getBoundingClientRect(), factor = view.width / box.width;
    const pen = new OffscreenCanvas(view.width, view.height).getContext('2d', { willReadFrequently: true });
    pen.drawImage(view, 0, 0);
    const at = (x, y) => [...pen.getImageData(Math.round(x), Math.round(y), 1, 1).data];
    const [x, y] = viewer.stage.project(1);
    // above the centre, beside the arrow
    return [at((x - box.left) * factor, (y - box.top - 20) * factor), at(view.width - 20, view.height - 20)];
  });
  assert.ok(ball[0] > ball[2] + 60, `ball ${ball}`);
  assert.ok(Math.abs(ground[0] - ground[2]) < 30 && ground[3] === 255, `ground ${ground}`);
  // the patch: 19 x 19 elements, sticking in the middle, slipping around it
  assert.ok(await page.locator('#patch').isVisible());
  const counts = (await page.locator('#patch-scale').textContent()).match(/(\d+) stick, (\d+) slip, (\d+) open/).slice(1).map(Number);
  assert.equal(counts[0] + counts[1] + counts[2], 361);
  assert.ok(counts[0] > 50 && counts[1] > 20, `${counts}`);
  // Hertz: p0 = 3 P / (2 pi a^2), a = 2.574e-3 m at P = 500 N
  const most = await page.evaluate(() => Math.max(...viewer.store.touches(viewer.frame).map((t) => t.f[2])) / 2.98e-4 ** 2);
  assert.ok(Math.abs(most / (1.5 * 500 / (Math.PI * 2.574e-3 ** 2)) - 1) < 0.05, `${most} Pa`);
  const map = () => page.evaluate(() => document.getElementById('patch-map').toDataURL());
  const pictures = new Set();
  for (const what of ['pressure', 'friction', 'slip', 'status']) {
    await page.locator('#patch-what').selectOption(what);
    pictures.add(await map());
  }
  assert.equal(pictures.size, 4);
  await page.locator('#tab-scene').click();
  assert.match(await page.locator('#text').textContent(), /elements = 19/);
  await page.locator('#tab-summary').click();
  assert.match(await page.locator('#summary').textContent(), /worst .* relative/);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('a live run streams, pauses, steps, starts again, and is pulled at', async () => {
  const { address, child } = await view(scene('box-on-plane'), '--paused', '--duration', '30');
  const page = await open(address);
  assert.equal((await state(page)).phase, 'paused');
  await page.locator('#view').focus();
  const { length } = await state(page);
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction((n) => viewer.store.length === n + 1, length);
  await page.keyboard.press(' ');
  await page.waitForFunction((n) => viewer.store.length > n + 10 && viewer.phase === 'running', length);
  await page.keyboard.press(' ');
  await page.waitForFunction(() => viewer.phase === 'paused');
  await wait(200);
  const paused = (await state(page)).length;
  await wait(300);
  assert.equal((await state(page)).length, paused);
  // at rest it stays where it is; pulled at, it does not
  const rest = (await poses(page))[0];
  assert.ok(Math.hypot(rest[0], rest[1]) < 1e-6);
  const [x, y] = await page.evaluate(() => viewer.stage.project(0));
  await page.keyboard.down('Control');
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let k = 1; k <= 10; k++) { await page.mouse.move(x + 25 * k, y); await wait(30); }
  await wait(500);
  await page.mouse.up();
  await page.keyboard.up('Control');
  await wait(300);
  const pulled = (await poses(page))[0];
  assert.ok(Math.hypot(pulled[0], pulled[1]) > 0.02, `moved to ${pulled.slice(0, 3)}`);
  // the camera stayed
  assert.equal(await page.evaluate(() => viewer.stage.controls.target.distanceTo({ x: viewer.store.scene.center[0], y: viewer.store.scene.center[1], z: viewer.store.scene.center[2] }) < 1e-9), true);
  // by keyboard too
  await page.keyboard.down('Control');
  await page.keyboard.down('ArrowUp');
  await wait(600);
  const lifted = (await poses(page))[0];
  await page.keyboard.up('ArrowUp');
  await page.keyboard.up('Control');
  assert.ok(lifted[2] > pulled[2] + 0.005, `lifted to ${lifted[2]}`);
  await page.keyboard.press('Backspace');
  await page.waitForFunction(() => viewer.store.header.run === 1);
  const again = (await poses(page))[0];
  assert.ok(Math.hypot(again[0] - rest[0], again[1] - rest[1]) < 1e-6, `${again}`);
  // the program ends: what was received stays, and the page says so
  const before_ = (await state(page)).length;
  assert.equal(await end(child), 0);
  await page.waitForFunction(() => !document.getElementById('notice').hidden);
  assert.match(await page.locator('#notice').textContent(), /does not answer/);
  assert.ok((await state(page)).length >= before_);
  await page.keyboard.press('Home');
  assert.equal((await state(page)).frame, 0);
  assert.deepEqual(page.problems.filter((p) => !/ERR_CONNECTION|Failed to load/.test(p)), []);
  await page.close();
});

test('a browser that leaves and comes back finds everything', async () => {
  const { address, child } = await view(scene('box-on-plane'), '--duration', '20');
  const page = await open(address);
  await page.waitForFunction(() => viewer.store.length > 5);
  await page.close();
  await wait(300);
  const back = await open(address);
  const times = await back.evaluate(() => viewer.store.times.slice(0, 10));
  assert.equal(times[0], 0);
  assert.ok(times.every((t, k) => k === 0 || t > times[k - 1]));
  assert.deepEqual(back.problems, []);
  await back.close();
  assert.equal(await end(child, 'SIGTERM'), 0);
});

test('recordings that grow, are cut short, or are old', async () => {
  const recorder = spawn(program, ['run', scene('heap'), '--quiet', '--out', 'growing.recording', '--duration', '60', '--set', 'step.h=1e-5', '--set', 'record.interval=0.01'], { cwd: folder });
  started.push(recorder);
  while (!fs.existsSync(path.join(folder, 'growing.recording/state.json'))) await wait(50);
  const { address, child } = await view('growing.recording');
  const page = await open(address);
  const { length } = await state(page);
  await page.waitForFunction((n) => viewer.store.length > n, length, { timeout: 20000 });
  assert.deepEqual(page.problems, []);
  await page.close();
  await end(recorder);
  await end(child);
  // a table that was cut short is left out, in words; without bodies there is nothing to show
  fs.cpSync(path.join(folder, 'heap.recording'), path.join(folder, 'cut.recording'), { recursive: true });
  const cut = (table) => fs.truncateSync(path.join(folder, `cut.recording/${table}.parquet`), 200);
  cut('contacts');
  const shown = await view('cut.recording');
  const half = await open(shown.address);
  assert.match(await half.locator('#notice').textContent(), /contacts\.parquet/);
  assert.equal((await poses(half)).length, 6);
  await half.close();
  await end(shown.child);
  cut('bodies');
  assert.match(run(['view', 'cut.recording'], 2), /bodies\.parquet/);
  for (const old of ['0.1.0-csv', '0.1.0-parquet']) {
    run(['report', path.join(root, 'crates/stiction-cli/tests/data', old), '--out', `${old}.html`]);
    const report = await open(pathToFileURL(path.join(folder, `${old}.html`)).href);
    // a ball of 1 kg slides: its weight, and friction against the slip
    const [f] = await report.evaluate(() => viewer.store.touches(viewer.store.length - 1).map((t) => t.f));
    assert.ok(Math.abs(f[2] - 9.81) < 1e-3, `${f}`);
    assert.deepEqual(report.problems, []);
    await report.close();
  }
});

// A request as no browser makes it.
function ask(address, options, body) {
  const url = new URL(address);
  return new Promise((found, failed) => {
    const request = http.request({ host: url.hostname, port: url.port, ...options }, (answer) => {
      let text = '';
      answer.on('data', (d) => { text += d; });
      answer.on('end', () => found({ status: answer.statusCode, text }));
    });
    request.on('error', failed);
    request.end(body);
  });
}

test('the server answers its own page alone, and no file', async () => {
  const { address, child } = await view(scene('box-on-plane'));
  const { port, pathname: page } = new URL(address), own = `127.0.0.1:${port}`;
  const get = (path_, headers) => ask(address, { path: path_, headers });
  assert.match(page, /^\/[0-9a-f]{32}\/$/);
  assert.equal((await get(page, {})).status, 200);
  assert.equal((await get(page, { host: 'evil.example' })).status, 403);
  assert.equal((await get(`${page}api/clip`, { host: `evil.example:${port}` })).status, 403);
  assert.equal((await get(`${page}api/clip`, { origin: 'http://evil.example' })).status, 403);
  assert.equal((await get(`${page}api/clip`, { 'sec-fetch-site': 'cross-site' })).status, 403);
  // another user of the machine does not know the key; and no file is served
  for (const path_ of ['/', '/api/clip', `/${'0'.repeat(32)}/`, `${page}../../etc/passwd`, `${page}scene.toml`, `${page}%2e%2e/etc/passwd`, `${page}api/`, '//etc/passwd']) {
    assert.equal((await get(path_, {})).status, 404, path_);
  }
  const post = (headers, body) => ask(address, { path: `${page}api/command`, method: 'POST', headers }, body);
  assert.equal((await post({}, '"pause"')).status, 403);
  assert.equal((await post({ origin: 'http://evil.example' }, '"pause"')).status, 403);
  const mine = { origin: `http://${own}` };
  assert.equal((await post(mine, '"pause"')).status, 200);
  for (const [wrong, words] of [['{', /no command/], ['"fly"', /no command/], ['{"drag":{"body":9,"point":[0,0,0],"target":[0,0,1]}}', /no body 9/], ['{"speed":-1}', /speed/]]) {
    const answer = await post(mine, wrong);
    assert.equal(answer.status, 400);
    assert.match(answer.text, words);
  }
  assert.equal((await ask(address, { path: page, method: 'DELETE' })).status, 405);
  // a port that is taken
  assert.match(run(['view', scene('box-on-plane'), '--port', port], 2), /port \d+ of 127\.0\.0\.1: .*free one/);
  await end(child);
});
