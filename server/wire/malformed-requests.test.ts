import { afterAll, beforeAll, expect, test } from 'vitest';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { givenStockVm, openWireDoor, type StockVm, type WireDoor } from '#server/testing/stock-agent.ts';

let door: WireDoor;
let vm: StockVm;

beforeAll(async () => {
  const services = await testServices({ config: { wire: true, vmRate: 0 } });
  const ctx = await testContext({ role: 'operator', services });
  await givenVersion(ctx.db);
  door = await openWireDoor(ctx);
  vm = await givenStockVm(ctx, door, 'malformed');
  const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const };
  await setExtension(ctx, { vmId: vm.vmId, name: 'probe', goal });
});
afterAll(() => door.close());

const values = [
  '%ff',
  '%00',
  '%zz',
  '%',
  '-1',
  '1e999',
  '99999999999999999999',
  'x'.repeat(5_000),
  '..%2f..',
  '%ED%A0%80',
];
const bodies = ['', '{', '[]', 'null', '<', '<x/>', '\u0000', '{"requestUri":"\\u0000"}', '['.repeat(50_000)];

test.each<[string, 'wire' | 'hgap', string]>([
  ['GET', 'wire', '/machine/VALUE?comp=goalstate'],
  ['GET', 'wire', '/machine/?comp=VALUE'],
  ['GET', 'wire', '/machine/CONTAINER/extensions-config?incarnation=VALUE'],
  ['GET', 'wire', '/machine/CONTAINER/VALUE'],
  ['GET', 'wire', '/machine/VALUE/shared-config'],
  ['GET', 'wire', '/packages/VALUE.zip'],
  ['GET', 'wire', '/packages/VALUE/manifest.xml'],
  ['GET', 'wire', '/metadata/VALUE'],
  ['PUT', 'wire', '/status/VALUE'],
  ['PUT', 'wire', '/status/CONTAINER?sig=VALUE&comp=page'],
  ['POST', 'wire', '/machine?comp=VALUE'],
  ['POST', 'wire', '/machine?comp=telemetrydata'],
  ['POST', 'wire', '/machine?comp=health'],
  ['POST', 'wire', '/HealthService'],
  ['GET', 'hgap', '/VALUE'],
  ['GET', 'hgap', '/extensionArtifact?x=VALUE'],
  ['PUT', 'hgap', '/status'],
  ['PUT', 'hgap', '/vmAgentLog?x=VALUE'],
])('malformed calls of the stock agent cause no 5xx: %s %s %s', async (method, side, path) => {
  const { containerId } = await vm.poll();
  const ask = async (value: string, init: RequestInit) => {
    const { status } = await vm.call(side, path.replace('CONTAINER', containerId).replace('VALUE', value), init);
    expect([value.slice(0, 40), status < 500]).toEqual([value.slice(0, 40), true]);
  };
  for (const value of path.includes('VALUE') ? values : ['']) {
    const headers = { 'x-ms-artifact-location': `http://168.63.129.16/packages/${value}` };
    await ask(value, { method, headers, ...(method !== 'GET' && { body: '{}' }) });
  }
  for (const body of method === 'GET' ? [] : bodies) {
    const headers = {
      'content-type': 'text/xml;charset=utf-16',
      'x-ms-range': 'bytes=9-1',
      'x-ms-blob-type': 'PageBlob',
    };
    await ask('x', { method, body, headers: { ...headers, 'x-ms-blob-content-length': '1e999' } });
  }
  expect((await vm.call('wire', '/machine/?comp=goalstate')).status).toBe(200);
});
