import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formulaEntries, metadataOf } from '#server/testing/formula.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';
import { buildZip } from '#server/testing/zip.ts';
import { serviceRoutes } from './routes/services.ts';
import { unitRoutes } from './routes/units.ts';

let door: RestDoor;
const model = 'prod';
const formula = 'Acme.Lab.blog';
const at = { formula, version: '1.0.0.0' };
const inBlog = { model, service: 'blog' };
const inUnit = (number: string) => ({ ...inBlog, number });
const missing = '0198c2f4-7b1e-7c3a-9d20-5a1f0b6e4c11';

interface Declared {
  newUnits: { unit: string; machine: { vmId: string; command: string; cloudService: string } }[];
}

beforeAll(async () => {
  door = await openRestDoor();
  const lab = { location: 'West Lab', storageAccount: 'labstore' };
  await door.expect('createPublisher', {}, 201, { body: { namespace: 'Acme.Lab', displayName: 'Acme' } });
  const body = Uint8Array.from(buildZip(formulaEntries(metadataOf())));
  const headers = { 'content-type': 'application/zip' };
  await door.expect('registerFormulaPackage', at, 201, { as: 'publisher', body, headers });
  await door.expect('publishFormulaVersion', at, 200, { as: 'publisher' });
  await door.expect('setStorageAccount', { name: lab.storageAccount }, 201, { body: { location: lab.location } });
  await door.expect('createModel', {}, 201, { body: { name: model, ...lab } });
  await door.expect('setService', inBlog, [409, 'model_not_bootstrapped'], { body: at });
  await door.expect('bootstrapModel', { model }, 200, { body: {} });
});
afterAll(() => door.close());

const operator = (body: unknown) => ({ as: 'operator' as const, body });

test('a service is deployed with units on VMs with tokens, is scaled, and is removed', async () => {
  const declared = await door.expect<Declared>('setService', inBlog, 200, operator({ ...at, units: 2 }));
  expect(declared).toMatchObject({
    ...{ name: 'blog', version: '1.0.0.0', settingsVersion: 1, exposed: false },
    units: [{ unit: 'blog/0', stage: 'placed', health: 'unknown' }, { unit: 'blog/1' }],
    newUnits: [{ unit: 'blog/0' }, { unit: 'blog/1' }],
  });
  expect(declared.newUnits[0]?.machine.command).toContain('--instance-id juju-prod-');
  const added = await door.expect<{ units: Declared['newUnits'] }>('addUnits', inBlog, 201, operator({ count: 1 }));
  expect(added.units).toMatchObject([{ unit: 'blog/2' }]);
  const machines = [...declared.newUnits, ...added.units].map(({ machine }) => machine.cloudService);
  expect(new Set(machines).size).toBe(1);
  expect(await door.expect('listServices', { model }, 200, { as: 'viewer' })).toMatchObject({
    items: [{ name: 'blog', units: 3 }],
  });
  const vm = await door.expect('getVm', { id: added.units[0]?.machine.vmId ?? '' }, 200);
  expect(await door.expect('getUnit', inUnit('2'), 200, { as: 'viewer' })).toMatchObject({ vm: vm.name });
  await door.expect('removeUnit', inUnit('2'), 202, { as: 'operator' });
  expect(await door.expect('getUnit', inUnit('2'), 200)).toMatchObject({ stage: 'removed', life: 'dying' });
  await door.expect('removeService', inBlog, 202, { as: 'operator' });
  await door.expect('getService', inBlog, [404, 'service_unknown']);
});

test('units are staged, and are public after a swap that names them in its plan', async () => {
  const where = { model, service: 'green' };
  await door.expect('setService', where, 200, operator({ ...at, units: 1 }));
  await door.expect('addUnits', where, [422, 'invalid'], operator({ count: 1, version: '1.0' }));
  const added = await door.expect<{ units: Declared['newUnits'] }>(
    ...(['addUnits', where, 201, operator({ count: 1, slot: 'staging', version: '1.0' })] as const),
  );
  const name = added.units[0]?.machine.cloudService ?? '';
  const shown = () => door.expect('getUnit', { ...where, number: '1' }, 200, { as: 'viewer' });
  expect(await shown()).toMatchObject({ slot: 'staging', publicAddress: null });
  expect(await door.expect('planSwap', { name }, 200, { as: 'operator' })).toMatchObject({
    units: [
      { unit: 'green/0', to: 'staging' },
      { unit: 'green/1', to: 'production' },
    ],
  });
  await door.expect('swapDeployments', { name }, 200, { as: 'operator' });
  expect(await shown()).toMatchObject({ slot: 'production', publicAddress: expect.any(String) });
});

test.each([
  ['settings', '12345678901234567890'],
  ['settings', '0.1234567890123456789'],
  ['protectedSettings', '12345678901234567890'],
  ['protectedSettings', '0.1234567890123456789'],
])('a number that would lose digits is rejected in %s, by its path: %s', async (half, number) => {
  const headers = { 'content-type': 'application/json' };
  const body = `{"formula":"${formula}","version":"1.0.0.0","${half}":{"big":${number},"small":0.1}}`;
  const given = { as: 'operator' as const, body, headers };
  const refused = await door.expect('setService', { model, service: 'exact' }, [422, 'json_number'], given);
  expect(refused.errors).toMatchObject([{ path: `/${half}/big`, code: 'json_number' }]);
  await door.expect('getService', { model, service: 'exact' }, [404, 'service_unknown']);
});

test('only operators see the values of settings', async () => {
  const where = { model, service: 'hidden' };
  await door.expect('setService', where, 200, operator({ ...at, units: 0, settings: { title: 'Mine' } }));
  expect(await door.expect('getService', where, 200, operator(undefined))).toMatchObject({
    settings: { title: 'Mine' },
  });
  expect(await door.expect('getService', where, 200, { as: 'viewer' })).toMatchObject({
    ...{ settings: null, effectiveSettings: null, settingKeys: ['title'] },
  });
});

describe('a request is rejected', () => {
  const of = (number: string, service = 'blog') => ({ model, service, number });

  test('for what does not exist', async () => {
    const none = { model: 'none', service: 'blog' };
    await door.expect('listServices', none, [404, 'model_unknown']);
    await door.expect('setService', none, [404, 'model_unknown'], operator(at));
    await door.expect('getService', { model, service: 'none' }, [404, 'service_unknown']);
    await door.expect('removeService', { model, service: 'none' }, [404, 'service_unknown']);
    await door.expect('addUnits', { model, service: 'none' }, [404, 'service_unknown'], operator({ count: 1 }));
    await door.expect('getUnit', of('99'), [404, 'unit_unknown']);
    await door.expect('removeUnit', of('99'), [404, 'unit_unknown']);
    const decision = { run: missing, retry: true };
    await door.expect('resolveUnit', of('99'), [404, 'unit_unknown'], operator(decision));
    await door.expect('resolveModel', none, [404, 'model_unknown'], operator({ retry: true }));
  });

  test.each(['01', '-1', 'x', '1%2f2', '10000000000'])('EN-2 for the unit number %s', async (number) => {
    const reply = await door.call('GET', `/models/${model}/units/blog/${number}`);
    expect(reply).toMatchObject({ status: 422, body: { errors: [{ code: 'unit_name_form' }] } });
  });

  test('for another revision of the model, and with unknown fields', async () => {
    const headers = { 'if-match': '"0"' };
    const stale = [412, 'model_changed'] as const;
    await door.expect('setService', inBlog, stale, { ...operator(at), headers });
    await door.expect('addUnits', { model, service: 'hidden' }, stale, { ...operator({ count: 1 }), headers });
    await door.expect('removeService', { model, service: 'hidden' }, stale, { as: 'operator', headers });
    await door.expect('setService', inBlog, [422, 'invalid'], operator({ ...at, color: 'red' }));
    await door.expect('setService', { model, service: 'wordpress-1' }, [422, 'invalid'], operator(at));
    const { status } = await door.call('POST', `/models/${model}/resolve`, operator({ retry: true }));
    expect(status).toBe(200);
  });

  test('without the role', async () => {
    const acts = [...serviceRoutes, ...unitRoutes].filter(({ role }) => role === 'operator');
    expect(acts.length).toBe(7);
    for (const { operationId, method } of acts) {
      const body = operationId.startsWith('remove') || method === 'GET' ? undefined : {};
      await door.expect(operationId, inUnit('0'), [403, 'forbidden'], { as: 'viewer', body });
    }
  });
});
