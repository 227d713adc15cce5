import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nextKey, secretKey } from './secret-key.ts';

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'annex-secret-key-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const ways: Record<string, () => Promise<Buffer>> = {
  'secret.key': () => secretKey({ secretKey: null, dataDir }),
  'secret.key.next': () => nextKey(dataDir),
};

test.each(Object.entries(ways))('%s is created once, readable only by its owner', async (name, make) => {
  const keys = await Promise.all(Array.from({ length: 8 }, make));
  expect(new Set(keys.map(String)).size).toBe(1);
  expect(readdirSync(dataDir)).toEqual([name]);
  expect(readFileSync(join(dataDir, name), 'utf8')).toBe(`${keys[0]}\n`);
  expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
});

test.each(Object.entries(ways))('%s: a process that ends while writing leaves no partial key', async (name, make) => {
  const module = join(import.meta.dirname, 'secret-key.ts');
  const call = name === 'secret.key' ? `secretKey({ secretKey: null, dataDir })` : 'nextKey(dataDir)';
  const script = `const dataDir = process.argv[1]; const { secretKey, nextKey } = await import('${module}'); await ${call}`;
  // With a file size limit of 0, the system kills the process when it writes.
  const run = spawnSync(
    '/bin/sh',
    ['-c', 'ulimit -c 0; ulimit -f 0; exec "$0" --input-type=module -e "$1" "$2"', process.execPath, script, dataDir],
    { encoding: 'utf8' },
  );
  expect({ status: run.status, stderr: run.stderr }).not.toMatchObject({ status: 0 });
  expect((await make()).byteLength).toBeGreaterThanOrEqual(32);
});
