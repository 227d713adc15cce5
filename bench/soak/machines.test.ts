import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SoakMachine } from './machines.ts';

test('a machine runs the agent of the given checkout', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-machine-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const checkout = join(folder, 'checkout');
  mkdirSync(join(checkout, 'agent'), { recursive: true });
  writeFileSync(join(checkout, 'agent/main.ts'), `console.log(process.cwd(), ...process.argv.slice(2));`);

  const machine = new SoakMachine('vm', join(folder, 'vm'), checkout);
  await machine.enroll('http://127.0.0.1:1', 'token');

  await expect
    .poll(() => readFileSync(join(folder, 'vm/agent.log'), 'utf8'))
    .toBe(`${checkout} enroll --dir ${machine.folder} --portal http://127.0.0.1:1 --token token\n`);
});
