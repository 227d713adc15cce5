import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabaseUrl } from '#db/testing/database.ts';
import { longTest } from '#server/testing/long.ts';

const children: ChildProcess[] = [];
let dataDir: string;
let databaseUrl: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'annex-fabric-'));
  databaseUrl = await testDatabaseUrl();
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(dataDir, { recursive: true, force: true });
});

const common = { NODE_ENV: 'production' as const, PATH: process.env.PATH, ANNEX_LOG: 'error' };

function start(env: Record<string, string>) {
  const child = fork(join(import.meta.dirname, 'main.ts'), [], {
    env: { ...common, DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.push(child);
  const printed = child.stdout === null ? Promise.resolve('') : text(child.stdout);
  return { child, printed, ended: once(child, 'exit').then(([code]) => code as number | null) };
}

test('the process reports when it is ready, and ends with the launcher or on SIGTERM', {
  timeout: 60_000,
}, async () => {
  const first = start({ ANNEX_FABRIC: 'proxy' });
  const second = start({ ANNEX_FABRIC: 'spawn' });
  for (const { child } of [first, second]) expect((await once(child, 'message'))[0]).toEqual({ ready: true });
  first.child.kill('SIGTERM');
  // The channel to the launcher closes if the launcher is killed.
  second.child.disconnect();
  expect(await Promise.all([first.ended, second.ended])).toEqual([0, 0]);
});

longTest('with ANNEX_FABRIC=off, the process reports that it has nothing to do', { timeout: 60_000 }, async () => {
  const { printed, ended } = start({});
  expect(await ended).toBe(1);
  expect(await printed).toContain('Set ANNEX_FABRIC to proxy or spawn');
});
