import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries } from '#db/schema/index.ts';
import { negotiate } from '#protocol/index.ts';
import type { Services } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { changeProtectedSettings, revertGoalState, setExtension } from '#server/domain/goal-states/index.ts';
import { setResources } from '#server/domain/localization/index.ts';
import { updateVm } from '#server/domain/vms/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { listActivity, type NamedChanges } from './index.ts';

let services: Services;
let vmId: string;
const handler = 'Acme.Lab.Titled';
const as = (role: 'viewer' | 'operator') => testContext({ services, role });

beforeAll(async () => {
  services = await testServices();
  const settingsSchema = {
    publicSettings: {
      type: 'object',
      properties: { answers: { type: 'boolean', title: 'Server answers' }, note: {}, port: true },
    },
    protectedSettings: { type: 'object', properties: { password: { type: 'string', title: 'Password' } } },
  };
  await givenVersion(services.db, { handler, version: '1.0.0.0', settingsSchema });
  await givenVersion(services.db, { handler, version: '1.1.0.0', settingsSchema });
  await givenVersion(services.db, { handler: 'Acme.Lab.Plain' });
  ({ id: vmId } = await registerVm(await as('operator'), { name: 'web-1', tags: { env: 'prod' } }));
});

const line = ({ items, more }: NamedChanges): string =>
  [
    ...items.map(({ kind, name, values }) =>
      [kind, name, values && `${values.before}>${values.after}`].filter((part) => part !== null).join(' '),
    ),
    ...(more > 0 ? [`+${more}`] : []),
  ].join(', ');

/** Returns what the newest entry changed, in one line. */
async function newest(role: 'viewer' | 'operator' = 'operator'): Promise<string | null> {
  const changes = (await listActivity(await as(role), { vmId, limit: 1 })).items[0]?.changes ?? null;
  return changes && line(changes);
}

interface Goal {
  name?: string;
  handler?: string;
  version?: string;
  state?: 'enabled' | 'disabled';
  dependsOn?: string[];
}

async function set(given: Goal, publicSettings: Record<string, unknown>, protectedSettings?: Record<string, unknown>) {
  const { name = 'probe', ...goal } = given;
  await setExtension(await as('operator'), {
    vmId,
    name,
    goal: {
      ...{ handler, version: '1.0.0.0', state: 'enabled', ...goal },
      settings: { publicSettings, ...(protectedSettings && { protectedSettings }) },
    },
  });
}

describe('the changes that a sentence names', () => {
  test('are settings by their titles, versions, states and secrets without values; a new extension has none', async () => {
    await set({}, { answers: false, port: 1 }, { password: 'hunter2' });
    expect(await newest()).toBeNull();
    await set({}, { answers: true, port: 1 }, { password: 'hunter3' });
    expect(await newest()).toBe('setting Server answers false>true, secret Password');
    await set({ version: '1.1.0.0', state: 'disabled' }, { answers: true, port: 2, note: 'x', deep: { a: 1 } });
    expect(await newest()).toBe('version 1.0.0.0>1.1.0.0, state enabled>disabled, +3');
    await set({ version: '1.1.0.0', state: 'disabled' }, { answers: true, port: 2, note: 'y', deep: { a: 2 } });
    expect(await newest()).toBe('setting deep › a 1>2, setting note x>y');
    expect(await newest('viewer')).toBeNull();
  });

  test('omit values that are too long', async () => {
    const goal = { version: '1.1.0.0', state: 'disabled' as const };
    await set(goal, { note: 'y'.repeat(41) });
    await set(goal, { note: 'z', port: null });
    expect(await newest()).toBe('setting note, setting port');
  });

  test('several protected settings are named together, as are dependencies', async () => {
    const goal = { name: 'plain', handler: 'Acme.Lab.Plain' };
    await set(goal, {}, { a: 1, b: 2 });
    await set({ ...goal, dependsOn: ['probe'] }, {}, { a: 1, b: 3 });
    expect(await newest()).toBe('secrets, dependencies null>probe');
  });

  test('of a VM are its name and tags, and of a revert the extensions', async () => {
    const operator = await as('operator');
    await updateVm(operator, { vmId, name: 'web-2', tags: { env: 'test', owner: 'ada' } });
    expect(await newest()).toBe('name web-1>web-2, tag env prod>test, +1');
    await revertGoalState(operator, { vmId, incarnation: 2 });
    expect(await newest()).toMatch(/^extension (plain|probe)(, extension (plain|probe))?$/);
  });

  test('single protected settings have their titles, whether they were entered or removed', async () => {
    const protectedSettings = {
      type: 'object',
      properties: { password: { title: 'Password' }, keytab: { title: 'Keytab' }, pin: true },
    };
    await givenVersion(services.db, { handler: 'Acme.Lab.Secretive', settingsSchema: { protectedSettings } });
    const goal = { name: 'secretive', handler: 'Acme.Lab.Secretive' };
    await set(goal, {}, { password: 'a', keytab: 'a', pin: 1 });
    const change = async (changes: { set?: Record<string, unknown>; remove?: string[] }) =>
      changeProtectedSettings(await as('operator'), { vmId, name: 'secretive', changes });
    await change({ set: { password: 'b' } });
    expect(await newest()).toBe('secret Password');
    await change({ set: { pin: 2 }, remove: ['keytab'] });
    expect(await newest()).toBe('secret pin, removedSecret Keytab');
  });

  test('are those of every entry of a long page', async () => {
    const admin = await testContext({ services });
    const many = Array.from({ length: 250 }, (_, n) => ({
      ...{ at: new Date(), actorKind: 'user', actorId: 'ada', actorName: 'Ada', action: 'vm.update' as const },
      ...{ targetKind: 'vm', targetId: vmId, vmId, requestId: 'many', details: {} },
      ...{ before: { name: `web-${n}` }, after: { name: `web-${n + 1}` } },
    }));
    await services.db.insert(auditEntries).values(many);
    const { items } = await listActivity(admin, { limit: 250 });
    expect(items.every(({ changes }) => changes !== null && line(changes).startsWith('name web-'))).toBe(true);
  });
});

test('settings have their titles in the preferred languages', async () => {
  const translated = 'Acme.Words.Translated';
  const settingsSchema = {
    publicSettings: { type: 'object', properties: { answers: { title: 'Answers' }, note: {} } },
  };
  await givenVersion(services.db, { handler: translated, version: '1.0.0.0', settingsSchema });
  const publisher = await testContext({ services, role: 'publisher', namespaces: ['Acme.Words'] });
  for (const [lang, text] of [
    ['en', 'Server answers'],
    ['de', 'Server antwortet'],
  ] as const) {
    const messages = [{ id: 'settings./publicSettings/answers.title', text }];
    const file = [{ version: 1.0, lang, messages }];
    await setResources(publisher, { handler: translated, version: '1.0.0.0', lang, file });
  }
  const { id } = await registerVm(await as('operator'), { name: 'translated-1' });
  for (const answers of [false, true]) {
    const settings = { publicSettings: { answers } };
    const goal = { handler: translated, version: '1.0.0.0', state: 'enabled' as const, settings };
    await setExtension(await as('operator'), { vmId: id, name: 'probe', goal });
  }
  const shown = async (acceptLanguage: string) => {
    const wanted = negotiate({ acceptLanguage });
    const { items } = await listActivity(await as('operator'), { vmId: id, limit: 1 }, wanted);
    return items[0]?.changes?.items.map(({ name }) => name);
  };
  expect([await shown('de'), await shown('fr')]).toEqual([['Server antwortet'], ['Server answers']]);
});
