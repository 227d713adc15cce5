import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { processesBelow } from '#server/platform/processes.ts';

const root = path.resolve(import.meta.dirname, '..');
const parts = ['app', 'db', 'locales', 'protocol', 'public', 'samples', 'scripts', 'server'];
const files = ['next.config.ts', 'package.json', 'postcss.config.mjs', 'tsconfig.json'];

let copy: string;
let port: number;
let dev: ChildProcess;
let ended: Promise<number | null>;
let output = '';

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  return port;
}

/** Runs `npm run dev` on a copy of the sources, so that other tests do not see the changed page. */
beforeAll(async () => {
  const below = path.join(root, '.data');
  await mkdir(below, { recursive: true });
  copy = await mkdtemp(path.join(below, 'dev-'));
  for (const part of [...parts, ...files]) await cp(path.join(root, part), path.join(copy, part), { recursive: true });
  // Node finds packages in parent folders, but the pages refer to their fonts by path.
  const fonts = path.join('node_modules', '@fontsource-variable');
  await cp(path.join(root, fonts), path.join(copy, fonts), { recursive: true });
  port = await freePort();
  dev = spawn(process.execPath, ['scripts/dev.ts'], {
    cwd: copy,
    env: {
      ...process.env,
      PORT: String(port),
      GATEWAY_PORT: String(await freePort()),
      DATA_DIR: path.join(copy, 'data'),
      ANNEX_LOG: 'error',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [dev.stdout, dev.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  ended = once(dev, 'exit').then(([code]) => code as number | null);
  await vi.waitFor(() => expect(output).toContain('Annex is ready'), { timeout: 120_000, interval: 100 });
}, 150_000);

afterAll(async () => {
  dev.kill('SIGKILL');
  await ended;
  await rm(copy, { recursive: true, force: true });
}, 60_000);

async function change(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(path.join(copy, file), 'utf8');
  expect(text).toContain(from);
  await writeFile(path.join(copy, file), text.replace(from, to));
}

const read = (at: string): Promise<string> =>
  fetch(`http://127.0.0.1:${port}${at}`).then(
    (response) => response.text(),
    () => '',
  );

test('a page is compiled on request, reloads when it changes, and notifies open browsers', {
  timeout: 240_000,
}, async () => {
  expect(await read('/sign-in')).toContain('<html lang="en"');
  const messages: string[] = [];
  const socket = new WebSocket(`ws://127.0.0.1:${port}/_next/hmr?id=1`);
  socket.addEventListener('message', ({ data }) => messages.push(String(data)));
  await vi.waitFor(() => expect(socket.readyState).toBe(WebSocket.OPEN), { timeout: 20_000 });

  await change('app/layout.tsx', '<html\n', '<html\n      data-changed="yes"\n');
  await expect.poll(() => read('/sign-in'), { timeout: 60_000 }).toContain('data-changed="yes"');
  await expect.poll(() => messages.join(), { timeout: 20_000 }).toContain('serverComponentChanges');
  socket.close();
});

test('the processes restart when server code changes', { timeout: 90_000 }, async () => {
  await change('server/process/health.ts', '{"status":"ok"}', '{"status":"ok","changed":true}');
  await expect.poll(() => read('/healthz'), { timeout: 60_000 }).toContain('"changed":true');
  expect(output).toContain('server/process/health.ts changed');
});

test('Ctrl-C stops every process, and the command exits with 0', { timeout: 60_000 }, async () => {
  dev.kill('SIGINT');
  expect(await ended).toBe(0);
  await expect.poll(() => processesBelow(copy), { timeout: 20_000 }).toEqual([]);
});
