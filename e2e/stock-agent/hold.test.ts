import { afterAll, beforeAll, expect, test } from 'vitest';
import { probe } from './probe.ts';
import { type Actor, Stage } from './stage.ts';

let stage: Stage;
let vm: Actor;
beforeAll(async () => {
  stage = await Stage.open();
  vm = await stage.enter('stock-hold');
});
afterAll(async () => {
  await stage?.close();
});

const set = (version: string, target: string) =>
  stage.api.setExtension(vm.vmId, 'probe', { handler: probe, version, settings: { publicSettings: { target } } });
/** How many times the agent logged that it is on hold. */
const holds = () => vm.machine.log().match(/on hold/g)?.length ?? 0;
const hold = (method: 'PUT' | 'DELETE') => stage.api.call(method, `/vms/${vm.vmId}/wire-access/hold`);

test('an agent on hold ignores updates, even after its restart, and repeats its last status', async () => {
  await set('1.0.0.0', 'alpha');
  await vm.until('probe', ({ health }) => expect(health).toBe('healthy'));
  vm.newCalls();
  await hold('PUT');
  await vm.untilMachine(() => expect(holds()).toBe(1));
  await set('1.1.0.0', 'beta');
  await vm.machine.stop();
  await vm.machine.start();
  await vm.untilMachine(() => expect(holds()).toBe(2));
  // Waits until the agent has sent its first status after the restart.
  await vm.untilMachine(({ text }) => {
    expect(text.call(vm.machine, '/var/log/waagent.log').split('on hold').at(-1)).toMatch(
      /Annex\.Stock\.Probe.*success/,
    );
  });
  const seen = await vm.until('probe', ({ health }) => expect(health).toBe('progressing'));
  expect(seen).toMatchObject({
    version: '1.0.0.0',
    deliveredAt: null,
    deadlineAt: null,
    status: { message: { text: 'Probe 1.0.0.0 is watching alpha.' } },
  });
  expect(vm.newCallsInShort()).toBe('');
});

test('an agent that is released applies the pending changes', async () => {
  await hold('DELETE');
  await vm.until('probe', ({ version, health }) => expect([version, health]).toEqual(['1.1.0.0', 'healthy']));
  expect(vm.newCallsInShort()).toMatch(/^1\.0 disable, 1\.1 update, 1\.0 uninstall, 1\.1 install, 1\.1 enable \d+$/);
});
