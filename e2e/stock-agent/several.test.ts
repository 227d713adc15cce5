import { afterAll, beforeAll, expect, test } from 'vitest';
import { base, many, probe } from './probe.ts';
import { type Actor, Stage } from './stage.ts';

let stage: Stage;
let vm: Actor;
beforeAll(async () => {
  stage = await Stage.open();
  vm = await stage.enter('stock-several');
});
afterAll(async () => {
  await stage?.close();
});

const to = (target: string, more: object = {}) => ({ publicSettings: { target, ...more } });

test('extensions of one handler share an install, and are enabled and reported separately', async () => {
  await stage.api.setExtension(vm.vmId, 'first', { handler: many, version: '1.0.0.0', settings: to('alpha') });
  await vm.until('first', ({ health }) => expect(health).toBe('healthy'));
  await stage.api.setExtension(vm.vmId, 'second', {
    handler: many,
    version: '1.0.0.0',
    settings: to('beta', { word: 'error', code: 4, message: 'No way.' }),
  });
  const second = await vm.until('second', ({ status }) => expect(status?.status).toBe('error'));
  expect(second.status?.message?.text).toBe('No way.');
  await vm.until('first', ({ health }) => expect(health).toBe('healthy'));
  const calls = vm.newCalls();
  expect(calls.filter(({ command }) => command === 'install')).toHaveLength(1);
  expect(new Set(calls.filter(({ command }) => command === 'enable').map(({ name }) => name))).toEqual(
    new Set(['first', 'second']),
  );
});

test('one of them is disabled and uninstalled while the other stays', async () => {
  const disabled = { handler: many, version: '1.0.0.0', state: 'disabled', settings: to('beta') } as const;
  await stage.api.setExtension(vm.vmId, 'second', disabled);
  await vm.until('second', ({ health }) => expect(health).toBe('disabled'));
  await stage.api.call('DELETE', `/vms/${vm.vmId}/extensions/second`);
  await vm.untilVm(({ extensions }) => expect(extensions.map(({ name }) => name)).toEqual(['first']));
  await vm.until('first', ({ health }) => expect(health).toBe('healthy'));
  const calls = vm.newCalls();
  expect(calls.filter(({ command }) => command === 'disable').map(({ name }) => name)).toEqual(['second']);
  expect(calls.filter(({ command }) => command === 'uninstall')).toEqual([]);
});

test('uninstalling the last of them uninstalls the handler', async () => {
  await stage.api.call('DELETE', `/vms/${vm.vmId}/extensions/first`);
  await vm.untilVm(({ extensions }) => expect(extensions).toEqual([]));
  expect(vm.newCalls().map(({ command }) => command)).toEqual(['disable', 'uninstall']);
});

test('a dependent of a failed extension waits, says why, and runs once the failure is corrected', async () => {
  await stage.api.setExtension(vm.vmId, 'base', {
    handler: base,
    version: '1.0.0.0',
    settings: to('a', { word: 'error' }),
  });
  await stage.api.setExtension(vm.vmId, 'probe', {
    handler: probe,
    version: '1.0.0.0',
    dependsOn: ['base'],
    settings: to('b'),
  });
  await vm.until('base', ({ health }) => expect(health).toBe('failed'));
  await vm.until('probe', ({ handlerState }) => {
    expect(handlerState).toMatchObject({ state: 'waiting', blockedBy: 'base' });
  });
  expect(vm.newCalls().filter(({ handler, command }) => handler === probe && command === 'enable')).toEqual([]);
  await stage.api.setExtension(vm.vmId, 'base', { handler: base, version: '1.0.0.0', settings: to('a') });
  await vm.until('probe', ({ health }) => expect(health).toBe('healthy'));
  const enabled = vm.newCalls().filter(({ command }) => command === 'enable');
  expect(enabled.map(({ handler }) => handler).slice(-2)).toEqual([base, probe]);
});
