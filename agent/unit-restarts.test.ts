import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentProgram } from '#server/testing/agent-program.ts';
import { layoutOf } from './folder/layout.ts';
import { planEnvelope } from './testing/plan-envelope.ts';
import { lifeHooks, type UnitMachine, unitMachine } from './testing/unit-machine.ts';
import { readUnitFile } from './unit/unit-file.ts';
import { unitPathsOf } from './unit/unit-paths.ts';

/** All tests use one machine, whose agent they start and stop, with a unit for each test. */
let machine: UnitMachine;
let bootIdFile: string;
let running: ChildProcess | null = null;
beforeAll(async () => {
  machine = await unitMachine();
  bootIdFile = join(machine.dir, 'boot-id');
  writeFileSync(bootIdFile, 'first\n');
});
afterAll(async () => {
  if (running?.exitCode === null && running.kill('SIGTERM')) await once(running, 'exit');
  await machine.close();
});

const recordOf = (unit: string) => readUnitFile(unitPathsOf(layoutOf(machine.dir), unit).file)?.record;
const looks = () => machine.portal.calls.filter((call) => call === 'GET /agent/v1/units').length;

/** Starts the agent, and waits until it has fetched the unit state. */
async function startAndLook(): Promise<void> {
  const before = looks();
  const agent = await machine.start({ bootIdFile });
  await machine.portal.until('a look', () => looks() > before);
  await agent.lane.whenIdle();
}

test('EN-79 EN-46 a restart of the agent runs nothing again, and a reboot only config-changed and start', async () => {
  const { desk } = machine;
  machine.script('failing/0', 'install', 'exit 1');
  const formula = await machine.formula('2.0.0.0', lifeHooks);
  desk.want({ unit: 'boot/0', formula });
  desk.want({ unit: 'failing/0', formula });
  await startAndLook();
  await machine.ran('boot/0', 'start succeeded');
  await machine.ran('failing/0', 'install failed');
  await machine.stop();
  const failing = recordOf('failing/0')?.failing.unit;
  const attempts = machine.hooks('failing/0').length;
  expect(failing?.failures).toBe(attempts);

  await startAndLook();
  expect(machine.hooks('boot/0')).toEqual(['install', 'config-changed', 'start']);
  await machine.stop();
  // The delay may have ended meanwhile. The next attempt then has the next number.
  const later = recordOf('failing/0')?.failing.unit;
  if (machine.hooks('failing/0').length === attempts) expect(later).toEqual(failing);
  else expect(desk.runs.findLast((run) => run.unit === 'failing/0')?.begin.attempt).toBeGreaterThan(attempts);
  desk.forget('failing/0');

  writeFileSync(bootIdFile, 'second\n');
  await startAndLook();
  await machine.until('the hooks after a reboot', () => machine.hooks('boot/0').length >= 5);
  expect(machine.hooks('boot/0').slice(3)).toEqual(['config-changed', 'start']);
  await machine.until('the outcome', () => recordOf('boot/0')?.started?.boot === 'second');
});

test('EN-60 EN-59 while the portal is unavailable, an outcome is kept, and no other hook of the unit begins', async () => {
  const { desk, portal } = machine;
  const unit = 'away/0';
  const gate = join(machine.dir, 'gate');
  machine.script(unit, 'install', `until [ -e ${gate} ]; do sleep 0.02; done`);
  desk.want({ unit, formula: await machine.formula('2.0.0.1', lifeHooks) });
  await machine.until('install', () => machine.hooks(unit).length === 1);
  portal.away = true;
  writeFileSync(gate, '');
  const { flushes } = layoutOf(machine.dir);
  await machine.until('the outcome on disk', () => existsSync(flushes) && readdirSync(flushes).length === 1);
  await machine.until('an attempt to send it', () =>
    (portal.calls.at(-1) ?? '').startsWith('PUT /agent/v1/units/away/0'),
  );
  expect(machine.hooks(unit)).toEqual(['install']);
  portal.away = false;
  await machine.ran(unit, 'start succeeded');
  const [install, ...others] = desk.runs.filter((run) => run.unit === unit);
  expect(install).toMatchObject({ outcome: 'succeeded', begin: { attempt: 1 } });
  expect(others.map(({ begin }) => begin.hook)).toEqual(['config-changed', 'start']);
  expect(machine.hooks(unit)).toEqual(['install', 'config-changed', 'start']);
  expect(machine.lines.join('\n')).not.toContain('unlocked');
});

test('EN-67 what operators requested begins in the order of its turns, whatever kind it is', async () => {
  const { desk, portal } = machine;
  const unit = 'order/0';
  const order = join(machine.dir, 'order.log');
  const echo = { name: 'echo', handler: 'Acme.Test.Echo', version: '1.0.0.0' };
  await machine.addHandler({
    ...echo,
    script: `[ "$1" = enable ] && { sleep 0.5; echo extension >> ${order}; }; true`,
  });
  machine.script(unit, 'config-changed', `echo unit >> ${order}`);
  desk.want({ unit, formula: await machine.formula('2.0.0.2', lifeHooks) });
  portal.setGoal([echo], 1);
  await machine.ran(unit, 'start succeeded');
  const logged = () => readFileSync(order, 'utf8').trim().split('\n');
  await machine.until('the extension', () => logged().includes('extension'));
  await machine.stop();

  writeFileSync(order, '');
  desk.want({ unit, settingsVersion: 2, turn: 7 });
  portal.queue(planEnvelope(6, { body: 's()', scripts: { s: `echo plan >> ${order}` } }));
  portal.setGoal([{ ...echo, sequenceNumber: 2 }], 5);
  await machine.start({ bootIdFile, executionPlans: 'on' });
  await machine.until('all of it', () => logged().length >= 3);
  expect(logged()).toEqual(['extension', 'plan', 'unit']);
  await machine.portal.until('the result', () => portal.executions.results.length === 1);
  await machine.stop();
});

test('EN-27 a hook that ran when the agent was killed is ended, and is run again without its changes', async () => {
  const { desk } = machine;
  const unit = 'killed/0';
  const begun = join(machine.dir, 'begun');
  machine.script(unit, 'install', `echo $$ > ${begun}; sleep 600 & wait`);
  desk.want({ unit, formula: await machine.formula('2.0.0.3', lifeHooks) });
  const start = () => {
    const args = [agentProgram(), 'run', '--dir', machine.dir, '--boot-id-file', bootIdFile];
    running = spawn(process.execPath, args, { stdio: 'ignore' });
    return running;
  };
  const first = start();
  await machine.until('install', () => existsSync(begun) && readFileSync(begun, 'utf8') !== '');
  const pid = Number(readFileSync(begun, 'utf8'));
  first.kill('SIGKILL');
  await once(first, 'exit');
  expect(existsSync(`/proc/${pid}`)).toBe(true);
  // A process that has ended may stay as a zombie, which has no command line.
  machine.script(unit, 'install', `[ -z "$(tr -d '\\0' < /proc/${pid}/cmdline)" ] && ensemble-log alone`);
  start();
  await machine.ran(unit, 'start succeeded');
  expect(desk.history(unit)).toEqual([
    'install interrupted',
    'install succeeded',
    'config-changed succeeded',
    'start succeeded',
  ]);
  const again = desk.runs.filter((run) => run.unit === unit)[1];
  expect(again?.begin.attempt).toBe(1);
  expect(again?.end?.output).toContain('INFO alone\n');
});
