import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { agentProgram } from '#server/testing/agent-program.ts';
import { longTest } from '#server/testing/long.ts';
import { layoutOf } from './folder/layout.ts';
import { statesOf, type TestMachine, testMachine } from './testing/machine.ts';

let machine: TestMachine;
beforeEach(async () => {
  machine = await testMachine();
});
afterEach(async () => {
  await machine.close();
});

const echo = { handler: 'Acme.Test.Echo', version: '1.0.0.0' };
const minutes = { install: 300, update: 300, enable: 300, disable: 300, uninstall: 300 };
/** Returns a script in which one command runs until its timeout. */
const hangs = (command: string) => `[ "$1" != ${command} ] || exec sleep 300`;
const entries = () => machine.portal.reports.flatMap(({ handlers }) => handlers);
const reported = (state: string, sequenceNumber: number) => () =>
  entries().find((one) => one.state === state && one.sequenceNumber === sequenceNumber);
const commands = () => machine.calls().map((call) => call.split(' ')[1]);
const folders = () => readdirSync(join(machine.dir, 'handlers'));
const timedOut = () =>
  entries()
    .filter((one) => one.timedOut)
    .map(({ command }) => command);

async function enableEcho(script: string): Promise<void> {
  await machine.addHandler({ ...echo, script });
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start();
  await machine.portal.until('enabled', reported('enabled', 1));
}

test('AZ-G5 a removal continues when disable and uninstall reach their limits', async () => {
  await enableEcho(`${hangs('disable')}\n${hangs('uninstall')}`);
  const timeouts = { ...minutes, disable: 0.3, uninstall: 0.3 };
  machine.portal.setGoal([{ ...echo, name: 'echo', state: 'uninstall', sequenceNumber: 2, timeouts }]);
  await machine.portal.until('removed', reported('removed', 2));
  expect(commands()).toEqual(['install', 'enable', 'disable', 'uninstall']);
  expect([...new Set(timedOut())]).toEqual(['disable', 'uninstall']);
  expect(folders()).toEqual([]);
  expect(existsSync(join(machine.dir, 'logs', 'Acme.Test.Echo-1.0.0.0'))).toBe(true);
});

describe('AZ-G6 a disable that reaches its limit', () => {
  const disable = (sequenceNumber: number) =>
    machine.portal.setGoal([
      { ...echo, name: 'echo', state: 'disabled', sequenceNumber, timeouts: { ...minutes, disable: 0.3 } },
    ]);

  test('counts as failed and leaves the handler installed; a later enable succeeds', async () => {
    await enableEcho(hangs('disable'));
    disable(2);
    const failed = await machine.portal.until('failed', reported('failed', 2));
    expect(failed).toMatchObject({ command: 'disable', timedOut: true });
    expect(failed.exitCode).toBeUndefined();
    expect(folders()).toEqual(['Acme.Test.Echo-1.0.0.0']);
    machine.portal.setGoal([{ ...echo, name: 'echo', sequenceNumber: 3 }]);
    await machine.portal.until('enabled again', reported('enabled', 3));
    expect(commands()).toEqual(['install', 'enable', 'disable', 'enable']);
  });

  longTest('does not stop the other extensions of the machine', async () => {
    await machine.addHandler({ ...echo, script: hangs('disable') });
    await machine.addHandler({ handler: 'Acme.Test.Other', version: '1.0.0.0' });
    const other = { handler: 'Acme.Test.Other', version: '1.0.0.0', name: 'other' };
    machine.portal.setGoal([{ ...echo, name: 'echo' }]);
    await machine.start();
    await machine.portal.until('enabled', reported('enabled', 1));
    const slow = { ...echo, name: 'echo', state: 'disabled' as const, sequenceNumber: 2 };
    machine.portal.setGoal([{ ...slow, timeouts: { ...minutes, disable: 0.3 } }, other]);
    await machine.portal.until('failed', reported('failed', 2));
    await machine.portal.until(
      'the other',
      () => statesOf(machine.portal, 'other').includes('enable enabled') || undefined,
    );
  });
});

longTest('AZ-G7 an update continues when the commands of the old version reach their limits', async () => {
  await enableEcho(`${hangs('disable')}\n${hangs('uninstall')}`);
  await machine.addHandler({ ...echo, version: '1.1.0.0' });
  const timeouts = { ...minutes, disable: 0.3, uninstall: 0.3 };
  machine.portal.setGoal([{ ...echo, version: '1.1.0.0', name: 'echo', sequenceNumber: 2, timeouts }]);
  await machine.portal.until('enabled', reported('enabled', 2));
  expect(machine.calls().slice(2)).toEqual([
    'Echo-1.0.0.0 disable',
    'Echo-1.1.0.0 update',
    'Echo-1.0.0.0 uninstall',
    'Echo-1.1.0.0 enable',
  ]);
  expect(folders()).toEqual(['Acme.Test.Echo-1.1.0.0']);
});

describe('AZ-G3 a command', () => {
  /** Returns a script that prints the record of the running command, which contains its timeout. */
  const printsRecord = () => `cat '${layoutOf(machine.dir).command}'/*/command.json`;
  const limits = () =>
    entries()
      .filter(({ output }) => output?.includes('timeoutSeconds'))
      .map(({ command, output }) => [command, (JSON.parse(output ?? '') as { timeoutSeconds: number }).timeoutSeconds]);

  test('has the limit for its kind', async () => {
    await machine.addHandler({ ...echo, script: printsRecord() });
    const timeouts = { install: 11, update: 12, enable: 13, disable: 14, uninstall: 15 };
    machine.portal.setGoal([{ ...echo, name: 'echo', timeouts }]);
    await machine.start();
    await machine.portal.until('enabled', reported('enabled', 1));
    machine.portal.setGoal([{ ...echo, name: 'echo', timeouts, state: 'disabled', sequenceNumber: 2 }]);
    await machine.portal.until('disabled', reported('disabled', 2));
    const seen = new Map(limits() as [string, number][]);
    expect([...seen]).toEqual([
      ['install', 11],
      ['enable', 13],
      ['disable', 14],
    ]);
  });

  test('that ends in time is not killed, however short its limit', async () => {
    await machine.addHandler({ ...echo, script: 'sleep 0.2' });
    machine.portal.setGoal([{ ...echo, name: 'echo', timeouts: { ...minutes, install: 5, enable: 5 } }]);
    await machine.start();
    await machine.portal.until('enabled', reported('enabled', 1));
    expect(timedOut()).toEqual([]);
  });
});

describe('AZ-G1 the commands of a handler', () => {
  test('have all privileges of the agent', async () => {
    const script = 'echo "ids $(id -u) $(id -g)"; grep -E "^Cap(Prm|Eff)|^NoNewPrivs" /proc/self/status; umask';
    await enableEcho(script);
    machine.portal.setGoal([{ ...echo, name: 'echo', state: 'disabled', sequenceNumber: 2 }]);
    await machine.portal.until('disabled', reported('disabled', 2));
    const outputs = entries().flatMap(({ output, exitCode }) => (exitCode === 0 && output ? [output] : []));
    expect(outputs.length).toBeGreaterThanOrEqual(3);
    const own = readFileSync('/proc/self/status', 'utf8');
    const privileges = own.split('\n').filter((line) => /^(Cap(Prm|Eff)|NoNewPrivs)/.test(line));
    for (const output of outputs) {
      expect(output).toContain(`ids ${process.getuid?.()} ${process.getgid?.()}\n`);
      for (const line of privileges) expect(output).toContain(line);
      expect(output).toContain('0022\n');
    }
  });

  test.each([
    [[], 'User=root'],
    [['--user', 'annex'], 'User=annex'],
  ])('run as root without --user: %j', (options, line) => {
    const command = [agentProgram(), 'install-unit', '--dir', machine.dir, ...options];
    const unit = execFileSync(process.execPath, command, { encoding: 'utf8' }).split('\n');
    expect(unit.filter((each) => each.startsWith('User='))).toEqual([line]);
    expect(
      unit.filter((each) => /^(NoNewPrivileges|CapabilityBoundingSet|ProtectSystem|DynamicUser)=/.test(each)),
    ).toEqual([]);
  });
});
