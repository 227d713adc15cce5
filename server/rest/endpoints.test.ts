import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
const lab = { location: 'West Lab', storageAccount: 'labstore' };
const model = 'served';
/** The instance ids of two roles that share a cloud service. */
let ids: [string, string];
let service: string;

beforeAll(async () => {
  door = await openRestDoor();
  await door.expect('setStorageAccount', { name: lab.storageAccount }, 201, { body: { location: lab.location } });
  await door.expect('createModel', {}, 201, { body: { name: model, ...lab } });
  type Bootstrapped = { newMachines: { instanceId: string; cloudService: string }[] };
  const { newMachines } = await door.expect<Bootstrapped>('bootstrapModel', { model }, 200, {
    body: { controllers: 2 },
  });
  ids = [newMachines[0]?.instanceId ?? '', newMachines[1]?.instanceId ?? ''];
  service = newMachines[0]?.cloudService ?? '';
});
afterAll(() => door.close());

const operator = { as: 'operator' as const };
const web = (id: string) => ({ id, protocol: 'tcp', port: '80' });

describe('endpoints of a role', () => {
  test('JU-15 are opened, listed and closed, and a conflict names the role that has the port', async () => {
    const [first, second] = ids;
    const set = await door.expect('setEndpoint', web(first), 200, { ...operator, body: { localPort: 8_080 } });
    expect(set).toMatchObject({ cloudService: service, publicPort: 80, localPort: 8_080, set: null });
    const refused = await door.expect<{ detail: string }>('setEndpoint', web(second), [409, 'port_conflict'], {
      ...{ ...operator, body: { set: true }, headers: { 'accept-language': 'de' } },
    });
    expect(refused.detail).toContain(`Der Port 80/tcp ist bereits auf der Rolle ${first.slice(service.length + 1)}`);
    const { items } = await door.expect<{ items: { publicPort: number }[] }>('listEndpoints', { model }, 200, {
      as: 'viewer',
    });
    expect(items.map(({ publicPort }) => publicPort)).toEqual([22, 80, 17_070]);
    await door.expect('closeEndpoint', web(first), 204, operator);
    await door.expect('closeEndpoint', web(first), [404, 'endpoint_unknown'], operator);
    await door.expect('closeEndpoint', { ...web(first), port: '22' }, [409, 'endpoint_fixed'], operator);
  });

  test.each(['0', '65536', '080', '80-90', '80%2f', '1e3', '-1', ' 80', '٨٠', 'x'])('have no port %j', async (port) => {
    const { status } = await door.call('PUT', `/instances/${ids[0]}/endpoints/tcp/${port}`, { body: {} });
    expect([400, 404, 422]).toContain(status);
  });

  test.each([
    ['tcp', { localPort: 0 }],
    ['tcp', { set: 'yes' }],
    ['tcp', { unknown: 1 }],
    ['sctp', {}],
  ])('are not set with %s and %j', async (protocol, body) => {
    await door.expect('setEndpoint', { ...web(ids[0]), protocol }, 422, { body });
  });

  test.each(['juju-absent-k3j9x0a1bz-jujuq7f2m0c4xd', '%2e%2e', 'x'])('of %j do not exist', async (id) => {
    await door.expect('setEndpoint', web(id), [404, 'role_instance_unknown'], { body: {} });
  });

  test('are set by operators only, and only in the revision that the caller saw', async () => {
    await door.expect('setEndpoint', web(ids[0]), [403, 'forbidden'], { as: 'viewer', body: {} });
    await door.expect('closeEndpoint', web(ids[0]), [403, 'forbidden'], { as: 'viewer' });
    const headers = { 'if-match': '"1"' };
    await door.expect('setEndpoint', web(ids[0]), [412, 'model_changed'], { ...operator, body: {}, headers });
    await door.expect('closeEndpoint', web(ids[0]), [412, 'model_changed'], { ...operator, headers });
    await door.expect('listEndpoints', { model: 'absent' }, [404, 'model_unknown']);
  });
});

describe('JU-28 a swap', () => {
  test('is planned, carries out exactly its plan, and is rejected if the plan is out of date', async () => {
    const plan = await door.expect<{ planHash: string }>('planSwap', { name: service }, 200, operator);
    expect(plan).toMatchObject({
      production: { before: `${service}-v2`, after: null },
      staging: { before: null, after: `${service}-v2` },
      ceasePublic: [22, 22, 17_070, 17_070].map((port) => ({ port, protocol: 'tcp' })),
      ...{ becomePublic: [], unchanged: [] },
    });
    const query = `?plan=${plan.planHash}`;
    await door.expect('setEndpoint', web(ids[0]), 200, { body: {} });
    const outdated = [412, 'plan_moved_on'] as const;
    await door.expect('swapDeployments', { name: service }, outdated, { ...operator, query });
    const { planHash } = await door.expect<{ planHash: string }>('planSwap', { name: service }, 200, operator);
    const done = await door.expect('swapDeployments', { name: service }, 200, { query: `?plan=${planHash}` });
    expect(done).toMatchObject({ production: { after: null } });
    const listed = await door.call('GET', `/models/${model}/endpoints`);
    const { items } = listed.body as { items: { slot: string; reachable: boolean }[] };
    expect(items.map(({ slot, reachable }) => [slot, reachable])).toEqual(items.map(() => ['staging', false]));
    await door.expect('swapDeployments', { name: service }, 200);
  });

  test('of a viewer, of another revision and of an unknown cloud service is rejected', async () => {
    await door.expect('planSwap', { name: service }, [403, 'forbidden'], { as: 'viewer' });
    await door.expect('swapDeployments', { name: service }, [403, 'forbidden'], { as: 'viewer' });
    await door.expect('swapDeployments', { name: service }, [412, 'model_changed'], { headers: { 'if-match': '"1"' } });
    await door.expect('planSwap', { name: 'x' }, [404, 'cloud_service_unknown']);
    await door.expect('swapDeployments', { name: 'x' }, [404, 'cloud_service_unknown']);
  });
});
