import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { getWireAccess } from '#server/domain/stock-agents/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { givenStockVm, healthPost, openWireDoor, StockVm, type WireDoor } from '#server/testing/stock-agent.ts';
import { observationsOf, provisioningOf } from './observations.ts';

let ctx: Context;
let door: WireDoor;
let other: WireDoor;
let now = new Date('2026-03-01T10:00:00Z');

beforeAll(async () => {
  ctx = await testContext({ role: 'operator', services: await testServices({ config: { wire: true, vmRate: 0 } }) });
  [door, other] = [await openWireDoor(ctx, () => now), await openWireDoor(ctx, () => now)];
});
afterAll(() => Promise.all([door.close(), other.close()]));

const after = (minutes: number) => {
  now = new Date(now.getTime() + minutes * 60_000);
  return now.toISOString();
};
const say = (vm: StockVm, said: Record<string, true | string>) =>
  vm.call('wire', '/HealthService', { method: 'POST', body: healthPost(said) });
const keptOf = async (vm: StockVm) => (await getWireAccess(ctx, { vmId: vm.vmId })).stock?.observations;

/** Returns the statements that `act` causes, without the lookup of the token, which may happen at any time. */
const costOf = async (act: () => Promise<unknown>) =>
  (await statementsOf(act)).filter((statement) => !statement.includes('credential_hash'));

const imds = 'InstanceMetadataHeartbeat';

test('an unhealthy observation is stored with its text, and later with its recovery', async () => {
  const vm = await givenStockVm(ctx, door, 'turns');
  await say(vm, { [imds]: true, GuestAgentPluginHeartbeat: true });
  expect(await keptOf(vm)).toEqual([]);
  const since = after(1);
  await say(vm, { [imds]: 'JSON parsing failed' });
  expect(await keptOf(vm)).toEqual([{ name: imds, text: 'JSON parsing failed', since, until: null }]);
  const until = after(5);
  await say(vm, { [imds]: true });
  expect(await keptOf(vm)).toEqual([{ name: imds, text: 'JSON parsing failed', since, until }]);
  const again = after(5);
  await say(vm, { [imds]: '' });
  expect(await keptOf(vm)).toEqual([{ name: imds, text: null, since: again, until: null }]);
});

test('repeated, reworded and alternating observations run no statement', async () => {
  const vm = await givenStockVm(ctx, door, 'repeats');
  await say(vm, { [imds]: 'first' });
  after(2);
  for (const text of ['first', 'second', 'third']) expect(await costOf(() => say(vm, { [imds]: text }))).toEqual([]);
  await say(vm, { [imds]: true });
  expect(await costOf(() => say(vm, { [imds]: 'fourth' }))).toEqual([]);
  expect(await keptOf(vm)).toMatchObject([{ text: 'first', until: now.toISOString() }]);
  const since = after(1);
  // A pending change is stored with the next request, regardless of its contents.
  await say(vm, { GuestAgentPluginHeartbeat: true });
  expect(await keptOf(vm)).toEqual([{ name: imds, text: 'fourth', since, until: null }]);
});

test('another gateway learns of an unhealthy observation and its recovery', async () => {
  const vm = await givenStockVm(ctx, door, 'shared');
  const there = new StockVm(other.url, vm.vmId, vm.token);
  await say(there, { [imds]: true });
  after(1);
  await say(vm, { [imds]: 'away' });
  after(14);
  await say(there, { [imds]: true });
  expect(await keptOf(vm)).toMatchObject([{ until: now.toISOString() }]);
  after(0.5);
  await say(vm, { [imds]: 'away' });
  expect(await keptOf(vm)).toMatchObject([{ until: expect.any(String) }]);
  after(0.5);
  await say(vm, { [imds]: 'away' });
  expect(await keptOf(vm)).toMatchObject([{ until: null }]);
});

test('at most eight names are stored per VM, and recovered observations make room', async () => {
  const vm = await givenStockVm(ctx, door, 'many');
  const names = Array.from({ length: 9 }, (_, n) => `Probe${n}`);
  await say(vm, Object.fromEntries(names.map((name) => [name, 'x'])));
  expect((await keptOf(vm))?.map(({ name }) => name)).toEqual(names.slice(0, 8));
  after(2);
  await say(vm, { Probe3: true, Probe8: 'x' });
  expect((await keptOf(vm))?.map(({ name }) => name)).toEqual(names.filter((name) => name !== 'Probe3'));
});

test('failed and successful provisioning are reported at the start', async () => {
  const vm = await givenStockVm(ctx, door, 'provisioned');
  const post = (state: string) => vm.call('wire', '/machine?comp=health', { method: 'POST', body: provisioned(state) });
  await post('NotReady');
  const text = 'ProvisioningFailed: no <ovf-env.xml> & no disk';
  expect(await keptOf(vm)).toMatchObject([{ name: 'Provisioning', text, until: null }]);
  after(2);
  await post('Ready');
  expect(await keptOf(vm)).toMatchObject([{ name: 'Provisioning', until: now.toISOString() }]);
});

/** Returns a report as the agent's `_build_health_report` writes it. */
function provisioned(state: string): string {
  const details =
    '<Details><SubStatus>ProvisioningFailed</SubStatus><Description>no &lt;ovf-env.xml&gt; &amp; no disk</Description></Details>';
  return `<?xml version="1.0" encoding="utf-8"?><Health xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"><GoalStateIncarnation>1</GoalStateIncarnation><Container><ContainerId>c</ContainerId><RoleInstanceList><Role><InstanceId>i</InstanceId><Health><State>${state}</State>${state === 'Ready' ? '' : details}</Health></Role></RoleInstanceList></Container></Health>`;
}

test.each<[string, string]>([
  ['no JSON', '{'],
  ['a list', '[]'],
  ['no observations', '{"Observations":{}}'],
  ['an empty observation', '{"Observations":[null,{},{"ObservationName":"","IsHealthy":false}]}'],
  ['an observation without health', '{"Observations":[{"ObservationName":"a","IsHealthy":"no"}]}'],
  ['brackets', '['.repeat(10_000)],
  ['too much', healthPost({ a: 'x'.repeat(20_000) })],
])('a request is ignored: %s', async (_, body) => {
  expect(observationsOf(Buffer.from(body))).toEqual([]);
  expect(provisioningOf(Buffer.from(body))).toEqual([]);
});

test('texts are truncated, and characters that cannot be stored are removed', () => {
  const [said] = observationsOf(Buffer.from(healthPost({ ['ä'.repeat(100)]: `a\u0000b\ud800${'ü'.repeat(2_000)}` })));
  expect(said?.name).toBe('ä'.repeat(32));
  expect(said?.text).toMatch(/^a\ufffdb\ufffdü+$/);
  expect(Buffer.byteLength(said?.text ?? '')).toBeLessThanOrEqual(1_024);
  const odd = '<Health><State>NotReady</State><Description>a&#0;b&#xD800;c';
  const [told] = provisioningOf(Buffer.from(odd));
  expect([told?.text?.isWellFormed(), told?.text?.includes('\u0000')]).toEqual([true, false]);
});
