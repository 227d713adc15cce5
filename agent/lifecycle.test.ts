import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { longTest } from '#server/testing/long.ts';
import { fakeHandler } from './testing/fake-handler.ts';
import { statesOf, type TestMachine, testMachine } from './testing/machine.ts';

let machine: TestMachine;
beforeEach(async () => {
  machine = await testMachine();
});
afterEach(async () => {
  await machine.close();
});

const echo = { handler: 'Acme.Test.Echo', version: '1.0.0.0' };
const heard =
  (state: string, extension = 'echo', sequenceNumber?: number) =>
  () =>
    machine.portal.reports
      .flatMap(({ handlers }) => handlers)
      .find(
        (one) =>
          one.extension === extension &&
          one.state === state &&
          (sequenceNumber === undefined || one.sequenceNumber === sequenceNumber),
      );

test('AZ-G1 install and enable run in the root, once folders, settings and environment exist', async () => {
  await machine.addHandler({
    ...echo,
    script: 'pwd; ls config/1.settings HandlerEnvironment.json; cat HandlerEnvironment.json; env | sort',
  });
  machine.portal.setGoal([{ ...echo, name: 'echo', settings: { publicSettings: { a: 1 } } }]);
  await machine.start({ environment: { PATH: '/usr/bin:/bin', SECRET_OF_THE_AGENT: 'not for handlers' } });
  const enabled = await machine.portal.until('enabled', heard('enabled'));
  expect(machine.calls()).toEqual(['Echo-1.0.0.0 install', 'Echo-1.0.0.0 enable']);
  expect(statesOf(machine.portal, 'echo')).toEqual([
    '- notInstalled',
    'install installing',
    'install installed',
    'enable enabling',
    'enable enabled',
  ]);
  const root = join(machine.dir, 'handlers', 'Acme.Test.Echo-1.0.0.0');
  expect(enabled).toMatchObject({ version: '1.0.0.0', sequenceNumber: 1, exitCode: 0, timedOut: false, attempt: 1 });
  expect(enabled.output).toContain(`${root}\n`);
  expect(enabled.output).toContain('config/1.settings\n');
  expect(enabled.output).not.toContain('SECRET_OF_THE_AGENT');
  const [{ version, handlerEnvironment }] = JSON.parse(readFileSync(join(root, 'HandlerEnvironment.json'), 'utf8'));
  expect(version).toBe(1);
  for (const folder of ['logFolder', 'configFolder', 'statusFolder']) {
    expect(existsSync(handlerEnvironment[folder])).toBe(true);
  }
  expect(JSON.parse(readFileSync(join(root, 'config', '1.settings'), 'utf8'))).toEqual({
    handlerSettings: { publicSettings: { a: 1 } },
    runtimeSettings: [
      {
        handlerSettings: { publicSettings: { a: 1 }, protectedSettings: null, protectedSettingsCertThumbprint: null },
      },
    ],
  });
});

test('files that handlers create have the machine’s umask, even under the systemd unit', async () => {
  await machine.addHandler({ ...echo, script: 'umask' });
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  const before = process.umask(0o077);
  try {
    await machine.start();
    expect(await machine.portal.until('installed', heard('installed'))).toMatchObject({ output: '0022\n' });
  } finally {
    process.umask(before);
  }
});

test('AZ-G2 downloads run in parallel, install commands one at a time', async () => {
  const names = ['One', 'Two', 'Three'];
  // A command that starts while another command is running logs OVERLAP.
  const script = `mkdir '${machine.callsFile}.lock' || echo OVERLAP >> '${machine.callsFile}'; sleep 0.1; rmdir '${machine.callsFile}.lock'`;
  for (const type of names) await machine.addHandler({ handler: `Acme.Test.${type}`, version: '1', script });
  machine.portal.setGoal(names.map((type) => ({ name: type, handler: `Acme.Test.${type}`, version: '1' })));
  machine.portal.packagesTogether = names.length;
  await machine.start();
  for (const name of names) await machine.portal.until(`${name} enabled`, heard('enabled', name));
  expect(machine.calls()).not.toContain('OVERLAP');
  expect(machine.calls().filter((call) => call.endsWith('install'))).toHaveLength(3);
});

test('AZ-G3 AZ-G6 install is remembered across restarts; enable runs again at each start', async () => {
  await machine.addHandler(echo);
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start();
  await machine.portal.until('enabled', heard('enabled'));
  await machine.stop();
  const before = machine.portal.reports.length;
  await machine.start();
  await machine.portal.until('enabled again', () =>
    machine.portal.reports.slice(before).some(({ handlers }) => handlers.some(({ state }) => state === 'enabled')),
  );
  expect(machine.calls()).toEqual(['Echo-1.0.0.0 install', 'Echo-1.0.0.0 enable', 'Echo-1.0.0.0 enable']);
});

test('AZ-G3 a command ends at its timeout with its process group and daemons, and counts as failed', async () => {
  const children = join(machine.dir, 'children');
  const leaving = ['sleep 300', 'setsid sleep 300', 'env -i setsid sleep 300', 'setsid sh -c "sleep 300; :"'];
  const script = leaving.map((line) => `${line} & echo $! >> '${children}'`).join('\n');
  await machine.addHandler({ ...echo, script: `${script}\necho waiting; sleep 300` });
  machine.portal.setGoal([{ ...echo, name: 'echo', timeouts: { install: 0.5 } as never }]);
  await machine.start();
  const failed = await machine.portal.until('failed', heard('failed'));
  expect(failed).toMatchObject({ command: 'install', timedOut: true });
  expect(failed.exitCode).toBeUndefined();
  expect(failed.output).toContain('waiting');
  const pids = readFileSync(children, 'utf8').trim().split('\n').map(Number);
  expect(pids.map(isAlive)).toEqual(leaving.map(() => false));
});

longTest('a command may clean up at its timeout; processes that it starts meanwhile end as well', async () => {
  const tidied = join(machine.dir, 'tidied');
  const script = `trap 'sleep 0.3; setsid sleep 300 & echo $! > "${tidied}"; exit 1' TERM; sleep 300 & wait`;
  await machine.addHandler({ ...echo, script });
  machine.portal.setGoal([{ ...echo, name: 'echo', timeouts: { install: 0.5 } as never }]);
  await machine.start();
  expect(await machine.portal.until('failed', heard('failed'))).toMatchObject({ timedOut: true });
  expect(isAlive(Number(readFileSync(tidied, 'utf8')))).toBe(false);
});

test('AZ-G4 a failed install is retried only on a new goal state or a restart', async () => {
  await machine.addHandler({ ...echo, script: '[ "$1" != install ] || { echo no >&2; exit 17; }' });
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  const agent = await machine.start();
  const failed = await machine.portal.until('failed', heard('failed'));
  expect(failed).toMatchObject({ command: 'install', exitCode: 17, attempt: 1, output: 'no\n' });
  await agent.lane.whenIdle();
  expect(machine.calls()).toEqual(['Echo-1.0.0.0 install']);
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.portal.until('failed twice', () => statesOf(machine.portal, 'echo').filter(isFailed).length === 2);
  await machine.stop();
  await machine.start();
  await machine.portal.until('failed thrice', () => statesOf(machine.portal, 'echo').filter(isFailed).length === 3);
  expect(machine.calls()).toHaveLength(3);
});

test('AZ-G5 a removal disables, uninstalls, and deletes binaries and configuration; logs are kept', async () => {
  await machine.addHandler({
    ...echo,
    script:
      'echo "$1 done" >> "$(sed -n \'s/.*"logFolder": "\\(.*\\)".*/\\1/p\' HandlerEnvironment.json)/own.log"; [ "$1" != disable ] || exit 9',
  });
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start();
  await machine.portal.until('enabled', heard('enabled'));
  machine.portal.setGoal([{ ...echo, name: 'echo', state: 'uninstall', sequenceNumber: 2 }]);
  const removed = await machine.portal.until('removed', heard('removed'));
  expect(removed.sequenceNumber).toBe(2);
  expect(machine.calls().slice(2)).toEqual(['Echo-1.0.0.0 disable', 'Echo-1.0.0.0 uninstall']);
  expect(existsSync(join(machine.dir, 'handlers', 'Acme.Test.Echo-1.0.0.0'))).toBe(false);
  const log = readFileSync(join(machine.dir, 'logs', 'Acme.Test.Echo-1.0.0.0', 'own.log'), 'utf8');
  expect(log).toBe('install done\nenable done\ndisable done\nuninstall done\n');
});

test('AZ-G5 a package that arrives after its extension was removed is deleted', async () => {
  await machine.addHandler(echo);
  machine.portal.packagesTogether = 2;
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  const agent = await machine.start();
  await machine.portal.until('the package', () => machine.portal.calls.some((call) => call.includes('/packages/')));
  machine.portal.setGoal([{ ...echo, name: 'echo', state: 'uninstall', sequenceNumber: 2 }]);
  await machine.portal.until('removed', heard('removed'));
  machine.portal.packagesTogether = 0;
  // The fake portal checks its held package requests again when something arrives, such as this report.
  agent.reporter.problem('test', 'the package goes on its way');
  await machine.until('the arrival', () => machine.lines.some((line) => line.includes('is no longer needed')));
  expect(readdirSync(join(machine.dir, 'handlers'))).toEqual([]);
});

test('AZ-G6 disable alone leaves the handler installed, and enable brings it back', async () => {
  await machine.addHandler(echo);
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start();
  await machine.portal.until('enabled', heard('enabled'));
  machine.portal.setGoal([{ ...echo, name: 'echo', state: 'disabled', sequenceNumber: 2 }]);
  await machine.portal.until('disabled', heard('disabled'));
  machine.portal.setGoal([{ ...echo, name: 'echo', sequenceNumber: 3 }]);
  await machine.portal.until('enabled again', heard('enabled', 'echo', 3));
  expect(machine.calls().map((call) => call.split(' ')[1])).toEqual(['install', 'enable', 'disable', 'enable']);
});

test('AZ-G7 update: disable old, update new with the old folder, uninstall old, enable new', async () => {
  await machine.addHandler({ ...echo, script: '[ "$1" != enable ] || echo kept > state' });
  await machine.addHandler({
    ...echo,
    version: '1.1.0.0',
    script:
      '[ "$1" != update ] || { cp "$ANNEX_PREVIOUS_ROOT/state" state; echo "from $ANNEX_PREVIOUS_VERSION"; cat state; }',
  });
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start();
  await machine.portal.until('enabled', heard('enabled'));
  machine.portal.setGoal([{ ...echo, name: 'echo', version: '1.1.0.0', sequenceNumber: 2 }]);
  await machine.portal.until('enabled', heard('enabled', 'echo', 2));
  expect(machine.calls().slice(2)).toEqual([
    'Echo-1.0.0.0 disable',
    'Echo-1.1.0.0 update',
    'Echo-1.0.0.0 uninstall',
    'Echo-1.1.0.0 enable',
  ]);
  const updated = machine.portal.reports
    .flatMap(({ handlers }) => handlers)
    .find(({ command, exitCode }) => command === 'update' && exitCode === 0);
  expect(updated).toMatchObject({ version: '1.1.0.0', output: 'from 1.0.0.0\nkept\n' });
  expect(existsSync(join(machine.dir, 'handlers', 'Acme.Test.Echo-1.0.0.0'))).toBe(false);
});

test('AZ-G7 an update that fails leaves the old version on disk and is reported', async () => {
  await machine.addHandler(echo);
  await machine.addHandler({ ...echo, version: '1.1.0.0', script: '[ "$1" != update ] || exit 4' });
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  await machine.start();
  await machine.portal.until('enabled', heard('enabled'));
  machine.portal.setGoal([{ ...echo, name: 'echo', version: '1.1.0.0', sequenceNumber: 2 }]);
  const failed = await machine.portal.until('failed', heard('failed'));
  expect(failed).toMatchObject({ version: '1.0.0.0', command: 'update', exitCode: 4 });
  expect(failed.output).toContain('Version 1.0.0.0 stays on this machine');
  expect(existsSync(join(machine.dir, 'handlers', 'Acme.Test.Echo-1.0.0.0', 'command.sh'))).toBe(true);
});

test('AZ-G7 downgrade: disable and uninstall the higher version, install and enable the lower', async () => {
  await machine.addHandler(echo);
  await machine.addHandler({ ...echo, version: '1.10' });
  machine.portal.setGoal([{ ...echo, name: 'echo', version: '1.10' }]);
  await machine.start();
  await machine.portal.until('enabled', heard('enabled'));
  machine.portal.setGoal([{ ...echo, name: 'echo', sequenceNumber: 2 }]);
  await machine.portal.until('enabled', heard('enabled', 'echo', 2));
  expect(machine.calls().slice(2)).toEqual([
    'Echo-1.10 disable',
    'Echo-1.10 uninstall',
    'Echo-1.0.0.0 install',
    'Echo-1.0.0.0 enable',
  ]);
});

test('AZ-G8 the agent requests a restart when the installs are complete', async () => {
  await machine.addHandler({ ...echo, rebootAfterInstall: true });
  await machine.addHandler({ handler: 'Acme.Test.Other', version: '1' });
  machine.portal.setGoal([
    { ...echo, name: 'echo' },
    { handler: 'Acme.Test.Other', version: '1', name: 'other' },
  ]);
  await machine.start({ rebootCommand: `echo reboot >> '${machine.callsFile}'` });
  await machine.until('the reboot', () => machine.calls().at(-1) === 'reboot');
  // The handler that requires the restart is not enabled before the machine has restarted.
  const calls = ['Echo-1.0.0.0 install', 'Other-1 enable', 'Other-1 install', 'reboot'];
  expect(machine.calls().toSorted()).toEqual(calls);
});

longTest(
  'AZ-G8 the agent requests a restart even if the agent restarted before all installs were complete',
  async () => {
    const go = join(machine.dir, 'go');
    await machine.addHandler({ ...echo, rebootAfterInstall: true });
    const script = `[ "$1" != install ] || [ -f '${go}' ] || exec sleep 300`;
    await machine.addHandler({ handler: 'Acme.Test.Other', version: '1', script });
    machine.portal.setGoal([
      { ...echo, name: 'echo' },
      { handler: 'Acme.Test.Other', version: '1', name: 'other' },
    ]);
    await machine.start();
    await machine.until('the other install', () => machine.calls().at(-1) === 'Other-1 install');
    await machine.stop();
    writeFileSync(go, '');
    await machine.start({ rebootCommand: `echo reboot >> '${machine.callsFile}'` });
    await machine.until('the reboot', () => machine.calls().at(-1) === 'reboot');
    expect(machine.calls().filter((call) => call === 'Echo-1.0.0.0 install')).toHaveLength(1);
  },
);

test('AZ-C4 each configuration has its own file, with the extension name for shared handlers; earlier files are kept', async () => {
  await machine.addHandler({ ...echo, supportsMultipleExtensions: true });
  machine.portal.setGoal([
    { ...echo, name: 'red' },
    { ...echo, name: 'blue', sequenceNumber: 4 },
  ]);
  await machine.start();
  await machine.portal.until('blue', heard('enabled', 'blue'));
  machine.portal.setGoal([
    { ...echo, name: 'red', sequenceNumber: 2 },
    { ...echo, name: 'blue', sequenceNumber: 4 },
  ]);
  await machine.portal.until('red', heard('enabled', 'red', 2));
  const config = join(machine.dir, 'handlers', 'Acme.Test.Echo-1.0.0.0', 'config');
  expect(readdirSync(config).sort()).toEqual(['blue.4.settings', 'red.1.settings', 'red.2.settings']);
  expect(machine.calls().filter((call) => call.endsWith('install'))).toHaveLength(1);
});

test('a failed extension stops only its dependents, and each dependent names the extension that it waits for', async () => {
  await machine.addHandler({ handler: 'Acme.Test.Mount', version: '1', script: '[ "$1" != enable ] || exit 51' });
  await machine.addHandler({ handler: 'Acme.Test.Snapshot', version: '1' });
  await machine.addHandler(echo);
  machine.portal.setGoal([
    { handler: 'Acme.Test.Snapshot', version: '1', name: 'snapshot', dependsOn: ['mount'] },
    { handler: 'Acme.Test.Mount', version: '1', name: 'mount' },
    { ...echo, name: 'echo' },
  ]);
  const agent = await machine.start();
  await machine.portal.until('echo', heard('enabled'));
  await machine.portal.until('mount', heard('failed', 'mount'));
  await agent.lane.whenIdle();
  expect(heard('waiting', 'snapshot')()).toMatchObject({ blockedBy: 'mount' });
  expect(machine.calls().some((call) => call.startsWith('Snapshot'))).toBe(false);
});

test('a package with a different digest is rejected and not unpacked', async () => {
  await machine.addHandler(echo);
  const zip = await fakeHandler(machine.callsFile, { ...echo, script: 'echo other' });
  machine.portal.setGoal([{ ...echo, name: 'echo' }]);
  machine.portal.replacePackages(zip);
  await machine.start();
  const failed = await machine.portal.until('failed', heard('failed'));
  expect(failed.output).toContain('SHA-256');
  expect(existsSync(join(machine.dir, 'handlers', 'Acme.Test.Echo-1.0.0.0'))).toBe(false);
});

function isFailed(state: string): boolean {
  return state.endsWith(' failed');
}

/** Whether a process is running. Zombies do not count. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
