import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { agentPresence, agentRefusals, agents } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { actsSince, changesSince, markOf } from '#server/testing/records.ts';
import { claimInstance, noteDuplicate } from './claim-instance.ts';
import { enrollAgent } from './enroll-agent.ts';
import { credentialHash, findAgents, listAgentNews } from './find-agent.ts';
import { pollAfter } from './polling.ts';
import { recordRejectedCall } from './record-rejected-call.ts';
import { registerVm } from './register-vm.ts';
import {
  describeStockAgent,
  insertStockAgent,
  removeStockAgent,
  replaceStockAgent,
  replaceStockKey,
} from './stock-agent.ts';
import { mergeSighting, type Sighting, writeSightings } from './write-sightings.ts';

let services: Services;
let db: Database;
let operator: Context;
let count = 0;
const start = new Date('2030-01-01T12:00:00.000Z');
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);

beforeAll(async () => {
  services = await testServices();
  ({ db } = services);
  operator = await testContext({ services, role: 'operator', now: later(-3_600) });
});

/** Creates a VM whose machine enrolled an hour before `start`. */
async function givenAgent(): Promise<{ vmId: string; name: string; hash: string }> {
  count += 1;
  const name = `calls-${count}`;
  const { id: vmId, enrollmentToken } = await registerVm(operator, { name });
  const { certificate } = newKeyPair();
  const agent = { name: 'test', version: '1' };
  const { credential } = await enrollAgent(await testContext({ services, role: null, now: later(-3_600) }), {
    enrollmentToken,
    certificate,
    agent,
  });
  return { vmId, name, hash: sha256Hex(credential) };
}
const agentOf = async (vmId: string) => (await db.select().from(agents).where(eq(agents.vmId, vmId)))[0];
const presenceOf = async (vmId: string) =>
  (await db.select().from(agentPresence).where(eq(agentPresence.vmId, vmId)))[0];

describe('a credential', () => {
  test.each<[string | null, string | null]>([
    [null, null],
    ['', null],
    ['Bearer ', null],
    ['Bearer secret', 'secret'],
    ['bearer secret', 'secret'],
    ['Basic secret', null],
    ['Bearer two words', null],
    ['Bearer  secret', null],
    ['Bearer sécret', null],
    [`Bearer ${'x'.repeat(512)}`, 'x'.repeat(512)],
    [`Bearer ${'x'.repeat(513)}`, null],
  ])('in the header %j is %j', (header, credential) => {
    expect(credentialHash(header)).toBe(credential === null ? null : sha256Hex(credential));
  });

  test('finds its VM with the current goal state; an unknown credential, or the credential of a deleted VM, finds nothing', async () => {
    const [one, gone] = [await givenAgent(), await givenAgent()];
    await removeVm(operator, { vmId: gone.vmId });
    await db.insert(agentPresence).values({ vmId: one.vmId, lastSeenAt: start, nextExpectedAt: start, counter: 7 });
    const found = await findAgents(db, [one.hash, gone.hash, sha256Hex('unknown')]);
    expect([...found]).toEqual([
      [
        one.hash,
        {
          vmId: one.vmId,
          vmName: one.name,
          instanceId: null,
          counter: 7,
          lastSeenAt: start,
          etag: '"test.2"',
          logRequests: 0,
          newestLogRequest: null,
          executionStamp: 0,
          executionTurn: 0,
          cancelStamp: 0,
          unitsRevision: 0,
          unitsClocks: 0,
          relations: [],
        },
      ],
    ]);
    expect(await findAgents(db, [])).toEqual(new Map());
  });

  test('belongs to the first machine that uses it', async () => {
    const { hash, vmId } = await givenAgent();
    const found = await Promise.all(['one', 'two'].map((id) => claimInstance(operator, hash, id)));
    expect(found.filter(Boolean)).toHaveLength(1);
    const owner = (await agentOf(vmId))?.instanceId ?? '';
    expect(await claimInstance(operator, hash, owner)).toBe(true);
    expect(await claimInstance(operator, hash, 'three')).toBe(false);
    expect(await claimInstance(operator, sha256Hex('unknown'), owner)).toBe(false);
  });
});

describe('a second machine', () => {
  test('is recorded as an act and a change, once a minute', async () => {
    const { vmId } = await givenAgent();
    const mark = await markOf(db);
    for (const seconds of [0, 1, 60, 61, 121]) await noteDuplicate({ ...operator, now: later(seconds) }, vmId);
    const acts = await actsSince(db, mark, vmId);
    expect(acts.map(({ action, at }) => [action, at])).toEqual([
      ['agent.duplicate', start],
      ['agent.duplicate', later(61)],
    ]);
    expect(await changesSince(db, mark)).toHaveLength(2);
    expect(await agentOf(vmId)).toMatchObject({ duplicateSeenAt: later(61) });
  });

  test('of a VM without an agent is ignored', async () => {
    const { id: vmId } = await registerVm(operator, { name: 'without-agent' });
    const mark = await markOf(db);
    await noteDuplicate(operator, vmId);
    expect(await actsSince(db, mark, vmId)).toEqual([]);
  });
});

test('a continuing rejection is shown with its last call, and recorded once per code', async () => {
  const { vmId } = await givenAgent();
  const mark = await markOf(db);
  const reject = (minutes: number, code: 'counter_jumped' | 'agent_unidentified' = 'counter_jumped') =>
    recordRejectedCall({ ...operator, now: later(minutes * 60) }, vmId, code);
  for (const minutes of [0, 0.5, 1, 60]) await reject(minutes);
  await reject(60, 'agent_unidentified');
  await reject(121);
  const acts = await actsSince(db, mark, vmId);
  expect(acts.map(({ action, at, details }) => [action, at, details])).toEqual([
    ['agent.reject', start, { reason: 'counter_jumped' }],
    ['agent.reject', later(3_600), { reason: 'agent_unidentified' }],
    ['agent.reject', later(7_260), { reason: 'counter_jumped' }],
  ]);
  const shown = await db.select().from(agentRefusals).where(eq(agentRefusals.vmId, vmId)).orderBy(agentRefusals.code);
  expect(shown.map(({ code, at }) => [code, at])).toEqual([
    ['agent_unidentified', later(3_600)],
    ['counter_jumped', later(7_260)],
  ]);
});

describe('sightings', () => {
  const sighting = (vmId: string, seconds: number, more: Partial<Sighting> = {}): Sighting => ({
    vmId,
    at: later(seconds),
    nextExpectedAt: later(seconds + 60),
    counter: null,
    ...more,
  });

  test.each<[string, Partial<Sighting>, Partial<Sighting>, Partial<Sighting>]>([
    ['the newer call counts', {}, { counter: 1 }, { at: later(5), nextExpectedAt: later(65), counter: 1 }],
    ['the higher counter counts', { counter: 9 }, { counter: 3 }, { counter: 9 }],
    ['no counter counts as 0', {}, {}, { counter: 0, hungUp: false }],
    ['a closed poll stays closed', { hungUp: true }, {}, { hungUp: true }],
    ['a poll that closes later', {}, { hungUp: true }, { hungUp: true }],
  ])('are merged: %s', (_, known, newer, expected) => {
    const merged = sighting('vm', 0, known);
    mergeSighting(merged, sighting('vm', 5, newer));
    expect(merged).toMatchObject(expected);
  });

  interface Case {
    /** Returns the sighting to write. The previous sighting was at `start` and expected the next call 60 s later. */
    next: (vmId: string) => Sighting;
    seen: number;
    expected: number;
    counter: number;
    isNews: boolean;
  }
  test.each<[string, Case]>([
    [
      'a later call',
      { next: (vmId) => sighting(vmId, 30, { counter: 6 }), seen: 30, expected: 90, counter: 6, isNews: false },
    ],
    [
      'a call within the grace period',
      { next: (vmId) => sighting(vmId, 90), seen: 90, expected: 150, counter: 5, isNews: false },
    ],
    [
      'a call after a silence',
      { next: (vmId) => sighting(vmId, 91), seen: 91, expected: 151, counter: 5, isNews: true },
    ],
    [
      'an earlier call changes nothing',
      { next: (vmId) => sighting(vmId, -30, { counter: 2 }), seen: 0, expected: 60, counter: 5, isNews: false },
    ],
    [
      'a closed poll is expected sooner',
      {
        next: (vmId) => sighting(vmId, 5, { nextExpectedAt: later(10), hungUp: true }),
        seen: 5,
        expected: 10,
        counter: 5,
        isNews: true,
      },
    ],
    [
      'an open poll is not expected sooner',
      {
        next: (vmId) => sighting(vmId, 5, { nextExpectedAt: later(10) }),
        seen: 5,
        expected: 60,
        counter: 5,
        isNews: false,
      },
    ],
    [
      'a poll that closed before the last one began',
      {
        next: (vmId) => sighting(vmId, -5, { nextExpectedAt: later(1), hungUp: true }),
        seen: 0,
        expected: 60,
        counter: 5,
        isNews: false,
      },
    ],
  ])('are stored: %s', async (_, { next, seen, expected, counter, isNews }) => {
    const { vmId } = await givenAgent();
    await writeSightings(db, [sighting(vmId, 0, { counter: 5 })]);
    const mark = await markOf(db);
    await writeSightings(db, [next(vmId)]);
    expect(await presenceOf(vmId)).toMatchObject({ lastSeenAt: later(seen), nextExpectedAt: later(expected), counter });
    expect(await changesSince(db, mark)).toEqual(isNews ? [`vm ${vmId}`] : []);
  });

  test('the first is news; sightings of an unknown VM or of the previous machine are dropped', async () => {
    const { vmId } = await givenAgent();
    const { id: bare } = await registerVm(operator, { name: 'bare' });
    const mark = await markOf(db);
    await writeSightings(db, [sighting(vmId, -3_601), sighting(bare, 0)]);
    expect([await presenceOf(vmId), await presenceOf(bare)]).toEqual([undefined, undefined]);
    expect(await changesSince(db, mark)).toEqual([]);
    await writeSightings(db, [sighting(vmId, -3_600)]);
    expect(await presenceOf(vmId)).toMatchObject({
      lastSeenAt: later(-3_600),
      lastPolledAt: later(-3_600),
      counter: 0,
    });
    expect(await changesSince(db, mark)).toEqual([`vm ${vmId}`]);
  });

  test('many are written with one statement', async () => {
    const vms = await Promise.all([givenAgent(), givenAgent(), givenAgent()]);
    await writeSightings(
      db,
      vms.map(({ vmId }, n) => sighting(vmId, n)).sort((a, b) => (a.vmId < b.vmId ? -1 : 1)),
    );
    for (const [n, { vmId }] of vms.entries()) expect(await presenceOf(vmId)).toMatchObject({ lastSeenAt: later(n) });
    await writeSightings(db, []);
  });
});

describe('the news for a gateway', () => {
  const newsSince = async (since: Date, vmId: string) =>
    (await listAgentNews(db, since))
      .filter((news) => news.vmId === vmId)
      .map(({ etag, credentialHash: hash }) => [etag, hash]);

  test('contains goal states and credentials since a time, to the millisecond', async () => {
    const { vmId, hash } = await givenAgent();
    const both = [
      ['"test.2"', null],
      [null, hash],
    ];
    expect((await newsSince(later(-3_600), vmId)).sort()).toEqual(both.sort());
    expect(await newsSince(later(-3_599.999), vmId)).toEqual([]);
  });

  test('contains a deleted VM, without a goal state and credential', async () => {
    const { vmId } = await givenAgent();
    await removeVm({ ...operator, now: later(10) }, { vmId });
    expect(await newsSince(later(5), vmId)).toEqual([[null, null]]);
  });
});

describe('the stock agent of a VM', () => {
  const certificate = (n: string) => ({ pem: `pem ${n}`, thumbprint: `thumb ${n}`, keyHash: `key ${n} ${count}` });
  const identity = (vmId: string, n: string) => ({
    vmId,
    credentialHash: `hash ${n} ${vmId}`,
    certificate: certificate(n),
    enrolledAt: start,
  });

  test('is stored once, described, replaced and removed', async () => {
    count += 1;
    const { id: vmId } = await registerVm(operator, { name: `stock-${count}` });
    await db.transaction(async (tx) => {
      expect(await insertStockAgent(tx, identity(vmId, 'a'))).toBe(true);
      expect(await insertStockAgent(tx, identity(vmId, 'b'))).toBe(false);
      await describeStockAgent(tx, vmId, { version: '2.15', os: { name: 'debian' } });
    });
    const first = {
      kind: 'stock',
      name: 'WALinuxAgent',
      version: '2.15',
      os: { name: 'debian' },
      thumbprint: 'thumb a',
    };
    expect(await agentOf(vmId)).toMatchObject(first);
    await db.transaction((tx) => replaceStockKey(tx, vmId, certificate('c') as never));
    expect(await agentOf(vmId)).toMatchObject({ ...first, thumbprint: 'thumb c', credentialHash: `hash a ${vmId}` });
    await db.transaction((tx) => replaceStockAgent(tx, identity(vmId, 'd') as never));
    expect(await agentOf(vmId)).toMatchObject({ thumbprint: 'thumb d', credentialHash: `hash d ${vmId}` });
    await db.transaction(async (tx) => {
      expect(await removeStockAgent(tx, vmId)).toBe('thumb d');
      expect(await removeStockAgent(tx, vmId)).toBeNull();
    });
  });

  test('is never mistaken for a reference agent, whose data does not change', async () => {
    const { vmId } = await givenAgent();
    const before = await agentOf(vmId);
    await db.transaction(async (tx) => {
      expect(await insertStockAgent(tx, identity(vmId, 'x'))).toBe(false);
      await replaceStockAgent(tx, identity(vmId, 'x'));
      await replaceStockKey(tx, vmId, certificate('x'));
      await describeStockAgent(tx, vmId, { version: '9', os: {} });
      expect(await removeStockAgent(tx, vmId)).toBeNull();
    });
    expect(await agentOf(vmId)).toEqual(before);
  });
});

test.each([
  [0, 0, 24],
  [0, 0.5, 30],
  [0, 1, 36],
  [25, 0, 0],
  [25, 0.5, 1],
  [25, 1, 2],
])('after a poll of %i s, with the random number %d, the next poll comes after %i s', (held, random, seconds) => {
  expect(pollAfter(held, () => random)).toBe(seconds);
});
