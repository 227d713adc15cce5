import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
const lab = { location: 'West Lab', storageAccount: 'labstore' };

beforeAll(async () => {
  door = await openRestDoor();
  const body = { location: lab.location };
  await door.expect('setStorageAccount', { name: lab.storageAccount }, 201, { body });
  await door.expect('setStorageAccount', { name: lab.storageAccount }, 200, { body });
});
afterAll(() => door.close());

test('a storage account is deleted when no model uses it', async () => {
  const model = 'keeper';
  await door.expect('createModel', {}, 201, { body: { name: model, ...lab } });
  const name = lab.storageAccount;
  const { body } = await door.call('DELETE', `/storage-accounts/${name}`);
  expect(body).toMatchObject({ code: 'storage_account_in_use', detail: expect.stringContaining(model) });
  await door.expect('setStorageAccount', { name: 'spare' }, 201, { body: { location: lab.location } });
  await door.expect('deleteStorageAccount', { name: 'spare' }, 204);
  await door.expect('deleteStorageAccount', { name: 'spare' }, [404, 'storage_account_gone']);
});

interface Created {
  machine: number;
  instanceId: string;
  command: string;
  vmId: string;
}

test('a model without availability sets, from its creation to its destruction', async () => {
  const model = 'scripted';
  const body = { name: model, availabilitySetsEnabled: false, ...lab };
  expect(await door.expect('createModel', {}, 201, { body })).toMatchObject({ name: model, revision: 1 });
  await door.expect('bootstrapModel', { model }, 200, { body: {} });
  const added = await door.expect<Created>('addMachine', { model }, 201, { body: {} });
  expect(added.command).toContain(`--instance-id ${added.instanceId} --internal-address 10.`);
  expect(await door.expect('getVm', { id: added.vmId }, 200)).toMatchObject({ name: `${model}-0` });
  const token = await door.expect<Created>('issueEnrollmentToken', { id: added.vmId }, 201, { body: {} });
  expect(token.command).toContain(`--instance-id ${added.instanceId} --internal-address 10.`);
  const renewed = await door.expect<{ password: string }>('renewPassword', { id: added.instanceId }, 200, { body: {} });
  expect(renewed.password).toMatch(/^[\w-]{24}$/);
  await door.expect('renewPassword', { id: 'x' }, [404, 'role_instance_unknown'], { body: {} });
  const { body: listed } = await door.call('GET', `/models/${model}/instances?ids=x,${added.instanceId}`);
  expect(listed).toMatchObject({ instances: [null, { id: added.instanceId }], partial: true });
  expect(await door.expect('getTopology', { model }, 200)).toMatchObject({
    cloudServices: [{ deployments: [{ slot: 'production', covered: false }] }],
  });
  await door.expect('removeMachine', { model, machine: String(added.machine) }, 202);
  expect(await door.call('DELETE', `/models/${model}`)).toMatchObject({
    ...{ status: 409, body: { code: 'model_confirmation' } },
  });
  const destroyed = await door.call('DELETE', `/models/${model}?confirm=${model}&force=true`);
  expect(destroyed).toMatchObject({ status: 202, body: { life: 'destroying' } });
});

test('JU-7 JU-8 the refusals have the sentences of the requirements', async () => {
  const model = 'sets';
  await door.expect('createModel', {}, 201, { body: { name: model, ...lab } });
  await door.expect('bootstrapModel', { model }, 200, { body: { controllers: 2 } });
  const refused = await door.call('POST', `/models/${model}/machines`, { body: {} });
  expect(refused).toMatchObject({
    status: 409,
    body: {
      code: 'machine_placement_unsupported',
      detail: 'cannot add a new machine: unit placement is not supported with availability-sets-enabled',
    },
  });
  const patch = (availabilitySetsEnabled: boolean) =>
    door.call('PATCH', `/models/${model}`, { body: { availabilitySetsEnabled } });
  expect(await patch(true)).toMatchObject({ status: 200 });
  expect(await patch(false)).toMatchObject({
    status: 409,
    body: { code: 'availability_sets_frozen', detail: 'cannot change availability-sets-enabled' },
  });
});

test('a model is changed only in the revision that the caller saw', async () => {
  const model = 'revised';
  await door.expect('createModel', {}, 201, { body: { name: model, ...lab } });
  const patch = (etag: string) =>
    door.call('PATCH', `/models/${model}`, {
      body: { availabilitySetsEnabled: false },
      headers: { 'if-match': etag },
    });
  expect(await patch('"9"')).toMatchObject({ status: 412, body: { code: 'model_changed' } });
  expect(await patch('"1"')).toMatchObject({ status: 200, body: { revision: 2 } });
});
