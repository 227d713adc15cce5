import { desc, eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { auditEntries, rolloutRules } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { openStates, rolloutStates } from '#server/domain/rollout-rules/words.ts';
import { testContext } from '#server/testing/context.ts';
import { changesSince, markOf, outcomeOf } from '#server/testing/records.ts';
import { getRolloutRules, setRolloutRules } from './index.ts';
import { readRules } from './rules.ts';
import { asPerson, givenRollout, rowOf } from './testing/given-rollout.ts';

let admin: Context;
let viewer: Context;
beforeAll(async () => {
  admin = await testContext({ role: 'admin' });
  viewer = await testContext({ services: admin, role: 'viewer' });
});
beforeEach(async () => {
  await admin.db.delete(rolloutRules);
});

const approval = { fromMembers: 100, people: 2, role: 'admin' as const };
const freeze = { from: '2026-12-20T00:00:00Z', to: '2027-01-02T00:00:00Z', reason: 'holidays', exempt: [] as string[] };
const rules = { stepsPerSecond: 50, inFlight: 100, approval, freezes: [freeze], availabilitySetTag: 'set' };
const set = (change: object, as = admin) => setRolloutRules(as, { ...rules, ...change });

test('the rules have defaults until an admin sets them', async () => {
  expect(await getRolloutRules(viewer)).toEqual({
    ...{ stepsPerSecond: 100, inFlight: 2_000, approval: null, freezes: [], availabilitySetTag: 'availability-set' },
  });
});

test('every member sees the rules that an admin set', async () => {
  const answer = await set({});
  const instants = { from: '2026-12-20T00:00:00.000Z', to: '2027-01-02T00:00:00.000Z' };
  expect(answer).toEqual({ ...rules, freezes: [{ ...freeze, ...instants }] });
  for (const role of ['viewer', 'publisher', 'operator', 'admin'] as const) {
    expect(await getRolloutRules(await testContext({ services: admin, role }))).toEqual(answer);
  }
  const anonymous = await testContext({ services: admin, role: null });
  expect(await outcomeOf(getRolloutRules(anonymous))).toBe('unauthenticated unauthenticated');
});

test.each(['viewer', 'publisher', 'operator'] as const)('a %s does not set them', async (role) => {
  const caller = await testContext({ services: admin, role });
  expect(await outcomeOf(set({}, caller))).toBe('forbidden forbidden');
  expect((await getRolloutRules(viewer)).stepsPerSecond).toBe(100);
});

describe('rules are rejected as a whole, with the path of every fault:', () => {
  test.each<[string, object, string[]]>([
    ['no rate', { stepsPerSecond: 0 }, ['/stepsPerSecond field_too_small']],
    ['too high a rate', { stepsPerSecond: 5_001 }, ['/stepsPerSecond field_too_big']],
    ['half a step', { stepsPerSecond: 2.5 }, ['/stepsPerSecond field_not_integer']],
    ['a rate as text', { stepsPerSecond: '50' }, ['/stepsPerSecond field_not_number']],
    ['no place in flight', { inFlight: 0 }, ['/inFlight field_too_small']],
    ['too many in flight', { inFlight: 20_001 }, ['/inFlight field_too_big']],
    ['no approval', { approval: undefined }, ['/approval field_missing']],
    ['no approver', { approval: { ...approval, people: 0 } }, ['/approval/people field_too_small']],
    ['four people', { approval: { ...approval, people: 4 } }, ['/approval/people field_too_big']],
    ['viewers who approve', { approval: { ...approval, role: 'viewer' } }, ['/approval/role field_choice']],
    ['no members', { approval: { ...approval, fromMembers: 0 } }, ['/approval/fromMembers field_too_small']],
    ['an unknown part', { approval: { ...approval, note: 'x' } }, ['/approval/note field_unknown']],
    ['an unknown rule', { stepsPerMinute: 3 }, ['/stepsPerMinute field_unknown']],
    ['a freeze that ends as it begins', { freezes: [{ ...freeze, to: freeze.from }] }, ['/freezes/0/to window_empty']],
    ['a freeze without a reason', { freezes: [{ ...freeze, reason: '' }] }, ['/freezes/0/reason field_empty']],
    [
      'a freeze without a time zone',
      { freezes: [{ ...freeze, from: '2026-12-20T00:00:00' }] },
      ['/freezes/0/from field_format'],
    ],
    [
      'a day that does not exist',
      { freezes: [{ ...freeze, to: '2027-02-30T00:00:00Z' }] },
      ['/freezes/0/to field_format'],
    ],
    [
      'an exemption of no id',
      { freezes: [freeze, { ...freeze, exempt: ['all'] }] },
      ['/freezes/1/exempt/0 field_format'],
    ],
    ['101 freezes', { freezes: Array.from({ length: 101 }, () => freeze) }, ['/freezes field_too_many']],
    ['no tag', { availabilitySetTag: '' }, ['/availabilitySetTag field_empty']],
    ['a long tag', { availabilitySetTag: 'x'.repeat(257) }, ['/availabilitySetTag field_too_long']],
    ['two faults', { inFlight: 0, approval: 1 }, ['/inFlight field_too_small', '/approval field_not_object']],
  ])('%s', async (_, change, faults) => {
    const [outcome, ...found] = (await outcomeOf(set(change))).split('; ');
    expect([outcome, ...found]).toEqual(['unprocessable invalid', ...faults]);
    expect((await getRolloutRules(viewer)).inFlight).toBe(2_000);
  });

  test('the limits themselves are accepted', async () => {
    const most = {
      stepsPerSecond: 5_000,
      inFlight: 20_000,
      approval: { ...approval, fromMembers: 1_000_000, people: 3 },
    };
    expect(await set(most)).toMatchObject(most);
    const least = { stepsPerSecond: 1, inFlight: 1, approval: { ...approval, fromMembers: 1, people: 1 }, freezes: [] };
    expect(await set(least)).toMatchObject(least);
    expect(await set({ freezes: Array.from({ length: 100 }, () => freeze) })).toMatchObject({ inFlight: 100 });
  });
});

test('times of a freeze are read in any time zone, and shown in UTC', async () => {
  const { freezes } = await set({ freezes: [{ ...freeze, from: '2026-12-20T01:00:00+02:00' }] });
  expect(freezes[0]?.from).toBe('2026-12-19T23:00:00.000Z');
});

test('RO-36 an exemption holds however its id is spelled', async () => {
  const { id } = await givenRollout(admin);
  await set({ freezes: [{ ...freeze, exempt: [id.toUpperCase()] }] });
  expect((await readRules(admin.db)).freezes[0]?.exempt).toEqual([id]);
});

test('new rules wake every open rollout, and no other', async () => {
  const made = new Map<string, string>();
  for (const state of rolloutStates) made.set(state, (await givenRollout(admin, { state })).id);
  const later = { ...admin, now: new Date(admin.now.getTime() + 60_000) };
  await set({ inFlight: 7 }, later);
  for (const state of rolloutStates) {
    const isOpen = (openStates as readonly string[]).includes(state);
    const { dueAt } = await rowOf(admin, made.get(state) ?? '');
    expect([state, dueAt?.getTime() === later.now.getTime()]).toEqual([state, isOpen]);
  }
});

test('setting the same rules again changes and records nothing', async () => {
  await set({});
  const acts = () => admin.db.$count(auditEntries, eq(auditEntries.action, 'rollout-rules.set'));
  const [before, mark] = [await acts(), await markOf(admin.db)];
  await set({}, asPerson(admin, 'ada'));
  expect([await acts(), await changesSince(admin.db, mark)]).toEqual([before, []]);
});

test('the activity keeps who changed the rules from what to what', async () => {
  await set({});
  const mark = await markOf(admin.db);
  await set({ inFlight: 1, freezes: [] }, asPerson(admin, 'ada'));
  expect(await changesSince(admin.db, mark)).toContain('rollout *');
  const [act] = await admin.db.select().from(auditEntries).orderBy(desc(auditEntries.id)).limit(1);
  expect(act).toMatchObject({ action: 'rollout-rules.set', actorName: 'ada' });
  expect(act?.before).toMatchObject({ inFlight: 100, freezes: [{ reason: 'holidays' }], approval });
  expect(act?.after).toMatchObject({ inFlight: 1, freezes: [], approval });
});

test('two admins at the same time leave the rules of one of them', async () => {
  for (let n = 0; n < 3; n += 1) await givenRollout(admin, { state: 'running' });
  const people = ['ada', 'bob', 'eve'];
  const set3 = people.map((name, n) =>
    outcomeOf(set({ inFlight: n + 1, stepsPerSecond: n + 1 }, asPerson(admin, name))),
  );
  expect(await Promise.all(set3)).toEqual(['done', 'done', 'done']);
  const { inFlight, stepsPerSecond } = await getRolloutRules(viewer);
  expect([inFlight, [1, 2, 3].includes(inFlight)]).toEqual([stepsPerSecond, true]);
});
