import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ExtensionGoal } from '../support/api.ts';
import { probe } from './probe.ts';
import { type Actor, Stage } from './stage.ts';

let stage: Stage;
let vm: Actor;
beforeAll(async () => {
  stage = await Stage.open();
  vm = await stage.enter('stock-life');
});
afterAll(async () => {
  await stage?.close();
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const goal = (version: string, publicSettings: object, more: Partial<ExtensionGoal> = {}): ExtensionGoal => ({
  handler: probe,
  version,
  settings: { publicSettings },
  ...more,
});

/** Sets a goal, waits until the agent has reported it as healthy, and returns its sequence number. */
async function arrive(version: string, publicSettings: object, more: Partial<ExtensionGoal> = {}): Promise<number> {
  const { sequenceNumber } = await stage.api.setExtension(vm.vmId, 'probe', goal(version, publicSettings, more));
  await vm.until('probe', ({ version: reported, status, health }) => {
    expect({ reported, status: status?.sequenceNumber, health }).toEqual({
      reported: version,
      status: sequenceNumber,
      health: 'healthy',
    });
  });
  return sequenceNumber;
}

test('after install, new settings run only enable, with the new sequence number', async () => {
  const first = await arrive('1.0.0.0', { target: 'alpha' });
  const second = await arrive('1.0.0.0', { target: 'beta' });
  expect(vm.newCallsInShort()).toBe(`1.0 install, 1.0 enable ${first}, 1.0 enable ${second}`);
  const { status } = await vm.until('probe', () => {});
  expect(status?.message?.text).toBe('Probe 1.0.0.0 is watching beta.');
});

test('setting the same goal twice runs no handler', async () => {
  await stage.api.setExtension(vm.vmId, 'probe', goal('1.0.0.0', { target: 'beta' }));
  const third = await arrive('1.0.0.0', { target: 'gamma' });
  expect(vm.newCallsInShort()).toBe(`1.0 enable ${third}`);
});

test('an update runs disable, update, uninstall, install and enable; a downgrade does too', async () => {
  const newer = await arrive('1.1.0.0', { target: 'alpha' });
  expect(vm.newCalls()).toMatchObject([
    { version: '1.0.0.0', command: 'disable' },
    { version: '1.1.0.0', command: 'update', from: '1.0.0.0' },
    { version: '1.0.0.0', command: 'uninstall' },
    { version: '1.1.0.0', command: 'install' },
    { version: '1.1.0.0', command: 'enable', sequence: newer },
  ]);
  const older = await arrive('1.0.0.0', { target: 'alpha' });
  // For a downgrade, the agent runs the update command of the higher version.
  expect(vm.newCallsInShort()).toBe(`1.1 disable, 1.1 update, 1.1 uninstall, 1.0 install, 1.0 enable ${older}`);
});

test('a failed update stops, is reported with its reason, and is undone by returning to the old version', async () => {
  await stage.api.setExtension(vm.vmId, 'probe', goal('1.2.0.0', { target: 'alpha', fail: 'update' }));
  const failed = await vm.until('probe', ({ health }) => expect(health).toBe('failed'));
  expect(failed.handlerState).toMatchObject({ state: 'failed', command: 'update' });
  expect(vm.newCallsInShort()).toBe('1.0 disable, 1.2 update');
  const back = await arrive('1.0.0.0', { target: 'alpha' });
  expect(vm.newCallsInShort()).toBe(`1.0 enable ${back}`);
});

test('a failed enable is reported, and the next settings correct it', async () => {
  const { sequenceNumber } = await stage.api.setExtension(
    vm.vmId,
    'probe',
    goal('1.0.0.0', { target: 'alpha', fail: 'enable' }),
  );
  await vm.until('probe', ({ health }) => expect(health).toBe('failed'));
  const mended = await arrive('1.0.0.0', { target: 'alpha' });
  expect(vm.newCallsInShort()).toBe(`1.0 enable ${sequenceNumber}, 1.0 enable ${mended}`);
});

test('an extension is disabled and enabled again', async () => {
  await stage.api.setExtension(vm.vmId, 'probe', goal('1.0.0.0', { target: 'alpha' }, { state: 'disabled' }));
  await vm.until('probe', ({ health, handlerState }) => {
    expect([health, handlerState?.state]).toEqual(['disabled', 'disabled']);
  });
  expect(vm.newCallsInShort()).toBe('1.0 disable');
  const again = await arrive('1.0.0.0', { target: 'alpha' });
  expect(vm.newCallsInShort()).toBe(`1.0 enable ${again}`);
});

test('secrets are decrypted on the machine, kept if they are not sent again, and changed', async () => {
  const secrets = (password: string) => ({ publicSettings: { target: 'alpha' }, protectedSettings: { password } });
  await arrive('1.0.0.0', {}, { settings: secrets('first') });
  await arrive('1.0.0.0', { target: 'beta' });
  await arrive('1.0.0.0', {}, { settings: secrets('second, with ü and "quotes"') });
  expect(vm.newCalls().map(({ secret }) => secret)).toEqual(
    ['first', 'first', 'second, with ü and "quotes"'].map((password) => sha256(JSON.stringify({ password }))),
  );
  const shown = JSON.stringify([await vm.view(), await stage.api.goalState(vm.vmId)]);
  expect(shown).not.toMatch(/first|second, with/);
  expect(vm.machine.log()).not.toMatch(/second, with/);
});

test('other users of the machine get no access, whatever they claim to be', async () => {
  const program = `
import http.client
for host, port, path in (("168.63.129.16", 80, "/machine/?comp=goalstate"), ("168.63.129.16", 32526, "/versions"), ("169.254.169.254", 80, "/metadata/instance")):
    connection = http.client.HTTPConnection(host, port, timeout=5)
    connection.request("GET", path, headers={"X-Guest-Token": "forged", "X-Guest-Vm": "other", "Metadata": "True"})
    print(connection.getresponse().status)`;
  const ask = (...as: string[]) => vm.machine.run('env', ...as, 'python3', '-c', program);
  const unprivileged = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  expect((await ask(...unprivileged)).trim().split('\n')).toEqual(['403', '403', '403']);
  expect((await ask()).trim().split('\n').slice(0, 2)).toEqual(['200', '200']);
});

test('after a reboot, the agent creates a certificate, runs enable and decrypts the secret', async () => {
  await vm.machine.stop();
  await vm.machine.start();
  await vm.untilMachine(() => expect(vm.newCallsInShort()).toMatch(/^1\.0 enable \d+$/));
  const { sequenceNumber } = await stage.api.setExtension(vm.vmId, 'probe', goal('1.0.0.0', { target: 'after' }));
  await vm.until('probe', ({ status }) => expect(status?.sequenceNumber).toBe(sequenceNumber));
  const secret = sha256(JSON.stringify({ password: 'second, with ü and "quotes"' }));
  expect(vm.newCalls()).toMatchObject([{ command: 'enable', sequence: sequenceNumber, secret }]);
});
