import { eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { auditEntries } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { getHandler } from '#server/domain/packages/index.ts';
import { listPublishers } from '#server/domain/publishers/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { longTest } from '#server/testing/long.ts';
import { publishSample } from './index.ts';

let services: Services;
beforeAll(async () => {
  services = await testServices();
});

test('publishes the sample with its messages and its publisher; a second call changes nothing', async () => {
  const ctx = await testContext({ services, role: 'admin' });
  const published = await publishSample(ctx);
  expect(published).toEqual({ handler: 'Annex.Samples.Probe', version: '1.1.0.0' });
  const { versions } = await getHandler(ctx, { handler: published.handler });
  expect(versions.map(({ version, state }) => [version, state])).toEqual([['1.1.0.0', 'published']]);
  expect((await listPublishers(ctx, {})).items.map(({ namespace }) => namespace)).toEqual(['Annex.Samples']);
  const entries = await ctx.db.$count(auditEntries);
  expect(await publishSample(ctx)).toEqual(published);
  expect(await ctx.db.$count(auditEntries)).toBe(entries);
});

longTest('calls at the same time publish it once, and all of them succeed', { timeout: 120_000 }, async () => {
  const ctx = await testContext({ role: 'admin' });
  const published = await Promise.all([1, 2, 3].map(() => publishSample(ctx)));
  expect(new Set(published.map(({ version }) => version))).toEqual(new Set(['1.1.0.0']));
  const acts = await readActs(ctx.db, eq(auditEntries.action, 'version.publish'));
  expect(acts).toHaveLength(1);
});

test.each(['viewer', 'operator', 'publisher'] as const)('a %s may not publish the sample', async (role) => {
  const ctx = await testContext({ services, role, namespaces: ['Annex.Samples'] });
  await expect(publishSample(ctx)).rejects.toMatchObject({ kind: 'forbidden' });
});
