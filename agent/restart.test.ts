import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { signal } from '#server/platform/processes.ts';
import { agentProgram } from '#server/testing/agent-program.ts';
import { status, statusText } from './commands/status.ts';
import { checkRestart } from './doctor/check-restart.ts';
import { layoutOf } from './folder/layout.ts';
import { openCaller } from './portal/call.ts';
import { type TestMachine, testMachine } from './testing/machine.ts';

const echo = { handler: 'Acme.Test.Echo', version: '1.0.0.0' };
const other = { handler: 'Acme.Test.Other', version: '1' };
let machine: TestMachine;
/** File that the agent reads instead of the machine's boot id. */
let bootIdFile: string;
let rebootCommand: string;

beforeEach(async () => {
  machine = await testMachine();
  bootIdFile = join(machine.dir, '..', 'boot-id');
  restartMachine('boot-1');
  rebootCommand = `echo restart >> '${machine.callsFile}'`;
  await machine.addHandler({ ...echo, rebootAfterInstall: true });
  await machine.addHandler(other);
});
afterEach(() => machine.close());

function restartMachine(boot: string): void {
  writeFileSync(bootIdFile, `${boot}\n`);
}

const reported = () =>
  machine.portal.reports.flatMap(({ pendingRestart }) => (pendingRestart === undefined ? [] : [pendingRestart]));
const heard = (state: string, extension = 'echo') =>
  machine.portal.reports
    .flatMap(({ handlers }) => handlers)
    .some((one) => one.extension === extension && one.state === state);
const request = { handler: 'Acme.Test.Echo', version: '1.0.0.0', extensions: ['echo'] };

test('AZ-G8 the agent restarts the machine once all installs are complete, and enable follows', async () => {
  machine.portal.setGoal([
    { ...echo, name: 'echo' },
    { ...other, name: 'other' },
  ]);
  await machine.start({ rebootCommand, bootIdFile });
  await machine.until('the restart', () => machine.calls().includes('restart'));
  expect(machine.calls().at(-1)).toBe('restart');
  const before = ['Echo-1.0.0.0 install', 'Other-1 enable', 'Other-1 install', 'restart'];
  expect(machine.calls().sort()).toEqual(before);
  await machine.portal.until('the request', () => reported().length > 0);
  expect(reported()).toEqual([[{ ...request, byAgent: true, requestedSecondsAgo: expect.any(Number) }]]);

  // If the agent starts again before the machine restarts, it neither repeats the request nor continues.
  await machine.stop();
  const again = await machine.start({ rebootCommand, bootIdFile });
  await again.lane.whenIdle();
  expect(machine.calls().filter((call) => /restart|Echo.*enable/.test(call))).toEqual(['restart']);

  await machine.stop();
  restartMachine('boot-2');
  await machine.start({ rebootCommand, bootIdFile });
  await machine.portal.until('enabled', () => heard('enabled'));
  await machine.portal.until('no request', () => reported().at(-1)?.length === 0);
  expect(reported()).toHaveLength(2);
  expect(machine.calls().filter((call) => /restart|Echo/.test(call))).toEqual([
    'Echo-1.0.0.0 install',
    'restart',
    'Echo-1.0.0.0 enable',
  ]);
});

test('AZ-G8 without a restart command, enable continues and the request is shown', async () => {
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start({ bootIdFile });
  await machine.portal.until('enabled', () => heard('enabled'));
  await machine.portal.until('the request', () => reported().length === 1);
  await machine.until('a line', () => machine.lines.some((line) => line.includes('once this machine has restarted')));
  const { pendingRestart } = status({ dir: machine.dir, bootIdFile });
  expect(pendingRestart).toMatchObject([request]);
  expect(statusText({ dir: machine.dir, bootIdFile })).toMatch(
    /^Restart {7}pending since [\d-]+ [\d:]+, for Acme.Test.Echo 1.0.0.0$/m,
  );
  const patient = {
    layout: layoutOf(machine.dir),
    call: openCaller({ environment: {} }),
    configurationFault: null,
    space: async () => ({ freeBytes: 1, freeFiles: 1, allFiles: 1 }),
    mayRun: async () => true,
    bootIdFile,
  };
  expect(checkRestart(patient)).toMatchObject([{ check: 'restart', verdict: 'advice' }]);
  await machine.stop();
  restartMachine('boot-2');
  expect(status({ dir: machine.dir, bootIdFile }).pendingRestart).toEqual([]);
  expect(checkRestart(patient)).toMatchObject([{ check: 'restart', verdict: 'good' }]);
  await machine.start({ bootIdFile });
  await machine.portal.until('no request', () => reported().at(-1)?.length === 0);
});

test('AZ-G8 an extension that is being removed no longer requests a restart', async () => {
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start({ bootIdFile });
  await machine.portal.until('the request', () => reported().length === 1);
  machine.portal.setGoal([{ ...echo, name: 'echo', state: 'uninstall', sequenceNumber: 2 }]);
  await machine.portal.until('no request', () => reported().at(-1)?.length === 0);
});

test('AZ-G8 a restart does not wait for a package that never arrives', async () => {
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start({ bootIdFile });
  await machine.portal.until('the request', () => reported().length === 1);
  await machine.stop();
  machine.portal.cutPackages = { after: 0, times: 1000, when: () => true };
  machine.portal.setGoal([
    { ...echo, name: 'echo' },
    { ...other, name: 'other' },
  ]);
  await machine.start({ rebootCommand, bootIdFile });
  await machine.until('the restart', () => machine.calls().includes('restart'));
  expect(machine.calls()).not.toContain('Other-1 install');
});

test('a restart command that fails is a problem, and runs again with the next goal state', async () => {
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start({ rebootCommand: `${rebootCommand}; exit 3`, bootIdFile });
  const problem = await machine.portal.until('the problem', () =>
    machine.portal.reports.flatMap(({ problems = [] }) => problems).find(({ about }) => about === 'restart'),
  );
  expect(problem.message).toContain('The restart command exited with 3');
  machine.portal.setGoal([{ ...echo, name: 'echo', sequenceNumber: 2 }]);
  await machine.until('the second', () => machine.calls().filter((call) => call === 'restart').length === 2);
  expect(machine.calls()).not.toContain('Echo-1.0.0.0 enable');
});

test('the restart command gets the same part of the environment as handlers: no token', async () => {
  const seen = join(machine.dir, '..', 'seen');
  const own = { ANNEX_AGENT_TOKEN: 'enrollment-secret', DATABASE_PASSWORD: 'another-secret', HOME: '/root', TZ: 'UTC' };
  for (const [name, value] of Object.entries(own)) vi.stubEnv(name, value);
  try {
    machine.portal.setGoal([{ ...echo, name: 'echo' }]);
    const environment = { ...process.env };
    await machine.start({ rebootCommand: `env > '${seen}'; ${rebootCommand}`, bootIdFile, environment });
    await machine.until('the restart', () => machine.calls().includes('restart'));
    const names = readFileSync(seen, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.slice(0, line.indexOf('=')));
    // The shell itself sets PWD and some other variables.
    const shells = ['PWD', 'OLDPWD', 'SHLVL', '_'];
    const allowed = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', ...shells];
    expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(['PATH', 'HOME', 'TZ']));
    expect(readFileSync(seen, 'utf8')).not.toMatch(/enrollment-secret|another-secret/);
  } finally {
    vi.unstubAllEnvs();
  }
});

test('a machine that cannot store a successful install is not restarted endlessly', async () => {
  const blocker = `${layoutOf(machine.dir).localState}.next`;
  const script = `[ "$1" = install ] && mkdir -p '${blocker}'`;
  const full = { handler: 'Acme.Test.Full', version: '1' };
  await machine.addHandler({ ...full, rebootAfterInstall: true, script });
  machine.portal.setGoal([{ ...full, name: 'full' }]);
  const agent = await machine.start({ rebootCommand, bootIdFile });
  await agent.lane.whenIdle();
  const problem = await machine.portal.until('the problem', () =>
    machine.portal.reports.flatMap(({ problems = [] }) => problems).find(({ about }) => about === 'restart'),
  );
  expect(problem.message).toContain('The machine is not restarted');
  expect(machine.calls()).toEqual(['Full-1 install']);

  rmSync(blocker, { recursive: true });
  machine.portal.setGoal([{ ...full, name: 'full', sequenceNumber: 2 }]);
  await machine.until('the restart', () => machine.calls().includes('restart'));
  expect(machine.calls()).toEqual(['Full-1 install', 'restart']);
});

test('a different portal, or one with a restored database, receives a pending restart again', async () => {
  const goal = (incarnation: number) =>
    JSON.stringify({ protocol: 1, vmId: machine.portal.vmId, incarnation, extensions: [] });
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start({ bootIdFile });
  await machine.portal.until('the request', () => reported().length === 1);
  machine.portal.setGoalText(goal(3), '"restored.3"');
  await machine.portal.until('the request again', () => reported().length === 2);
  expect(reported()[1]).toMatchObject([request]);
});

test('AZ-G8 a restart command that ends the agent runs once, and enable follows', async () => {
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  const main = agentProgram();
  const run = `'${process.execPath}' '${main}' run --dir '${machine.dir}' --boot-id-file '${bootIdFile}'`;
  const pids = join(machine.dir, '..', 'pids');
  const script = join(machine.dir, '..', 'restart.sh');
  // Stops and starts the agent, as a restart of the machine would.
  writeFileSync(
    script,
    `#!/bin/sh
echo restart >> '${machine.callsFile}'
kill -9 "$(cut -d' ' -f1 '${machine.dir}/agent.pid')"
echo boot-2 > '${bootIdFile}'
${run} --reboot-command '${script}' >/dev/null 2>&1 &
echo $! > '${pids}'
`,
  );
  chmodSync(script, 0o755);
  const first = spawn('/bin/sh', ['-c', `exec ${run} --reboot-command '${script}'`], { stdio: 'ignore' });
  try {
    await machine.portal.until('enabled', () => heard('enabled'));
    await machine.portal.until('no request', () => reported().at(-1)?.length === 0);
    expect(machine.calls()).toEqual(['Echo-1.0.0.0 install', 'restart', 'Echo-1.0.0.0 enable']);
    expect(reported()[0]).toMatchObject([request]);
  } finally {
    first.kill('SIGKILL');
    signal(Number(readFileSync(pids, 'utf8')), 'SIGKILL');
  }
});
