import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readText, writeAtomically } from './write-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'annex-write-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a partial write on a full disk leaves the old text, and no temporary file', () => {
  const file = join(folder, 'local.json');
  writeAtomically(file, 'old');
  const program = `import { writeAtomically } from ${JSON.stringify(join(import.meta.dirname, 'write-file.ts'))};
writeAtomically(process.argv[1], 'x'.repeat(10_000));`;
  // The limit of 4 KiB acts like a disk with one free block: the first write is partial but succeeds.
  const limited = ['-c', 'ulimit -f 8; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', program, file];
  const { status, stderr } = spawnSync('/bin/sh', limited, { encoding: 'utf8' });
  expect(stderr).toContain('EFBIG');
  expect(status).toBe(1);
  expect(readText(file)).toBe('old');
  expect(readdirSync(folder)).toEqual(['local.json']);
});
