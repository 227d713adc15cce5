import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { probe } from './probe.ts';
import { type Actor, Stage } from './stage.ts';

let stage: Stage;
let vms: Actor[];
beforeAll(async () => {
  stage = await Stage.open();
  vms = await Promise.all([stage.enter('stock-one'), stage.enter('stock-two')]);
});
afterAll(async () => {
  await stage?.close();
});

const set = (vm: Actor, publicSettings: object) =>
  stage.api.setExtension(vm.vmId, 'probe', { handler: probe, version: '1.0.0.0', settings: { publicSettings } });
const watching = async (vm: Actor, target: string) =>
  await vm.until('probe', ({ status, health }) => {
    expect([status?.message?.text, health]).toEqual([`Probe 1.0.0.0 is watching ${target}.`, 'healthy']);
  });
/** How many times the process that reads goal states was started. */
const starts = ({ machine }: Actor) => machine.log().match(/ running as process \d+/g)?.length;

test('two machines running at the same time each get their own goal state', async () => {
  await Promise.all(vms.map((vm, index) => set(vm, { target: `machine ${index}` })));
  await Promise.all(vms.map((vm, index) => watching(vm, `machine ${index}`)));
  for (const vm of vms) expect(vm.newCallsInShort()).toMatch(/^1\.0 install, 1\.0 enable \d+$/);
});

test('a command that ends while the portal restarts is reported, and nothing runs twice', async () => {
  const [vm] = vms as [Actor];
  const { sequenceNumber } = await set(vm, { target: 'slow', slow: 'enable', sleep: 10 });
  await vm.untilMachine(({ text }) =>
    expect(text.call(vm.machine, '/var/log/probe.log')).toContain(`"sequence": ${sequenceNumber}`),
  );
  await stage.portal.restart();
  await watching(vm, 'slow');
  expect(vm.newCallsInShort()).toBe(`1.0 enable ${sequenceNumber}`);
});

test('while the gateway is down for a minute, no agent exits and no handler runs again', async () => {
  const before = vms.map(starts);
  await stage.portal.stop();
  const away = performance.now();
  await vi.waitFor(() => expect(performance.now() - away).toBeGreaterThan(60_000), {
    timeout: 70_000,
    interval: 1_000,
  });
  await stage.portal.restart();
  await Promise.all(vms.map((vm) => vm.untilVm(({ agent }) => expect(agent.status).toBe('ready'))));
  await Promise.all(vms.map((vm, index) => set(vm, { target: `after ${index}` })));
  await Promise.all(vms.map((vm, index) => watching(vm, `after ${index}`)));
  for (const vm of vms) expect(vm.newCallsInShort()).toMatch(/^1\.0 enable \d+$/);
  expect(vms.map(starts)).toEqual(before);
});
