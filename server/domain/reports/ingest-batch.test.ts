import { and, asc, eq, sql } from 'drizzle-orm';
import type { Pool } from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { agentPresence, changes, extensionLatest, extensionPulse, reportHistory } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { deleteVm } from '#server/domain/vm-lifecycle/index.ts';
import { testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { batchStatement } from './batch-statement.ts';
import type { ReportEntry } from './entries/index.ts';
import { ingestBatch } from './ingest-batch.ts';
import { ingestCarefully } from './ingest-carefully.ts';
import { isPlain, type PreparedReport, prepareReport } from './prepare-report.ts';

let services: Services;
const start = new Date('2026-01-01T12:00:00Z').getTime();

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db, { supportsMultipleExtensions: true });
});

let seed = 20_261_121;
const random = (below: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((seed / 2_147_483_648) * below);
};
const among = <T>(...values: T[]): T => values[random(values.length)] as T;
const sometimes = <T>(value: T): T | undefined => (random(3) === 0 ? value : undefined);

const ages = () => ({ ageSeconds: among(0, 1.5, 59, 61, 140, 160, 700), readSecondsAgo: among(0, 0, 3, 200) });
const handlerEntry = (extension: string) => ({
  extension,
  version: '1.0.0.0',
  sequenceNumber: 1 + random(3),
  state: among('installing', 'enabled', 'failed'),
  exitCode: sometimes(1),
});
const heartbeatEntry = (extension: string) => ({
  extension,
  ...ages(),
  file: [{ version: 1.0, heartbeat: { status: among('ready', 'ready', 'notready') } }],
});
const statusEntry = (extension: string) => ({
  extension,
  sequenceNumber: 1 + random(3),
  ...ages(),
  file: [
    {
      version: 1.0,
      timestampUTC: '2026-01-01T00:00:00Z',
      status: {
        status: among('transitioning', 'warning', 'error', 'success'),
        code: among(0, 7),
        substatus: among([], [{ name: 'disk', status: among('error', 'success') }]),
      },
    },
  ],
});

/** Functions that generate an entry, by its kind. */
const entryOf: Record<ReportEntry['kind'], (extension: string) => object> = {
  handler: handlerEntry,
  heartbeat: heartbeatEntry,
  status: statusEntry,
};

function reportOf(turn: number): unknown {
  const some = <T>(make: (extension: string) => T): T[] => ['probe', 'other'].filter(() => random(2) === 0).map(make);
  return {
    run: sometimes(among('a', 'b')),
    reportNumber: among(undefined, turn, turn, turn, Math.max(0, turn - 2)),
    agentTime: sometimes('2026-01-01T12:00:00Z'),
    appliedEtag: sometimes(among('"x"', '"y"')),
    periods: sometimes({ heartbeatSeconds: sometimes(among(30, 120)), statusSeconds: sometimes(among(60, 300)) }),
    heartbeats: some(entryOf.heartbeat),
    // Half of the reports contain only heartbeats.
    ...(random(2) === 0 && { handlers: some(entryOf.handler), statuses: some(entryOf.status) }),
  };
}

async function vmWithTwo(): Promise<GivenVm> {
  const vm = await givenVm(services);
  for (let sequence = 1; sequence <= 3; sequence++) {
    for (const name of ['probe', 'other']) await vm.declare(name, { settings: { publicSettings: { sequence } } });
  }
  await vm.deliver();
  return vm;
}

/** Returns the rows that a report can change, without ids, and the number of notifications about the VM. */
async function stateOf({ vmId }: GivenVm): Promise<unknown> {
  const { db } = services;
  const bare = <T extends object>(rows: T[]) => rows.map((row) => ({ ...row, vmId: undefined, id: undefined }));
  const [presence, pulses, latest, history, told] = await Promise.all([
    db.select().from(agentPresence).where(eq(agentPresence.vmId, vmId)),
    db.select().from(extensionPulse).where(eq(extensionPulse.vmId, vmId)).orderBy(asc(extensionPulse.name)),
    db.select().from(extensionLatest).where(eq(extensionLatest.vmId, vmId)).orderBy(asc(extensionLatest.name)),
    db.select().from(reportHistory).where(eq(reportHistory.vmId, vmId)).orderBy(asc(reportHistory.id)),
    db.$count(changes, eq(changes.key, vmId)),
  ]);
  const places = history.map(({ kind, extension, ...row }) => ({ place: `${kind} ${extension}`, ...row }));
  places.sort((a, b) => a.at.getTime() - b.at.getTime() || (a.place < b.place ? -1 : 1));
  return { presence: bare(presence), pulses: bare(pulses), latest: bare(latest), history: bare(places), told };
}

const histories = runsLong ? 8 : 3;

test('AZ-S3 AZ-S4 a batch has the same effect as its reports one by one, whatever they contain', async () => {
  let settled = 0;
  for (let sequence = 0; sequence < histories; sequence++) {
    const [together, alone] = [await vmWithTwo(), await vmWithTwo()];
    let seconds = 0;
    for (let turn = 1; turn <= 10; turn++) {
      const report: unknown = JSON.parse(JSON.stringify(reportOf(turn)));
      seconds += among(0, 1, 20, 50, 130, 700);
      const receivedAt = new Date(start + seconds * 1000);
      const prepared = async (vm: GivenVm): Promise<PreparedReport> =>
        prepareReport(await vm.agent(receivedAt), { vmId: vm.vmId, report, receivedAt, counter: turn });
      const [one, other] = [await prepared(together), await prepared(alone)];
      expect(isPlain(one)).toBe(true);
      const taken = (await ingestBatch(services.db, [one])).get(together.vmId);
      // A batch leaves two cases to the careful path: late documents, and a machine's first report, which creates its
      // presence.
      const first = taken ?? (await ingestCarefully(await together.agent(receivedAt), one, deleteVm));
      if (taken) settled += 1;
      expect(first).toEqual(await ingestCarefully(await alone.agent(receivedAt), other, deleteVm));
      expect(await stateOf(together), `${sequence}.${turn} ${JSON.stringify(report)}`).toEqual(await stateOf(alone));
    }
  }
  expect(settled).toBeGreaterThan(2 * histories - 1);
}, 60_000);

test('AZ-S5 both paths show reports after the conclusion alike, and neither reopens it', async () => {
  const [together, alone] = [await vmWithTwo(), await vmWithTwo()];
  const pulseOf = async (vm: GivenVm) => {
    const { statusWord, concludedAt, concludedWith } = extensionPulse;
    const rows = services.db.select({ statusWord, concludedAt, concludedWith }).from(extensionPulse);
    return await rows.where(and(eq(extensionPulse.vmId, vm.vmId), eq(extensionPulse.name, 'probe')));
  };
  const words = ['success', 'warning', 'error', 'transitioning', 'error', 'success'];
  for (const [turn, status] of words.entries()) {
    const receivedAt = new Date(start + turn * 400_000);
    const file = [{ version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status: { status } }];
    const report = { statuses: [{ extension: 'probe', sequenceNumber: 3, ageSeconds: 1, readSecondsAgo: 0, file }] };
    for (const vm of [together, alone]) {
      const ctx = await vm.agent(receivedAt);
      const prepared = prepareReport(ctx, { vmId: vm.vmId, report, receivedAt, counter: turn });
      const isTaken = vm === together && (await ingestBatch(services.db, [prepared])).has(vm.vmId);
      // A batch leaves a machine's first report, which creates its presence, to the careful path.
      expect(isTaken).toBe(vm === together && turn > 0);
      if (!isTaken) await ingestCarefully(ctx, prepared, deleteVm);
      expect(await pulseOf(vm)).toEqual([
        { statusWord: status, concludedAt: new Date(start), concludedWith: 'success' },
      ]);
    }
    expect(await stateOf(together)).toEqual(await stateOf(alone));
  }
});

test('returns committed reports even if the next statement fails', async () => {
  const [again, news] = [await vmWithTwo(), await vmWithTwo()];
  const prepared = async (vm: GivenVm, seconds: number, status: string) => {
    const receivedAt = new Date(start + seconds * 1000);
    const beat = {
      extension: 'probe',
      ageSeconds: 1,
      readSecondsAgo: 0,
      file: [{ version: 1.0, heartbeat: { status } }],
    };
    const report = { heartbeats: [beat] };
    return prepareReport(await vm.agent(receivedAt), { vmId: vm.vmId, report, receivedAt, counter: 1 });
  };
  for (const vm of [again, news]) await ingestCarefully(await vm.agent(), await prepared(vm, 0, 'ready'), deleteVm);
  const batch = [await prepared(again, 10, 'ready'), await prepared(news, 10, 'notready')];
  const pool = {
    query: (statement: typeof batchStatement) =>
      statement.name === batchStatement.name
        ? Promise.reject(new Error('a lock is held'))
        : services.db.$client.query(statement),
  } as unknown as Pool;
  expect([...(await ingestBatch(services.db, batch, pool)).keys()]).toEqual([again.vmId]);
  await expect(ingestBatch(services.db, batch.slice(1), pool)).rejects.toThrow('a lock is held');
});

test('late calls of the previous machine do not count as calls of the next machine', async () => {
  const vm = await vmWithTwo();
  const report = async (seconds: number, counter: number, more: object) => {
    const receivedAt = new Date(start + seconds * 1000);
    const prepared = prepareReport(await vm.agent(receivedAt), { vmId: vm.vmId, report: more, receivedAt, counter });
    return { ctx: await vm.agent(receivedAt), prepared };
  };
  await services.db.execute(sql`insert into agents (vm_id, credential_hash, certificate, thumbprint, key_hash, name,
    version, os, enrolled_at) values (${vm.vmId}, ${vm.vmId}, '', '', ${vm.vmId}, 'a', '1', '{}',
    ${new Date(start + 10_000).toISOString()})`);
  const first = await report(12, 3, {});
  await ingestCarefully(first.ctx, first.prepared, deleteVm);
  for (const more of [{}, { appliedEtag: '"x"' }]) {
    const late = await report(9, 5_000, more);
    expect((await ingestBatch(services.db, [late.prepared])).size).toBe(1);
  }
  const overtaken = await report(11, 4, {});
  expect((await ingestBatch(services.db, [overtaken.prepared])).size).toBe(1);
  expect(await services.db.select().from(agentPresence).where(eq(agentPresence.vmId, vm.vmId))).toMatchObject([
    { counter: 4 },
  ]);
});
