import { expect, test } from 'vitest';
import { testContext } from '#server/testing/context.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { createPublisher, requirePublishers } from './index.ts';

test('namespaces without a publisher are rejected by index, unless they are excepted', async () => {
  const ctx = await testContext({ role: 'admin' });
  await createPublisher(ctx, { namespace: 'Acme.Lab', displayName: 'Acme' });
  const outcome = (namespaces: string[], except: string[] = []) =>
    outcomeOf(ctx.db.transaction((tx) => requirePublishers(tx, namespaces, except)));
  expect(await outcome([])).toBe('done');
  expect(await outcome(['Acme.Lab', 'Acme.Lab'])).toBe('done');
  expect(await outcome(['acme.lab', 'Acme.Lab', 'Acme'])).toBe(
    'unprocessable invalid; /namespaces/0 namespace_unknown; /namespaces/2 namespace_unknown',
  );
  expect(await outcome(['Acme.Lab', 'Old.Lab'], ['Old.Lab'])).toBe('done');
});
