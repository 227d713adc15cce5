import { expect, test } from 'vitest';
import { type StatusObject, type StatusWord, statusWords } from '#protocol/index.ts';
import { testServices } from '#server/testing/context.ts';
import { failedPart, firstFailedPart } from './failed-part.ts';

/** Generates statuses with random substatuses from a fixed seed. The texts look like errors, but are not. */
function randomStatuses(count: number): StatusObject[] {
  let state = 11;
  const upTo = (limit: number): number => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return Math.floor((state / 4_294_967_296) * limit);
  };
  const make = (depth: number): StatusObject => ({
    name: `part-${upTo(1000)}`,
    status: statusWords[upTo(8)] ?? ('success' satisfies StatusWord),
    message: { id: `id-${upTo(1000)}`, params: ['error', '{"status":"error"}'] },
    formattedMessage: { lang: 'en', message: '"status":"error"' },
    substatus: depth === 4 ? [] : Array.from({ length: upTo(3) }, () => make(depth + 1)),
  });
  return Array.from({ length: count }, () => make(0));
}

test('AZ-S6 SQL and TypeScript find the same failed part', async () => {
  const { db } = await testServices();
  const statuses = randomStatuses(200);
  const text = `select ${failedPart('x.status', `(x.status ->> 'status')`)} as part
    from unnest($1::json[]) with ordinality as x(status, place) order by place`;
  const { rows } = await db.$client.query<{ part: StatusObject | null }>(text, [
    statuses.map((s) => JSON.stringify(s)),
  ]);
  const expected = statuses.map(firstFailedPart);
  expect(rows.map(({ part }) => part)).toEqual(expected);
  expect(expected.filter((part) => part !== null).length).toBeGreaterThan(20);
});
