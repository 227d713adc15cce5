import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentProgram } from '#server/testing/agent-program.ts';
import { type TestMachine, testMachine } from './testing/machine.ts';

let machine: TestMachine;
let running: ChildProcess | null = null;
beforeEach(async () => {
  machine = await testMachine();
});
afterEach(async () => {
  // SIGTERM makes the agent end the running command.
  if (running?.exitCode === null && running.kill('SIGTERM')) await once(running, 'exit');
  await machine.close();
});

const echo = { handler: 'Acme.Test.Echo', version: '1.0.0.0' };
const start = () => {
  running = spawn(process.execPath, [agentProgram(), 'run', '--dir', machine.dir], {
    stdio: 'ignore',
  });
  return running;
};
const handlers = () => machine.portal.reports.flatMap((report) => report.handlers);

test('AZ-G3 an install continues when the agent is killed, and does not run twice', async () => {
  const go = join(machine.dir, 'go');
  await machine.addHandler({
    ...echo,
    // The output is more than a pipe can hold, so the script waits for the reader.
    script: `[ "$1" = install ] || exit 0
echo begun; touch '${go}'; head -c 200000 /dev/zero | tr '\\0' x; sleep 0.3; echo end`,
  });
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  const first = start();
  await machine.until('the install', () => machine.calls().length === 1);
  first.kill('SIGKILL');
  await once(first, 'exit');
  start();
  const enabled = () => handlers().find(({ state }) => state === 'enabled');
  await machine.portal.until('enabled', enabled);
  expect(machine.calls()).toEqual(['Echo-1.0.0.0 install', 'Echo-1.0.0.0 enable']);
  const installed = handlers().find(({ state, command }) => state === 'installed' && command === 'install');
  expect(installed).toMatchObject({ exitCode: 0, attempt: 1, sequenceNumber: 1 });
  expect(installed?.output).toMatch(/end\n$/);
  expect(machine.portal.logs.get('echo 1 install 1')?.toString()).toContain('started again here');
});

test('AZ-G3 at the timeout of a hanging command, a restarted agent ends all of its processes', async () => {
  const child = join(machine.dir, 'child');
  const script = `[ "$1" != install ] || { setsid sleep 300 & echo $! > '${child}'; sleep 300; }`;
  await machine.addHandler({ ...echo, script });
  machine.portal.setGoal([{ ...echo, name: 'echo', timeouts: { install: 1.5 } as never }]);
  const first = start();
  await machine.until('the install', () => machine.calls().length === 1);
  first.kill('SIGKILL');
  await once(first, 'exit');
  start();
  await machine.until('its child', () => existsSync(child));
  const left = Number(readFileSync(child, 'utf8'));
  const failed = await machine.portal.until('failed', () => handlers().find(({ state }) => state === 'failed'));
  expect(existsSync(`/proc/${left}`)).toBe(false);
  expect(failed).toMatchObject({ command: 'install', timedOut: true, attempt: 1 });
  // The restarted agent retries the command (AZ-G4).
  await machine.until('the next attempt', () => machine.calls().length === 2);
});
