import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fieldHandlers } from '#samples/field/behaviours.ts';
import { publishField, takeFieldStep } from './field.ts';
import { probe } from './probe.ts';
import { type Actor, Stage } from './stage.ts';

let stage: Stage;
let vm: Actor;
beforeAll(async () => {
  stage = await Stage.open();
  vm = await stage.enter('stock-short');
});
afterAll(async () => {
  await stage?.close();
});

const settings = { publicSettings: { target: 'alpha' }, protectedSettings: { password: 'correct horse' } };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test('a package is installed, and its secret is decrypted on the machine', async () => {
  const { sequenceNumber } = await stage.api.setExtension(vm.vmId, 'probe', {
    handler: probe,
    version: '1.0.0.0',
    settings,
  });
  const seen = await vm.until('probe', ({ health }) => expect(health).toBe('healthy'));
  expect(seen).toMatchObject({
    version: '1.0.0.0',
    handlerState: { state: 'enabled' },
    heartbeat: { verdict: 'ready' },
    status: { sequenceNumber, status: 'success', message: { text: 'Probe 1.0.0.0 is watching alpha.' } },
  });
  const secret = sha256(JSON.stringify(settings.protectedSettings));
  expect(vm.newCalls()).toEqual([
    { handler: probe, version: '1.0.0.0', command: 'install', sequence: sequenceNumber, secret },
    { handler: probe, version: '1.0.0.0', command: 'enable', sequence: sequenceNumber, secret },
  ]);
});

test('its English messages are shown in German, and marked as recovered', async () => {
  const [extension] = (await vm.view('de')).extensions;
  const found = { lang: 'de', source: 'recovered' };
  expect(extension?.status).toMatchObject({
    message: { text: 'Probe 1.0.0.0 beobachtet alpha.', ...found },
    substatus: [{ message: { text: 'alpha wurde erreicht.', ...found } }],
  });
});

test('a newer version replaces it, in the order that handlers expect', async () => {
  const { sequenceNumber } = await stage.api.setExtension(vm.vmId, 'probe', { handler: probe, version: '1.1.0.0' });
  await vm.until('probe', ({ version, status, health }) => {
    expect({ version, health, status: status?.sequenceNumber }).toEqual({
      version: '1.1.0.0',
      health: 'healthy',
      status: sequenceNumber,
    });
  });
  expect(vm.newCallsInShort()).toBe(
    `1.0 disable, 1.1 update, 1.0 uninstall, 1.1 install, 1.1 enable ${sequenceNumber}`,
  );
});

test('an uninstalled extension is gone from the machine and from the portal', async () => {
  await stage.api.call('DELETE', `/vms/${vm.vmId}/extensions/probe`);
  await vm.untilVm(({ extensions }) => expect(extensions).toEqual([]));
  expect(vm.newCallsInShort()).toBe('1.1 disable, 1.1 uninstall');
  expect(await vm.machine.run('sh', '-c', 'ls -d /var/lib/waagent/Annex*/ 2>/dev/null || true')).toBe('');
});

test('a handler written like public handlers runs unchanged', async () => {
  const field = fieldHandlers.find(({ handler }) => handler === 'Field.Access.Users');
  if (field === undefined) throw new Error('the handler is not among the samples');
  await publishField(stage.api, field);
  for (const step of field.steps) await takeFieldStep(stage.api, vm, field.handler, step);
});
