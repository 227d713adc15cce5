import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyActivity } from '#server/domain/audit/index.ts';
import { type ExtensionReceipt, fetchGoalState } from '#server/domain/goal-states/index.ts';
import type { InstanceView } from '#server/domain/views/index.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { openRestDoor, type RestCall, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let id: string;
const operator: RestCall = { as: 'operator' };
const body = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled', settings: { publicSettings: {} } };

beforeAll(async () => {
  door = await openRestDoor();
  await givenVersion(door.services.db);
  id = (await door.expect<{ id: string }>('createVm', {}, 201, { body: { name: 'retried' } })).id;
  await door.expect('setExtension', probe(), 200, { ...operator, body });
});
afterAll(() => door.close());

const probe = () => ({ id, name: 'probe' });
const current = () => door.expect<ExtensionReceipt>('getExtension', probe(), 200, operator);
const retry = (outcome: number | readonly [number, string], query = '', call: RestCall = operator) =>
  door.expect<ExtensionReceipt>('retryExtension', probe(), outcome, { ...call, query });
const retries = async () =>
  (await door.expect<InstanceView>('getInstanceView', { id }, 200, operator)).extensions[0]?.retries;

test('a retry keeps the contents and takes the next sequence number', async () => {
  const before = await current();
  const receipt = await retry(200, `?sequenceNumber=${before.sequenceNumber}`);
  expect(receipt).toMatchObject({
    sequenceNumber: before.sequenceNumber + 1,
    incarnation: before.incarnation + 1,
  });
  const { body: goal, headers } = await door.call('GET', `/vms/${id}/goal-state`, operator);
  expect(headers.get('etag')).toBe(`"${receipt.incarnation}"`);
  expect(goal).toMatchObject({ incarnation: receipt.incarnation });
  expect(await retries()).toBeNull();
});

test('a retry of an outdated sequence number or goal state is rejected, in the language of the caller', async () => {
  const { sequenceNumber, incarnation } = await current();
  await retry([412, 'extension_moved_on'], `?sequenceNumber=${sequenceNumber - 1}`);
  const german = { ...operator, headers: { 'accept-language': 'de' } };
  const path = `/vms/${id}/extensions/probe/retry?sequenceNumber=${sequenceNumber - 1}`;
  const { body: problem } = await door.call('POST', path, german);
  expect(problem).toMatchObject({ detail: expect.stringContaining('inzwischen geändert') });
  const outdated = { ...operator, headers: { 'if-match': `"${incarnation - 1}"` } };
  await retry([412, 'goal_state_moved_on'], '', outdated);
  expect(await current()).toMatchObject({ sequenceNumber, incarnation });
});

test('an id in capital letters is the same VM, and its activity stays intact', async () => {
  const inCapitals = { id: id.toUpperCase(), name: 'probe' };
  const receipt = await door.expect<ExtensionReceipt>('retryExtension', inCapitals, 200, operator);
  expect(receipt).toMatchObject({ vmId: id });
  const body = { reason: 'Capital letters' };
  await door.expect('holdVm', { id: id.toUpperCase() }, 200, { ...operator, body });
  await door.expect('releaseHold', { id: id.toUpperCase() }, 204, operator);
  expect((await verifyActivity(door.services, null)).faults).toEqual([]);
});

test('repeated retries are in the instance view until they are canceled', async () => {
  await retry(200, '?everyMinutes=15');
  expect(await retries()).toMatchObject({ everyMinutes: 15, times: 5, done: 0 });
  await retry(200, '?everyMinutes=10&times=3');
  expect(await retries()).toMatchObject({ everyMinutes: 10, times: 3, done: 0 });
  await door.expect('cancelRetries', probe(), 204, operator);
  expect(await retries()).toBeNull();
  await door.expect('cancelRetries', probe(), 204, operator);
});

test.each(['everyMinutes=0', 'everyMinutes=1441', 'everyMinutes=x', 'everyMinutes=1&times=0', 'times=101'])(
  'rejects ?%s',
  async (query) => {
    const { sequenceNumber } = await current();
    expect((await door.call('POST', `/vms/${id}/extensions/probe/retry?${query}`, operator)).status).toBe(400);
    expect(await current()).toMatchObject({ sequenceNumber });
  },
);

test('viewers and unknown extensions are rejected', async () => {
  await retry([403, 'forbidden'], '', { as: 'viewer' });
  await door.expect('cancelRetries', probe(), [403, 'forbidden'], { as: 'viewer' });
  await door.expect('retryExtension', { id, name: 'other' }, [404, 'extension_absent'], operator);
  const unknown = { id: '00000000-0000-4000-8000-000000000000', name: 'probe' };
  await door.expect('retryExtension', unknown, [404, 'vm_unknown'], operator);
  await door.expect('cancelRetries', unknown, [404, 'vm_unknown'], operator);
});

test('an extension that is being uninstalled is not retried', async () => {
  await fetchGoalState(door.services.db, id, new Date());
  await door.expect('removeExtension', probe(), 202, operator);
  await retry([409, 'uninstalling']);
});
