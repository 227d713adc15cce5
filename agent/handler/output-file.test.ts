import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'annex-output-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the agent reports how many bytes the disk rejected, and continues', () => {
  const file = join(folder, 'enable.log');
  const program = `import { OutputFile } from ${JSON.stringify(join(import.meta.dirname, 'output-file.ts'))};
const output = new OutputFile(process.argv[1], { secrets: [] });
output.write(Buffer.alloc(10_000, 'x'));
console.log(output.finish('over').tail);`;
  // With a limit of 4 KiB, some bytes are written and the others are rejected, although the disk is not full.
  const limited = ['-c', 'ulimit -f 8; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', program, file];
  const { status, stdout } = spawnSync('/bin/sh', limited, { encoding: 'utf8' });
  expect(status).toBe(0);
  expect(stdout).toBe(`[Cut: the disk could not store 5909 bytes of this output.]\n${'x'.repeat(4096)}\n`);
  expect(statSync(file).size).toBe(4096);
});
