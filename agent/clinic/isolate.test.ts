import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { wait } from '../portal/wait.ts';
import { runIsolated } from './isolate.ts';

test('a trial that is killed leaves no folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-isolate-'));
  const [made, stopping] = [join(folder, 'made'), new AbortController()];
  const script = `const { mkdtempSync, writeFileSync } = require('node:fs');
writeFileSync(process.argv[1], mkdtempSync(require('node:os').tmpdir() + '/annex-try-'));
setInterval(() => {}, 1000);`;
  let isOver = false;
  const ended = runIsolated(['-e', script, made], process.env, stopping.signal).finally(() => {
    isOver = true;
  });
  // On a machine without isolation, the trial ends immediately and creates nothing.
  while (!isOver && !(existsSync(made) && readFileSync(made, 'utf8') !== '')) await wait(0.02, []);
  stopping.abort();
  const code = await ended;
  expect(code === null || !existsSync(readFileSync(made, 'utf8'))).toBe(true);
  rmSync(folder, { recursive: true, force: true });
});
