import { randomBytes } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { serviceSettings, services } from '#db/schema/index.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { deriveKeys } from '#server/platform/keys.ts';
import { getService, setService } from '../index.ts';
import { ServiceStage } from '../testing/service-stage.ts';
import { resealServiceSettings } from './reseal-settings.ts';
import { openServiceSecret } from './service-secret.ts';

let stage: ServiceStage;
let sets: Staged;
let blog: { formula: string; version: string };
const to = deriveKeys(randomBytes(32));

beforeAll(async () => {
  stage = await ServiceStage.open();
  sets = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  blog = { ...(await stage.formula('blog')) };
  const declare = (service: string, more: object) => stage.declare(sets, service, { ...blog, units: 0, ...more });
  await declare('plain', { settings: { a: 1 } });
  await declare('kept', { protectedSettings: { password: 'one' } });
  await declare('kept', { protectedSettings: { password: 'two' } });
  await declare('removed', { protectedSettings: { password: 'three' } });
  await declare('removed', { protectedSettings: null });
  await stage.ctx.db.transaction((tx) => resealServiceSettings(tx, stage.ctx.keys, to));
});

const rowsOf = async (service: string) => {
  const { db } = stage.ctx;
  const rows = await db
    .select({ row: serviceSettings })
    .from(serviceSettings)
    .innerJoin(services, eq(services.id, serviceSettings.serviceId))
    .where(eq(services.name, service))
    .orderBy(serviceSettings.version);
  return rows.map(({ row }) => row);
};
const openedOf = async (service: string, keys = to) =>
  (await rowsOf(service)).map(
    ({ secret, ...row }) => secret && JSON.parse(openServiceSecret({ keys }, { ...row, secret }).toString()),
  );

test('after a change of the secret key, the secrets of every version are opened with the new key only', async () => {
  expect(await openedOf('kept')).toEqual([{ password: 'one' }, { password: 'two' }]);
  expect(await openedOf('removed')).toEqual([{ password: 'three' }, null]);
  expect(await openedOf('plain')).toEqual([null]);
  await expect(openedOf('kept', stage.ctx.keys)).rejects.toThrow();
});

test('with the new key, equal secrets are still equal, and others are not', async () => {
  const ctx = { ...stage.ctx, keys: to };
  const input = { model: sets.model, service: 'kept', ...blog };
  const declare = (value: string) =>
    setService(ctx, { ...input, protectedSettings: { password: value } }, sets.provider);
  expect(await declare('two')).toMatchObject({ settingsVersion: 2, newUnits: [] });
  expect(await declare('four')).toMatchObject({ settingsVersion: 3, hasProtectedSettings: true });
});

test('settings without secrets, their authors and their times stay as they are', async () => {
  expect(await getService(stage.ctx, { model: sets.model, service: 'plain' })).toMatchObject({
    ...{ settings: { a: 1 }, hasProtectedSettings: false, settingsVersion: 1 },
    ...{ settingsChangedAt: stage.ctx.now.toISOString(), settingsChangedBy: stage.ctx.actor.name },
  });
});

test('the number of secrets is returned, and a wrong previous key changes nothing', async () => {
  const next = deriveKeys(randomBytes(32));
  const before = await rowsOf('kept');
  const reseal = (from: typeof to) => stage.ctx.db.transaction((tx) => resealServiceSettings(tx, from, next));
  await expect(reseal(stage.ctx.keys)).rejects.toThrow();
  expect(await rowsOf('kept')).toEqual(before);
  expect(await reseal(to)).toBe(before.filter(({ secret }) => secret !== null).length + 1);
});
