import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenVersion } from '#server/testing/handlers.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let id: string;
const secret = 'sesame-8f2c41d0c5';
const body = {
  handler: 'Acme.Lab.Probe',
  version: '1.0.0.0',
  state: 'enabled',
  settings: { publicSettings: { a: 1 }, protectedSettings: { secret } },
};

beforeAll(async () => {
  door = await openRestDoor();
  await givenVersion(door.services.db);
  id = (await door.expect<{ id: string }>('createVm', {}, 201, { body: { name: 'plans' } })).id;
});
afterAll(() => door.close());

interface Plan {
  planHash: string;
  incarnation: { before: number; after: number };
  extensions: { protectedSettings: string }[];
  warnings: { code: string; message: string }[];
  faults: { path: string; code: string; message: string }[];
}
const plan = (goal: unknown = body) => door.expect<Plan>('planExtension', { id, name: 'probe' }, 200, { body: goal });
const put = (planHash: string) =>
  door.call('PUT', `/vms/${id}/extensions/probe?plan=${encodeURIComponent(planHash)}`, { body });

test('AZ-C2 a plan shows all changes but no secret; its hash applies exactly these changes, once', async () => {
  const planned = await plan();
  expect(planned).toMatchObject({
    incarnation: { before: 1, after: 2 },
    extensions: [{ protectedSettings: 'added' }],
    faults: [],
  });
  expect(planned.warnings[0]?.message).toMatch(/No machine is connected/);
  expect(JSON.stringify(planned)).not.toContain(secret);
  expect(await put(planned.planHash)).toMatchObject({ status: 200, body: { incarnation: 2 } });
  expect(await put(planned.planHash)).toMatchObject({ status: 412, body: { code: 'plan_moved_on' } });
});

test('a plan lists every fault with its sentence and path', async () => {
  const { faults, planHash } = await plan({ ...body, version: '9.0', dependsOn: [] });
  expect(planHash).toBeNull();
  expect(faults).toMatchObject([{ path: '/version', code: 'version_unknown', message: expect.stringMatching(/9\.0/) }]);
});
