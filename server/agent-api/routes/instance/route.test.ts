import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agents } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import {
  addMachine,
  bootstrapModel,
  createModel,
  getTopology,
  setStorageAccount,
} from '#server/domain/topology/index.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';

let ctx: Context;
let door: AgentDoor;
const model = 'prod';

beforeAll(async () => {
  ({ ctx, door } = await openTestDoor());
  await setStorageAccount(await testContext({ services: ctx }), { name: 'labstore', location: 'West Lab' });
  await createModel(ctx, {
    name: model,
    location: 'West Lab',
    storageAccount: 'labstore',
    availabilitySetsEnabled: false,
  });
  await bootstrapModel(ctx, { model });
});
afterAll(() => door.close());

const send = (method: string, path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${door.url}${path}`, {
    method,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
const enroll = (enrollmentToken: string, instance?: object) =>
  send('POST', '/enroll', {
    ...{ enrollmentToken, certificate: newKeyPair().certificate, agent: { name: 'test', version: '1.0' } },
    ...(instance && { instance }),
  });
const addressOf = async (vmId: string) =>
  (await ctx.db.select().from(agents).where(eq(agents.vmId, vmId)))[0]?.internalAddress;

describe('JU-19 an agent enrolls on a new role', () => {
  test('with the instance id that it was given, and the portal binds it to this role', async () => {
    const { enrollmentToken, instanceId: id, vmId } = await addMachine(ctx, { model });
    expect((await enroll(enrollmentToken, { id, address: '10.0.0.77' })).status).toBe(201);
    expect(await addressOf(vmId)).toBe('10.0.0.77');
    const { cloudServices } = await getTopology(ctx, { model });
    const roles = cloudServices.flatMap(({ deployments }) => deployments.flatMap((one) => one.roles));
    expect(roles.find((role) => role.id === id)).toMatchObject({ vmId, internalAddress: '10.0.0.77' });
  });

  test('and a second agent cannot claim the role', async () => {
    const [first, second] = [await addMachine(ctx, { model }), await addMachine(ctx, { model })];
    const instance = { id: first.instanceId, address: '10.0.0.78' };
    expect((await enroll(first.enrollmentToken, instance)).status).toBe(201);
    expect((await enroll(first.enrollmentToken, instance)).status).toBe(401);
    const claimed = await enroll(second.enrollmentToken, { ...instance, address: '10.0.0.79' });
    expect([claimed.status, await claimed.json()]).toMatchObject([409, { code: 'instance_claimed' }]);
    expect([await addressOf(first.vmId), await addressOf(second.vmId)]).toEqual(['10.0.0.78', undefined]);
  });
});

describe('JU-35 an enrollment', () => {
  test.each([
    ['without an instance id', undefined, 'instance_missing', '/instance/id'],
    [
      'with an id that no role has',
      { id: 'juju-prod-k3j9x0a1bz-x', address: '10.0.0.5' },
      'instance_other_role',
      '/instance/id',
    ],
    [
      'with the address of the metadata service',
      { address: '169.254.169.254' },
      'address_outside_network',
      '/instance/address',
    ],
    ['with an address of the machine itself', { address: '127.0.0.1' }, 'address_outside_network', '/instance/address'],
    ['with the address of a cloud service', { address: '127.80.0.1' }, 'address_outside_network', '/instance/address'],
    ['with an IPv6 address', { address: '::1' }, 'address_outside_network', '/instance/address'],
  ])('%s is rejected', async (_, given, code, path) => {
    const { enrollmentToken, instanceId, vmId } = await addMachine(ctx, { model });
    const refused = await enroll(enrollmentToken, given && { id: instanceId, ...given });
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ code, errors: [{ path, code }] });
    expect(await addressOf(vmId)).toBeUndefined();
    expect((await enroll(enrollmentToken, { id: instanceId, address: '10.0.0.5' })).status).toBe(201);
  });

  test('with an instance id on a VM of no model is rejected, and without one it succeeds', async () => {
    const { enrollmentToken } = await registerVm(ctx, { name: 'plain' });
    const refused = await enroll(enrollmentToken, { id: 'juju-prod-x', address: '10.0.0.5' });
    expect([refused.status, await refused.json()]).toMatchObject([422, { code: 'instance_unknown' }]);
    expect((await enroll(enrollmentToken)).status).toBe(201);
  });

  test('a changed address is stored under the same rules', async () => {
    const { enrollmentToken, instanceId: id, vmId } = await addMachine(ctx, { model });
    const enrolled = (await (await enroll(enrollmentToken, { id, address: '10.0.0.90' })).json()) as {
      credential: string;
    };
    const headers = { authorization: `Bearer ${enrolled.credential}`, 'annex-agent': 'first; 1' };
    expect((await send('PUT', '/instance', { id, address: '10.0.0.91' }, headers)).status).toBe(204);
    expect(await addressOf(vmId)).toBe('10.0.0.91');
    const outside = await send(
      'PUT',
      '/instance',
      { id, address: '192.0.2.1' },
      { ...headers, 'annex-agent': 'first; 2' },
    );
    expect([outside.status, await outside.json()]).toMatchObject([422, { code: 'address_outside_network' }]);
    expect(await addressOf(vmId)).toBe('10.0.0.91');
    expect((await send('PUT', '/instance', { id, address: '10.0.0.92' })).status).toBe(401);
  });
});
