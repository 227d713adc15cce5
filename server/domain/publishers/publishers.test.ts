import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '#db/schema/auth.ts';
import { auditEntries, changes } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext } from '#server/testing/context.ts';
import { createPublisher, listPublishers } from './index.ts';

let admin: Context;
beforeAll(async () => {
  admin = await testContext();
});
const as = (role: Role | null) => testContext({ services: admin, role });

describe('publishers', () => {
  test('an admin creates a namespace once, in one spelling', async () => {
    const made = await createPublisher(admin, { namespace: 'Acme.Lab', displayName: ' Acme ' });
    expect(made).toEqual({ namespace: 'Acme.Lab', displayName: 'Acme', createdAt: admin.now });
    for (const namespace of ['Acme.Lab', 'acme.lab']) {
      await expect(createPublisher(admin, { namespace, displayName: 'x' })).rejects.toMatchObject({
        kind: 'conflict',
        code: 'publisher_taken',
        params: { namespace: 'Acme.Lab' },
      });
    }
    const acts = await readActs(admin.db, eq(auditEntries.targetId, 'Acme.Lab'));
    expect(acts).toMatchObject([{ action: 'publisher.create', details: { name: 'Acme' } }]);
    expect(await admin.db.$count(changes, eq(changes.key, 'Acme.Lab'))).toBe(1);
  });

  test.each(['', '.', 'Acme.', '.Lab', 'A..B', 'Acme Lab', '../x', 'Acme-', 'ä', 'x'.repeat(129)])(
    '%j is not a namespace',
    async (namespace) => {
      await expect(createPublisher(admin, { namespace, displayName: 'x' })).rejects.toMatchObject({
        kind: 'unprocessable',
        faults: [{ path: '/namespace' }],
      });
    },
  );

  test('only admins create namespaces; everyone who is signed in can read them', async () => {
    for (const role of ['viewer', 'operator', 'publisher'] as const) {
      const ctx = await as(role);
      await expect(createPublisher(ctx, { namespace: 'X', displayName: 'x' })).rejects.toMatchObject({
        kind: 'forbidden',
      });
      expect((await listPublishers(ctx)).items.length).toBeGreaterThan(0);
    }
    const signedOut = await as(null);
    await expect(listPublishers(signedOut)).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  test('namespaces are listed page by page, and found by either name', async () => {
    for (const namespace of ['B1', 'B2', 'B3'])
      await createPublisher(admin, { namespace, displayName: `Name ${namespace}` });
    const first = await listPublishers(admin, { q: 'name b', limit: 2 });
    expect(first.items.map(({ namespace }) => namespace)).toEqual(['B1', 'B2']);
    const second = await listPublishers(admin, { q: 'name b', limit: 2, cursor: first.nextCursor ?? '' });
    expect(second).toMatchObject({ items: [{ namespace: 'B3' }], nextCursor: null });
    expect((await listPublishers(admin, { q: '%' })).items).toEqual([]);
    await expect(listPublishers(admin, { cursor: '?' })).rejects.toMatchObject({ code: 'cursor_invalid' });
  });
});
