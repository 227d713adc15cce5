import { beforeEach, expect, test } from 'vitest';
import { type Role, users } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { assignProblem, readMarks, readProblems, releaseProblems, snoozeProblem } from './index.ts';
import { exit51, insertVms, recover } from './testing/insert-vms.ts';

const now = new Date('2026-03-04T12:00:00Z');
let ctx: Context;
/** Keys of three problems: one assigned to Ada, one assigned to Ada that has since disappeared, one assigned to Bob. */
let keys: string[];

beforeEach(async () => {
  ctx = await testContext({ role: 'operator', now });
  for (const id of ['ada', 'bob']) {
    await ctx.db.insert(users).values({ id, name: id, email: `${id}@example.net`, role: 'operator' });
  }
  keys = [];
  for (const [name, memberId] of [
    ['stays', 'ada'],
    ['gone', 'ada'],
    ['other', 'bob'],
  ] as const) {
    await insertVms(ctx.db, now, [
      { name, health: 'failed', extension: { ...exit51, name, exitCode: 1 + keys.length } },
    ]);
    const { items } = await readProblems(ctx.db);
    const key = items.find(({ extension }) => extension?.exitCode === 1 + keys.length)?.key ?? '';
    await assignProblem(ctx, { key, memberId });
    keys.push(key);
  }
  await recover(ctx.db, 'gone');
});

const release = (role: Role | null) => ctx.db.transaction((tx) => releaseProblems(tx, ctx, 'ada', role));
async function assignees() {
  const marks = await readMarks(ctx.db, keys);
  return keys.map((key) => marks.find((mark) => mark.key === key)?.assignee?.id ?? null);
}

test.each<[Role | null, (string | null)[]]>([
  ['admin', ['ada', 'ada', 'bob']],
  ['operator', ['ada', 'ada', 'bob']],
  ['publisher', [null, null, 'bob']],
  ['viewer', [null, null, 'bob']],
  [null, [null, null, 'bob']],
])('after a change to the role %j, the problems have the assignees %j', async (role, expected) => {
  await release(role);
  expect(await assignees()).toEqual(expected);
});

test('a released problem stays snoozed, and a problem that comes back has no assignee', async () => {
  const [stays = '', gone = ''] = keys;
  const { snooze } = await snoozeProblem(ctx, { key: stays });
  await release('viewer');
  expect(await readMarks(ctx.db, [stays])).toMatchObject([{ assignee: null, snooze }]);
  await insertVms(ctx.db, now, [{ name: 'back', health: 'failed', extension: { ...exit51, exitCode: 2 } }]);
  expect((await readProblems(ctx.db, [gone])).items).toMatchObject([{ key: gone }]);
  expect(await assignees()).toEqual([null, null, 'bob']);
});
