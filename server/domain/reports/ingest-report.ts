import { and, eq, getTableColumns, inArray, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agentPresence, extensionLatest, extensions, goalStateHeads, vms } from '#db/schema/index.ts';
import { defaultPeriods, periodBounds, type ReportEnvelope } from '#protocol/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { deleteVm, pollSeconds } from '#server/domain/enrollment/index.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { completeRemoval, lockHead, noteReportedSequence } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { type HistoryEntry, writeHistory } from './history.ts';
import { type IngestReportInput, ingestReportInput } from './input.ts';
import { emptyLatest, isRemoval, type LatestRow, type MergeContext, mergeEntry } from './merge.ts';
import { type ReportEntry, readReport } from './read-report.ts';
import { agentStatus } from './rules.ts';

export interface IngestResult {
  /** Entries that were taken in, late and unchanged ones included. */
  stored: number;
  faults: Fault[];
  /** Extensions that left the goal state with this report. */
  removed: { name: string; sequenceNumber: number }[];
  /** Of the goal state in force when the report was committed; empty where the VM went with its last extension. */
  etag: string;
}

type Presence = typeof agentPresence.$inferSelect;
type Goal = Pick<typeof extensions.$inferSelect, 'name' | 'state' | 'sequenceNumber'>;

/**
 * Takes in what an agent reports; everything is committed when it returns. Entries are checked one by one: the good
 * ones are stored, the others named (the caller answers 207). A report that is not newer than the last of its run
 * changes nothing. Throws 400 with every fault where nothing could be stored, 413 above the limits, 401 for a VM that
 * was deleted meanwhile.
 */
export async function ingestReport(ctx: Context, input: IngestReportInput): Promise<IngestResult> {
  const { vmId, report, receivedAt } = parse(ingestReportInput, input, 'bad_request');
  if (ctx.actor.kind !== 'agent' || ctx.actor.id !== vmId) {
    throw new DomainError('forbidden', 'forbidden', { params: { role: 'agent' } });
  }
  const { envelope, entries, faults } = readReport(report, ctx.config.limits.report);
  const result = await ctx.db.transaction(async (tx) => {
    const etag = () => etagInForce(tx, vmId);
    const removal = entries.some((entry) => entry.kind === 'handler' && entry.report.state === 'removed');
    const { presence, wasAway } = await lockVm(tx, vmId, receivedAt, removal);
    if (isRepeated(envelope, presence)) {
      if (wasAway) await recordChange(tx, 'vm', vmId);
      return { stored: 0, faults: [], removed: [], etag: await etag() };
    }

    const next = nextPresence(presence, envelope, receivedAt);
    const periods = {
      heartbeatSeconds: next.heartbeatSeconds ?? defaultPeriods.heartbeatSeconds,
      statusSeconds: next.statusSeconds ?? defaultPeriods.statusSeconds,
    };
    const applied = await applyEntries(tx, vmId, entries, { receivedAt, periods });
    const all = [...faults, ...applied.faults];
    // Nothing could be stored, so the report counts as not made; a corrected one may use its number.
    if (applied.stored === 0 && all.length > 0) {
      if (wasAway) await recordChange(tx, 'vm', vmId);
      return { stored: 0, faults: all, removed: [], etag: '' };
    }

    await tx.update(agentPresence).set(next).where(eq(agentPresence.vmId, vmId));
    const removed = await removeReported(tx, ctx, vmId, applied.removed);
    const visible = wasAway || applied.visible || isNews(presence, next);
    // A removal publishes a goal state, which tells the screens by itself.
    if (visible && removed.length === 0) await recordChange(tx, 'vm', vmId);
    return { stored: applied.stored, faults: all, removed, etag: await etag() };
  });
  if (result.stored === 0 && result.faults.length > 0) {
    throw new DomainError('bad_request', 'report_invalid', { faults: result.faults });
  }
  return result;
}

/**
 * Takes the locks that put the reports of one VM in a row, always in the order VM, goal state, presence, and notes that
 * the agent was here. A removal may end in the VM's own deletion, hence the stronger lock. `wasAway`: it had not been
 * heard when it should.
 */
async function lockVm(
  tx: Transaction,
  vmId: string,
  receivedAt: Date,
  removal: boolean,
): Promise<{ presence: Presence; wasAway: boolean }> {
  const [vm] = await tx
    .select({ deletedAt: vms.deletedAt })
    .from(vms)
    .where(eq(vms.id, vmId))
    .for(removal ? 'no key update' : 'share');
  if (vm === undefined || vm.deletedAt !== null) throw new DomainError('unauthenticated', 'credential_refused');
  if (removal) await lockHead(tx, vmId);
  const nextExpectedAt = new Date(receivedAt.getTime() + pollSeconds * 1000);
  // What the statement returns is new; a subquery still sees what was there before.
  const before = sql<{ lastSeenAt: string; nextExpectedAt: string } | null>`(
    select json_build_object('lastSeenAt', b.last_seen_at, 'nextExpectedAt', b.next_expected_at)
      from agent_presence b where b.vm_id = ${vmId})`;
  const [row] = await tx
    .insert(agentPresence)
    .values({ vmId, lastSeenAt: receivedAt, nextExpectedAt })
    .onConflictDoUpdate({
      target: agentPresence.vmId,
      set: {
        lastSeenAt: sql`greatest(${agentPresence.lastSeenAt}, excluded.last_seen_at)`,
        nextExpectedAt: sql`greatest(${agentPresence.nextExpectedAt}, excluded.next_expected_at)`,
      },
    })
    .returning({ ...getTableColumns(agentPresence), before });
  if (row === undefined) throw new Error('presence was neither inserted nor updated');
  const { before: known, ...presence } = row;
  const seen = known && {
    lastSeenAt: new Date(known.lastSeenAt),
    nextExpectedAt: new Date(known.nextExpectedAt),
  };
  return { presence, wasAway: agentStatus(seen, receivedAt) !== 'ready' };
}

/** Not higher than the highest of the same run. Without a number the order of arrival decides. */
function isRepeated(envelope: ReportEnvelope, presence: Presence): boolean {
  if (envelope.reportNumber === undefined || presence.reportNumber === null) return false;
  return (envelope.run ?? null) === presence.run && envelope.reportNumber <= presence.reportNumber;
}

function nextPresence(presence: Presence, envelope: ReportEnvelope, receivedAt: Date) {
  const { periods, agentTime, appliedEtag, run, reportNumber } = envelope;
  const period = (seconds: number | undefined): number | undefined =>
    seconds === undefined
      ? undefined
      : Math.round(Math.min(periodBounds.maximum, Math.max(periodBounds.minimum, seconds)));
  const skew = agentTime === undefined ? undefined : Math.round((Date.parse(agentTime) - receivedAt.getTime()) / 1000);
  return {
    heartbeatSeconds: period(periods?.heartbeatSeconds) ?? presence.heartbeatSeconds,
    statusSeconds: period(periods?.statusSeconds) ?? presence.statusSeconds,
    // A guest's clock may be anything; the column is not.
    clockSkewSeconds:
      skew === undefined ? presence.clockSkewSeconds : Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, skew)),
    appliedEtag: appliedEtag ?? presence.appliedEtag,
    run: reportNumber === undefined ? presence.run : (run ?? null),
    reportNumber: reportNumber ?? presence.reportNumber,
  };
}

/** Whether a reader, or the rules by which verdicts age, would see a difference. */
function isNews(before: Presence, next: ReturnType<typeof nextPresence>): boolean {
  return (
    next.appliedEtag !== before.appliedEtag ||
    next.heartbeatSeconds !== before.heartbeatSeconds ||
    next.statusSeconds !== before.statusSeconds
  );
}

interface Applied {
  stored: number;
  faults: Fault[];
  removed: { name: string; sequenceNumber: number }[];
  visible: boolean;
}

async function applyEntries(
  tx: Transaction,
  vmId: string,
  entries: readonly ReportEntry[],
  context: Omit<MergeContext, 'goal'>,
): Promise<Applied> {
  const { goals, latest } = await loadKnown(tx, vmId, [...new Set(entries.map(({ name }) => name))]);
  const applied: Applied = { stored: 0, faults: [], removed: [], visible: false };
  const history: HistoryEntry[] = [];
  const touched = new Set<string>();
  for (const entry of entries) {
    const goal = goals.get(entry.name);
    if (goal === undefined) {
      applied.faults.push({ path: `${entry.path}/extension`, code: 'extension_unknown' });
      continue;
    }
    if (entry.sequenceNumber !== null && entry.sequenceNumber > goal.sequenceNumber) {
      const params = { extension: goal.name, goal: goal.sequenceNumber };
      applied.faults.push({ path: `${entry.path}/sequenceNumber`, code: 'sequence_unknown', params });
      await noteReportedSequence(tx, vmId, goal.name, entry.sequenceNumber);
      continue;
    }
    const before = latest.get(entry.name) ?? emptyLatest(vmId, entry.name);
    const merged = mergeEntry(before, entry, { ...context, goal });
    applied.stored++;
    applied.visible ||= merged.visible;
    if (merged.row !== before) touched.add(entry.name);
    latest.set(entry.name, merged.row);
    if (merged.news) history.push({ entry, current: merged.current });
    if (isRemoval(entry, goal)) applied.removed.push({ name: goal.name, sequenceNumber: goal.sequenceNumber });
  }
  await writeHistory(tx, vmId, context.receivedAt, history);
  await writeLatest(
    tx,
    [...touched].sort().flatMap((name) => latest.get(name) ?? []),
  );
  return applied;
}

/** What the VM should have and what is shown of it; the lock keeps the extensions in place until the commit. */
async function loadKnown(
  tx: Transaction,
  vmId: string,
  names: string[],
): Promise<{ goals: Map<string, Goal>; latest: Map<string, LatestRow> }> {
  if (names.length === 0) return { goals: new Map(), latest: new Map() };
  const rows = await tx
    .select({
      goal: { name: extensions.name, state: extensions.state, sequenceNumber: extensions.sequenceNumber },
      latest: extensionLatest,
    })
    .from(extensions)
    .leftJoin(
      extensionLatest,
      and(eq(extensionLatest.vmId, extensions.vmId), eq(extensionLatest.name, extensions.name)),
    )
    .where(and(eq(extensions.vmId, vmId), inArray(extensions.name, names)))
    .for('key share', { of: extensions });
  return {
    goals: new Map(rows.map(({ goal }) => [goal.name, goal])),
    latest: new Map(rows.flatMap(({ goal, latest }) => (latest ? [[goal.name, latest] as const] : []))),
  };
}

async function writeLatest(tx: Transaction, rows: LatestRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx
    .insert(extensionLatest)
    .values(rows)
    .onConflictDoUpdate({
      target: [extensionLatest.vmId, extensionLatest.name],
      set: {
        handlerState: sql`excluded.handler_state`,
        handlerAt: sql`excluded.handler_at`,
        heartbeat: sql`excluded.heartbeat`,
        heartbeatReadAt: sql`excluded.heartbeat_read_at`,
        heartbeatAgeSeconds: sql`excluded.heartbeat_age_seconds`,
        status: sql`excluded.status`,
        statusSequence: sql`excluded.status_sequence`,
        statusReadAt: sql`excluded.status_read_at`,
        statusAgeSeconds: sql`excluded.status_age_seconds`,
        concludedAt: sql`excluded.concluded_at`,
        concludedWith: sql`excluded.concluded_with`,
      },
    });
}

async function removeReported(
  tx: Transaction,
  ctx: Context,
  vmId: string,
  reported: Applied['removed'],
): Promise<IngestResult['removed']> {
  const removed: IngestResult['removed'] = [];
  for (const each of reported) {
    const removal = await completeRemoval(tx, ctx, vmId, each.name, each.sequenceNumber);
    if (removal.removed) removed.push(each);
    if (removal.decommissioned) await deleteVm(tx, ctx, vmId);
  }
  return removed;
}

async function etagInForce(tx: Transaction, vmId: string): Promise<string> {
  const [head] = await tx
    .select({ etag: goalStateHeads.etag })
    .from(goalStateHeads)
    .where(eq(goalStateHeads.vmId, vmId));
  return head?.etag ?? '';
}
