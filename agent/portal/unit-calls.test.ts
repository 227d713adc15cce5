import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { PortalCall, PortalResponse } from './call.ts';
import { PortalRefusal } from './refusal.ts';
import { unitCalls, unitHeader, unitNews } from './unit-calls.ts';

type Request = Parameters<PortalCall>[0];

/** Returns the calls, and the requests that they made. */
function open(answer: Partial<PortalResponse> = {}) {
  const requests: Request[] = [];
  const calls = unitCalls(async (request) => {
    requests.push(request);
    return { status: 204, headers: {}, text: '', ...answer };
  });
  return { calls, requests };
}

test.each([
  ['"e1.41.20"', { stamp: 'e1.41.20', after: 0 }],
  ['e1.41.20', { stamp: 'e1.41.20', after: 0 }],
  ['', { stamp: null, after: 0 }],
  ['two words', { stamp: null, after: 0 }],
  [undefined, { stamp: null, after: 0 }],
])('the stamp %s is read', (header, expected) => {
  expect(unitNews({ headers: { 'annex-units': header } })).toEqual(expected);
});

test('a stamp is sent as it was received, and an agent that knows none sends an empty value', () => {
  expect(unitHeader(unitNews({ headers: { 'annex-units': '"e1.41.20"' } }).stamp)).toEqual({
    'annex-units': '"e1.41.20"',
  });
  expect(unitHeader('')).toEqual({ 'annex-units': '' });
  expect(unitHeader(null)).toEqual({});
});

test('the pause before a look is a number of seconds', () => {
  const headers = { 'annex-units': '"a"', 'annex-units-after': '0.500' };
  expect(unitNews({ headers })).toEqual({ stamp: 'a', after: 0.5 });
  expect(unitNews({ headers: { ...headers, 'annex-units-after': 'soon' } })).toEqual({ stamp: 'a', after: 0 });
});

test('a request for the unit state names what the agent holds', async () => {
  const { calls, requests } = open({ status: 200, text: '{}', headers: { 'annex-units': '"e1.1.0"' } });
  expect(await calls.unitState({})).toEqual({ text: '{}', stamp: 'e1.1.0' });
  await calls.unitState({ epoch: 'e1', after: '3:17,4:20', boot: 'b' });
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /agent/v1/units',
    'GET /agent/v1/units?epoch=e1&after=3%3A17%2C4%3A20&boot=b',
  ]);
});

test('EN-60 settings that are not as documented are an error, and not empty settings', async () => {
  const text = '{"version":12,"settings":{"host":"\\"10.0.0.4\\""}}';
  expect(await open({ status: 200, text }).calls.readNode('web/0', 3, 'mysql/0')).toEqual({
    version: 12,
    settings: { host: '"10.0.0.4"' },
  });
  for (const wrong of ['{}', '{"version":1}', '[]', '']) {
    await expect(open({ status: 200, text: wrong }).calls.readNode('web/0', 3, 'mysql/0')).rejects.toThrow();
    await expect(open({ status: 200, text: wrong }).calls.readServiceSettings('web/0')).rejects.toThrow();
  }
});

test('a part of an output names its place, and the portal says what it has', async () => {
  const { calls, requests } = open({ headers: { 'annex-output-bytes': '95' } });
  const bytes = Buffer.from('+0.012 INFO x\n');
  expect(await calls.sendRunLog('web/0', 'run', { from: 81, total: null, bytes })).toBe(95);
  expect(await calls.sendRunLog('web/0', 'run', { from: 81, total: 95, bytes })).toBe(95);
  expect(requests.map(({ headers }) => headers?.['content-range'])).toEqual(['bytes 81-94/*', 'bytes 81-94/95']);
  expect(gunzipSync(requests[0]?.body ?? '')).toEqual(bytes);
  const silent = open().calls;
  expect(await silent.sendRunLog('web/0', 'run', { from: 81, total: null, bytes })).toBe(95);
});

test.each<[string, (calls: ReturnType<typeof unitCalls>) => Promise<unknown>]>([
  ['unit state', (calls) => calls.unitState({})],
  ['run', (calls) => calls.putRun('web/0', 'run', '{}')],
  ['output', (calls) => calls.sendRunLog('web/0', 'run', { from: 0, total: null, bytes: Buffer.from('x') })],
  ['skipped hooks', (calls) => calls.skipHooks('web/0', { skipped: [] })],
  ['removal', (calls) => calls.removeUnit('web/0')],
])('a rejected %s has the code of the portal', async (_, call) => {
  const { calls } = open({ status: 409, text: '{"code":"unit_gone","title":"The unit is gone."}' });
  const error = await call(calls).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PortalRefusal);
  expect(error).toMatchObject({ status: 409, code: 'unit_gone', passing: false });
});
