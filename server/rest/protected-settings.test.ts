import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenVersion } from '#server/testing/handlers.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let id: string;
const handler = 'Acme.Lab.Strict';

interface Plan {
  planHash: string;
  extensions: { protectedChanges: { name: string; change: string }[] }[];
  faults: { path: string; code: string; message: string }[];
}
interface View {
  incarnation: number;
  protectedSettings: { settings: { name: string; changedAt: string; changedBy: string }[]; obstacle: string | null };
}

beforeAll(async () => {
  door = await openRestDoor();
  await givenVersion(door.services.db, {
    handler,
    settingsSchema: {
      protectedSettings: {
        type: 'object',
        additionalProperties: false,
        properties: { password: { type: 'string', minLength: 8 }, keytab: { type: 'string' } },
        required: ['password'],
      },
    },
  });
  id = (await door.expect<{ id: string }>('createVm', {}, 201, { body: { name: 'settings' } })).id;
  const protectedSettings = { password: 'sesame-one', keytab: 'keytab-one' };
  const body = { handler, version: '1.0.0.0', state: 'enabled', settings: { protectedSettings } };
  await door.expect('setExtension', { id, name: 'probe' }, 200, { body });
});
afterAll(() => door.close());

const at = () => ({ id, name: 'probe' });
const patch = (body: unknown, outcome: number | readonly [number, string], more = {}) =>
  door.expect('changeProtectedSettings', at(), outcome, { as: 'operator', body, ...more });
const view = () => door.expect<View>('getExtension', at(), 200, { as: 'operator' });

test('PATCH changes one protected setting, keeps the other settings and returns what PUT returns', async () => {
  const receipt = await patch({ set: { password: 'sesame-two' } }, 200);
  expect(receipt).toEqual({
    vmId: id,
    name: 'probe',
    handler,
    version: '1.0.0.0',
    requestedVersion: '1.0.0.0',
    state: 'enabled',
    sequenceNumber: 2,
    incarnation: 3,
  });
  const { protectedSettings } = await view();
  expect(protectedSettings).toMatchObject({
    obstacle: null,
    settings: [
      { name: 'password', changedBy: 'operator' },
      { name: 'keytab', changedBy: 'admin' },
    ],
  });
});

test('PATCH removes settings by name, and rejects a result that violates the schema, without showing values', async () => {
  const marker = 'sesame!';
  const problem = await patch({ set: { password: marker, other: marker }, remove: [] }, [422, 'invalid']);
  const { errors } = problem as { errors: { path: string; code: string }[] };
  expect(errors.map(({ path }) => path).sort()).toEqual([
    '/settings/protectedSettings',
    '/settings/protectedSettings/password',
  ]);
  expect(JSON.stringify(problem)).not.toContain(marker);
  await patch({ remove: ['password'] }, 422);
  await patch({ remove: ['keytab'] }, 200);
  expect((await view()).protectedSettings.settings.map(({ name }) => name)).toEqual(['password']);
});

test('PATCH honors If-Match and the hash of a plan, which names the settings', async () => {
  const { incarnation } = await view();
  const change = { set: { keytab: 'keytab-two' } };
  await patch(change, [412, 'goal_state_moved_on'], { headers: { 'if-match': `"${incarnation - 1}"` } });
  const plan = await door.expect<Plan>('planProtectedSettings', at(), 200, { as: 'operator', body: change });
  expect(plan.extensions[0]?.protectedChanges).toMatchObject([
    { name: 'password', change: 'kept' },
    { name: 'keytab', change: 'added' },
  ]);
  expect(JSON.stringify(plan)).not.toContain('keytab-two');
  const query = `?plan=${encodeURIComponent(plan.planHash)}`;
  const headers = { 'if-match': `"${incarnation}"` };
  expect(await patch(change, 200, { query, headers })).toMatchObject({ incarnation: incarnation + 1 });
  await patch(change, [412, 'plan_moved_on'], { query });
});

test('a plan lists the faults with their sentences', async () => {
  const call = { as: 'operator' as const, body: { set: { password: 'short' } } };
  const { faults } = await door.expect<Plan>('planProtectedSettings', at(), 200, call);
  expect(faults).toMatchObject([
    { path: '/settings/protectedSettings/password', message: expect.stringMatching(/minLength/) },
  ]);
});

test('PATCH rejects other bodies, other roles and extensions that do not exist', async () => {
  await patch({ set: [] }, 422);
  await patch({ replace: {} }, 422);
  await patch({ set: { keytab: 'x' }, remove: ['keytab'] }, 422);
  await door.expect('changeProtectedSettings', at(), [403, 'forbidden'], { as: 'viewer', body: {} });
  await door.expect('changeProtectedSettings', { id, name: 'none' }, [404, 'extension_absent'], { body: {} });
});

test('with ANNEX_CUSTODY=vm, PATCH and its plan say why all settings must be entered again', async () => {
  const vm = await openRestDoor({ config: { custody: 'vm' } });
  try {
    await givenVersion(vm.services.db);
    const { id: other } = await vm.expect<{ id: string }>('createVm', {}, 201, { body: { name: 'custody' } });
    const settings = { protectedSettings: { a: 'b' } };
    const body = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled', settings };
    await vm.expect('setExtension', { id: other, name: 'probe' }, 200, { body });
    for (const call of ['changeProtectedSettings', 'planProtectedSettings']) {
      const problem = await vm.expect(call, { id: other, name: 'probe' }, [409, 'secrets_custody'], {
        body: { set: { a: 'c' } },
      });
      expect(problem.detail).toMatch(/Enter all of them again/);
    }
  } finally {
    await vm.close();
  }
});
