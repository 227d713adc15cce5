import { mkdir, mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { signal } from '#server/platform/processes.ts';
import { keepRunning } from './child.ts';

const lines: string[] = [];
const childIn = (cwd: string) =>
  keepRunning({
    name: 'child',
    args: ['-e', 'setTimeout(() => {}, 60_000)'],
    cwd,
    env: { ...process.env },
    say: (line) => lines.push(line),
    tellsReady: false,
    quiet: true,
  });

test('a process that cannot be spawned is retried, without waiting for its exit', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'annex-child-'));
  const gone = join(folder, 'gone');
  await expect(childIn(gone).ready).rejects.toThrow('did not start');

  await mkdir(gone);
  const child = childIn(gone);
  await child.ready;
  await rmdir(gone);
  signal(child.pid() ?? 0, 'SIGKILL');
  await expect.poll(() => lines.filter((line) => line.includes('ENOENT'))).not.toEqual([]);
  await mkdir(gone);
  await expect.poll(() => child.pid(), { timeout: 5_000 }).toEqual(expect.any(Number));
  await rmdir(gone);
  signal(child.pid() ?? 0, 'SIGKILL');
  await expect.poll(() => child.pid()).toBeUndefined();
  await child.stop();
});
