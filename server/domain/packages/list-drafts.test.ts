import { beforeAll, expect, test } from 'vitest';
import type { Services } from '#server/domain/context.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { listDrafts } from './list-drafts.ts';

let services: Services;

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db, { handler: 'Acme.Lab.Probe', version: '1.0', state: 'draft' });
  await givenVersion(services.db, { handler: 'Acme.Lab.Probe', version: '0.9', state: 'published' });
  await givenVersion(services.db, { handler: 'Other.Lab.Probe', version: '2.0', state: 'draft' });
});

const drafts = async (role: 'publisher' | 'admin', namespaces: string[] = []) =>
  (await listDrafts(await testContext({ services, role, namespaces }))).items.map(({ handler }) => handler).toSorted();

test('a publisher finds the drafts of its namespaces, an admin finds all drafts', async () => {
  expect(await drafts('publisher', ['Acme.Lab'])).toEqual(['Acme.Lab.Probe']);
  expect(await drafts('publisher')).toEqual([]);
  expect(await drafts('admin')).toEqual(['Acme.Lab.Probe', 'Other.Lab.Probe']);
});

test('members without a namespace have none', async () => {
  for (const role of ['viewer', 'operator'] as const) {
    await expect(listDrafts(await testContext({ services, role }))).rejects.toMatchObject({ kind: 'forbidden' });
  }
});
