import { eq } from 'drizzle-orm';
import { beforeEach, expect, test } from 'vitest';
import { users } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { testServices } from '#server/testing/context.ts';
import { noteVisit } from './index.ts';

const start = Date.parse('2026-03-04T08:00:00Z');
const at = (minutes: number) => new Date(start + minutes * 60_000);
let services: Services;

beforeEach(async () => {
  services ??= await testServices();
  await services.db.delete(users);
  await services.db.insert(users).values({ id: 'ada', name: 'Ada', email: 'ada@example.org', role: 'viewer' });
});

/** Opens pages at these minutes after the start. Returns the two stored times, also in minutes after the start. */
async function seenAfter(...minutes: number[]): Promise<(number | null)[]> {
  for (const each of minutes) await noteVisit(services, 'ada', at(each));
  const [row] = await services.db.select().from(users).where(eq(users.id, 'ada'));
  return [row?.lastSeenAt ?? null, row?.previousSeenAt ?? null].map(
    (seen) => seen && (seen.getTime() - start) / 60_000,
  );
}

test.each<[string, number[], (number | null)[]]>([
  ['the first page starts the first visit', [0], [0, null]],
  ['pages within five minutes are not noted', [0, 4], [0, null]],
  ['pages within half an hour belong to one visit', [0, 20, 50], [50, null]],
  ['after more than half an hour, a new visit starts', [0, 20, 51], [51, 20]],
  ['the last visit stays stored during a visit', [0, 40, 60, 80], [80, 0]],
  ['a clock that is set back changes nothing', [60, 10], [60, null]],
])('%s', async (_, minutes, expected) => {
  expect(await seenAfter(...minutes)).toEqual(expected);
});
