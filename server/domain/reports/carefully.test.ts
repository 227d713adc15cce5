import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import {
  agentPresence,
  agentProblems,
  extensionLatest,
  extensionPulse,
  extensions,
  pendingRestarts,
  type RefusedFile,
  reportHistory,
} from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { removeExtension } from '#server/domain/goal-states/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { actsSince, changesSince, markOf, outcomeOf } from '#server/testing/records.ts';
import { openRejection } from './store-rejected-files.ts';

let services: Services;
let db: Database;
const start = new Date('2026-01-01T12:00:00.000Z');
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);

beforeAll(async () => {
  services = await testServices();
  ({ db } = services);
  await givenVersion(db, { supportsMultipleExtensions: true });
});

async function vmWith(...names: string[]): Promise<GivenVm> {
  const vm = await givenVm(services);
  for (const name of names) await vm.declare(name);
  await vm.deliver(start);
  return vm;
}

const send = async (vm: GivenVm, report: object, at = start) =>
  ingestReport(await vm.agent(at), { vmId: vm.vmId, report, receivedAt: at });
const handler = (state: string, more: object = {}) => ({ extension: 'probe', sequenceNumber: 1, state, ...more });
const heartbeat = (status: string, more: object = {}) => ({
  extension: 'probe',
  ageSeconds: 1,
  file: [{ version: 1.0, heartbeat: { status } }],
  ...more,
});
const status = (word: string, more: object = {}) => ({
  extension: 'probe',
  sequenceNumber: 1,
  ageSeconds: 1,
  file: [{ version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status: { status: word } }],
  ...more,
});
const [ready, success] = [{ heartbeats: [heartbeat('ready')] }, { statuses: [status('success')] }];
const historyOf = ({ vmId }: GivenVm) =>
  db.select().from(reportHistory).where(eq(reportHistory.vmId, vmId)).orderBy(reportHistory.id);
const presenceOf = async ({ vmId }: GivenVm) =>
  (await db.select().from(agentPresence).where(eq(agentPresence.vmId, vmId)))[0];
const latestOf = async ({ vmId }: GivenVm) =>
  (await db.select().from(extensionLatest).where(eq(extensionLatest.vmId, vmId)))[0];

describe('open pages', () => {
  /** The first report of each VM. Each case sends a second report 10 or 4,000 s later. */
  const first = {
    run: 'a',
    reportNumber: 1,
    appliedEtag: '"x"',
    periods: { heartbeatSeconds: 60, statusSeconds: 60 },
    handlers: [handler('enabled')],
    ...ready,
    ...success,
  };
  test.each<[string, object, number, boolean]>([
    ['an empty report', {}, 10, false],
    ['the same again under a new number', { ...first, reportNumber: 2 }, 10, false],
    ['the same number again', first, 10, false],
    ['another state', { handlers: [handler('failed')] }, 10, true],
    ['another heartbeat', { heartbeats: [heartbeat('notready')] }, 10, true],
    ['another status', { statuses: [status('error')] }, 10, true],
    ['a clock that is wrong', { agentTime: '2020-01-01T00:00:00Z' }, 10, false],
    ['another goal state in effect', { appliedEtag: '"y"' }, 10, true],
    ['another period', { periods: { heartbeatSeconds: 61 } }, 10, true],
    ['a problem', { problems: [{ about: 'probe', message: 'm' }] }, 10, true],
    [
      'a restart',
      { pendingRestart: [{ handler: 'A.B', version: '1', extensions: [], requestedSecondsAgo: 0 }] },
      10,
      true,
    ],
    ['no restart', { pendingRestart: [] }, 10, true],
    ['an empty report after a silence', {}, 4_000, true],
    ['a repeated report after a silence', first, 4_000, true],
    ['a late state', { handlers: [handler('failed', { sequenceNumber: 0 })] }, 10, false],
    ['an unknown extension', { heartbeats: [heartbeat('ready', { extension: 'x' }), heartbeat('ready')] }, 10, false],
  ])('after %s', async (_, report, seconds, hear) => {
    const vm = await vmWith('probe');
    await send(vm, first);
    const mark = await markOf(db);
    await send(vm, report, later(seconds));
    expect(await changesSince(db, mark)).toEqual(hear ? [`vm ${vm.vmId}`] : []);
    expect(await presenceOf(vm)).toMatchObject({ lastSeenAt: later(seconds) });
    expect(await actsSince(db, mark, vm.vmId)).toEqual([]);
  });
});

describe('the history', () => {
  test('has what was shown once, and late reports once, as they were sent', async () => {
    const vm = await vmWith('probe');
    const sent = status('success', { ageSeconds: 3 });
    await send(vm, { statuses: [sent] });
    await send(vm, { statuses: [status('success', { ageSeconds: 9 })] }, later(60));
    await vm.declare('probe', { state: 'disabled' });
    await send(vm, { statuses: [status('error')] }, later(90));
    await send(vm, { statuses: [status('error', { ageSeconds: 40, readSecondsAgo: 2 })] }, later(120));
    const rows = await historyOf(vm);
    expect(rows).toMatchObject([
      { kind: 'status', extension: 'probe', sequenceNumber: 1, current: true, at: start, document: sent },
      { kind: 'status', sequenceNumber: 1, current: false, at: later(90) },
    ]);
  });

  test('contains every late report that differs from the last late report', async () => {
    const vm = await vmWith('probe');
    await send(vm, success);
    await vm.declare('probe', { state: 'disabled' });
    for (const word of ['error', 'warning', 'error']) await send(vm, { statuses: [status(word)] });
    expect((await historyOf(vm)).map(({ current }) => current)).toEqual([true, false, false, false]);
  });

  test('of a heartbeat has no sequence number', async () => {
    const vm = await vmWith('probe');
    await send(vm, ready);
    expect(await historyOf(vm)).toMatchObject([{ kind: 'heartbeat', sequenceNumber: null, current: true }]);
  });

  test('keeps the order of entries of one report', async () => {
    const vm = await vmWith('probe');
    const words = ['transitioning', 'warning', 'success'];
    expect(await send(vm, { statuses: words.map((word) => status(word)) })).toMatchObject({ stored: 3 });
    const documents = (await historyOf(vm)).map(({ document }) => document as ReturnType<typeof status>);
    expect(documents.map(({ file }) => file[0]?.status.status)).toEqual(words);
    expect(await db.select().from(extensionPulse).where(eq(extensionPulse.vmId, vm.vmId))).toMatchObject([
      { statusWord: 'success', concludedWith: 'success' },
    ]);
  });
});

describe('problems', () => {
  const problemsOf = async ({ vmId }: GivenVm) =>
    (await db.select().from(agentProblems).where(eq(agentProblems.vmId, vmId)).orderBy(agentProblems.about)).map(
      ({ about, message, file, at }) => ({ about, message, file, at }),
    );

  test('are kept: the last problem about each subject', async () => {
    const vm = await vmWith('probe');
    const about = (message: string, file?: string) => ({ about: 'probe', message, ...(file && { file }) });
    await send(vm, { problems: [about('one'), about('two', 'status'), { about: 'goal-state', message: 'three' }] });
    await send(vm, { problems: [about('four')] }, later(60));
    expect(await problemsOf(vm)).toEqual([
      { about: 'goal-state', message: 'three', file: null, at: start },
      { about: 'probe', message: 'four', file: null, at: later(60) },
    ]);
  });

  test('of a VM are the newest, at most twenty', async () => {
    const vm = await vmWith('probe');
    const many = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, n) => ({ about: `${prefix}${String(n).padStart(2, '0')}`, message: 'm' }));
    await send(vm, { problems: many('a', 15) });
    await send(vm, { problems: many('b', 10) }, later(60));
    const kept = (await problemsOf(vm)).map(({ about }) => about[0]);
    expect([kept.length, kept.filter((prefix) => prefix === 'b').length]).toEqual([20, 10]);
  });
});

describe('restarts', () => {
  const pendingOf = async ({ vmId }: GivenVm) =>
    (await db.select().from(pendingRestarts).where(eq(pendingRestarts.vmId, vmId)))[0];
  const request = (handlerName: string, requestedSecondsAgo: number) => ({
    handler: handlerName,
    version: '1.0',
    extensions: ['probe'],
    requestedSecondsAgo,
  });

  test('AZ-G8 are shown oldest first, until the agent reports none', async () => {
    const vm = await vmWith('probe');
    await send(vm, { pendingRestart: [request('A.B', 60), request('C.D', 120)] });
    expect(await pendingOf(vm)).toMatchObject({
      since: later(-120),
      requests: [
        { handler: 'C.D', since: later(-120).toISOString(), extensions: ['probe'] },
        { handler: 'A.B', since: later(-60).toISOString() },
      ],
    });
    await send(vm, {}, later(10));
    expect(await pendingOf(vm)).toBeDefined();
    await send(vm, { pendingRestart: [request('A.B', 90)] }, later(30));
    expect(await pendingOf(vm)).toMatchObject({ since: later(-60) });
    await send(vm, { pendingRestart: [] }, later(40));
    expect(await pendingOf(vm)).toBeUndefined();
  });
});

describe('a file that breaks the contract', () => {
  const broken = [{ version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status: { status: 'fine' } }];
  const brokenStatus = (more: object = {}) => ({ statuses: [status('', { file: broken, ...more })] });
  const brokenHeartbeat = { heartbeats: [heartbeat('fine')] };

  test('is rejected, and its faults are kept for readers', async () => {
    const vm = await vmWith('probe');
    const mark = await markOf(db);
    const outcome = await outcomeOf(send(vm, brokenStatus({ readSecondsAgo: 5 })));
    expect(outcome).toBe('bad_request report_invalid; /statuses/0/file/0/status/status field_choice');
    expect(await latestOf(vm)).toMatchObject({
      statusRefused: {
        sequenceNumber: 1,
        readAt: later(-5).toISOString(),
        faults: [{ path: '/0/status/status', code: 'field_choice' }],
      },
      heartbeatRefused: null,
    });
    await outcomeOf(send(vm, brokenHeartbeat));
    expect(await latestOf(vm)).toMatchObject({ heartbeatRefused: { sequenceNumber: null } });
    expect(await changesSince(db, mark)).toEqual([`vm ${vm.vmId}`, `vm ${vm.vmId}`]);
    expect(await historyOf(vm)).toEqual([]);
  });

  test('that is read again with the same faults changes nothing', async () => {
    const vm = await vmWith('probe');
    await outcomeOf(send(vm, brokenStatus()));
    const mark = await markOf(db);
    await outcomeOf(send(vm, brokenStatus(), later(10)));
    expect(await changesSince(db, mark)).toEqual([]);
    expect(await latestOf(vm)).toMatchObject({ statusRefused: { readAt: later(10).toISOString() } });
    await send(vm, success, later(20));
    const again = await markOf(db);
    await outcomeOf(send(vm, brokenStatus(), later(30)));
    expect(await changesSince(db, again)).toEqual([`vm ${vm.vmId}`]);
  });

  test.each<[string, object]>([
    ['an extension that the VM does not have', { extension: 'other' }],
    ['a sequence number that is not the one of the goal', { sequenceNumber: 0 }],
  ])('of %s leaves nothing', async (_, more) => {
    const vm = await vmWith('probe');
    await outcomeOf(send(vm, brokenStatus(more)));
    expect((await latestOf(vm))?.statusRefused ?? null).toBeNull();
  });

  test('does not affect a valid entry in the same report', async () => {
    const vm = await vmWith('probe');
    const result = await send(vm, { ...brokenStatus(), ...ready });
    expect(result).toMatchObject({ stored: 1, faults: [{ path: '/statuses/0/file/0/status/status' }] });
    expect(await latestOf(vm)).toMatchObject({ heartbeat: { status: 'ready' }, statusRefused: { sequenceNumber: 1 } });
  });

  const refused = (sequenceNumber: number | null): RefusedFile => ({
    sequenceNumber,
    readAt: start.toISOString(),
    faults: [],
  });
  test.each<[string, RefusedFile | null, Date | null, number, boolean]>([
    ['none', null, null, 1, false],
    ['for the goal', refused(1), null, 1, true],
    ['for an earlier goal', refused(1), null, 2, false],
    ['without a number', refused(null), null, 7, true],
    ['before a valid file', refused(1), later(1), 1, false],
    ['at the time of a valid file', refused(1), start, 1, false],
    ['after a valid file', refused(1), later(-1), 1, true],
  ])('is shown: %s', (_, statusRefused, statusReadAt, goal, shown) => {
    const facts = { goal, statusRefused, statusReadAt, heartbeatRefused: null, heartbeatReadAt: null };
    expect(openRejection(facts, 'status')).toBe(shown ? statusRefused : null);
    const turned = {
      goal,
      statusRefused: null,
      statusReadAt: null,
      heartbeatRefused: statusRefused,
      heartbeatReadAt: statusReadAt,
    };
    expect(openRejection(turned, 'heartbeat')).toBe(shown ? statusRefused : null);
    expect(openRejection(turned, 'status')).toBeNull();
  });
});

describe('a removal', () => {
  const removed = (name: string, sequenceNumber = 2) => handler('removed', { extension: name, sequenceNumber });

  test('of two extensions in one report leads to two acts of the agent and two goal states', async () => {
    const vm = await vmWith('probe', 'other');
    const operator = await testContext({ services, role: 'operator' });
    for (const name of ['probe', 'other']) await removeExtension(operator, { vmId: vm.vmId, name });
    const mark = await markOf(db);
    const result = await send(vm, { handlers: [removed('probe'), removed('other')] });
    expect(result.removed).toEqual([
      { name: 'probe', sequenceNumber: 2 },
      { name: 'other', sequenceNumber: 2 },
    ]);
    const acts = await actsSince(db, mark, vm.vmId);
    expect(acts.map(({ action, targetId, actorKind }) => `${actorKind} ${action} ${targetId}`)).toEqual([
      'agent extension.removed probe',
      'agent extension.removed other',
    ]);
    expect(await db.$count(extensions, eq(extensions.vmId, vm.vmId))).toBe(0);
  });

  test('of the last extension deletes a decommissioned VM, whose agent is then unknown', async () => {
    const vm = await vmWith('probe', 'other');
    await removeVm(await testContext({ services, role: 'operator' }), { vmId: vm.vmId, decommission: true });
    const mark = await markOf(db);
    await send(vm, { handlers: [removed('probe')] });
    expect((await actsSince(db, mark, vm.vmId)).map(({ action }) => action)).toEqual(['extension.removed']);
    await send(vm, { handlers: [removed('other')] }, later(10));
    expect((await actsSince(db, mark, vm.vmId)).map(({ action }) => action)).toEqual([
      'extension.removed',
      'extension.removed',
      'vm.delete',
    ]);
    expect(await outcomeOf(send(vm, {}, later(20)))).toBe('unauthenticated credential_refused');
    expect(await presenceOf(vm)).toBeUndefined();
  });
});

describe('report numbers', () => {
  test.each<[string, object, boolean]>([
    ['the same number of the run', { run: 'a', reportNumber: 5 }, false],
    ['a lower number of the run', { run: 'a', reportNumber: 4 }, false],
    ['the next number of the run', { run: 'a', reportNumber: 6 }, true],
    ['a lower number of another run', { run: 'b', reportNumber: 1 }, true],
    ['a lower number without a run', { reportNumber: 1 }, true],
    ['no number', { run: 'a' }, true],
  ])('%s counts: %s', async (_, frame, counts) => {
    const vm = await vmWith('probe');
    await send(vm, { run: 'a', reportNumber: 5 });
    const result = await send(vm, { ...frame, ...ready }, later(1));
    expect(result.stored).toBe(counts ? 1 : 0);
  });

  test('of a report that stores nothing can be used again', async () => {
    const vm = await vmWith('probe');
    await outcomeOf(send(vm, { run: 'a', reportNumber: 7, heartbeats: [heartbeat('fine')] }));
    expect(await send(vm, { run: 'a', reportNumber: 7, ...ready }, later(1))).toMatchObject({ stored: 1 });
  });
});
