import { and, eq, inArray } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { extensionPulse, extensions, vms } from '#db/schema/index.ts';
import { defaultPeriods } from '#protocol/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { describePresence, type Presence, recordReportingAgent } from '#server/domain/enrollment/index.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { completeRemoval, lockHead, noteReportedSequence } from '#server/domain/goal-states/index.ts';
import { notePendingRestart, noteProblems, storeLatest, storePulse } from '#server/domain/reported-state/index.ts';
import { wasAway } from '#server/domain/verdicts/index.ts';
import { isRemoval } from './entries/handler.ts';
import { emptyPulse, kindOf, mergeEntry, type ReportEntry } from './entries/index.ts';
import type { LatestRow, MergeContext, PulseRow } from './entries/kind.ts';
import { type HistoryEntry, writeHistory } from './history.ts';
import { type PreparedReport, promisedSeconds, type ReportFrame } from './prepare-report.ts';
import { storeRejectedFiles } from './store-rejected-files.ts';

type Goal = Pick<typeof extensions.$inferSelect, 'name' | 'state' | 'sequenceNumber'>;

/**
 * Deletes a VM in the caller's transaction; used when a report completes a decommission. `deleteVm` of `vm-lifecycle`
 * is passed in, because this module may not import it.
 */
export type DeleteVm = (tx: Transaction, ctx: Context, vmId: string) => Promise<void>;

/** The result of a committed report. */
export interface IngestResult {
  /** Number of accepted entries, including late and unchanged entries. */
  stored: number;
  faults: Fault[];
  /** Extensions that this report removed from the goal state. */
  removed: { name: string; sequenceNumber: number }[];
}

/**
 * Stores one report that a batch cannot store, entry by entry and in its own transaction. Throws 400 with the faults if
 * there are any and no entry could be stored, 401 for a deleted VM.
 */
export async function ingestCarefully(ctx: Context, report: PreparedReport, deleteVm: DeleteVm): Promise<IngestResult> {
  const { vmId, receivedAt, frame, entries, refused, problems, pendingRestart, faults } = report;
  const result = await ctx.db.transaction(async (tx): Promise<IngestResult> => {
    const removal = entries.some((entry) => entry.kind === 'handler' && entry.report.state === 'removed');
    const { presence, wasAway } = await lockVm(tx, report, removal);
    if (isRepeated(frame, presence)) {
      if (wasAway) await recordChange(tx, 'vm', vmId);
      return { stored: 0, faults: [], removed: [] };
    }

    const next = nextPresence(presence, frame);
    const periods = {
      heartbeatSeconds: next.heartbeatSeconds ?? defaultPeriods.heartbeatSeconds,
      statusSeconds: next.statusSeconds ?? defaultPeriods.statusSeconds,
    };
    const applied = await applyEntries(tx, vmId, entries, { receivedAt, periods });
    const all = [...faults, ...applied.faults];
    const refusal = await storeRejectedFiles(tx, vmId, refused, receivedAt);
    // If there are faults and no entry could be stored, a corrected report may use the same number.
    if (applied.stored === 0 && all.length > 0) {
      if (wasAway || refusal) await recordChange(tx, 'vm', vmId);
      return { stored: 0, faults: all, removed: [] };
    }

    await describePresence(tx, vmId, next);
    await noteProblems(tx, vmId, problems, receivedAt);
    if (pendingRestart !== undefined) await notePendingRestart(tx, vmId, pendingRestart, receivedAt);
    const removed = await removeReported(tx, ctx, vmId, applied.removed, deleteVm);
    const hasAgentNews = problems.length > 0 || pendingRestart !== undefined;
    const visible = wasAway || refusal || applied.visible || hasAgentNews || isNews(presence, next);
    // A removal publishes a goal state, which already notifies open pages.
    if (visible && removed.length === 0) await recordChange(tx, 'vm', vmId);
    return { stored: applied.stored, faults: all, removed };
  });
  if (result.stored === 0 && result.faults.length > 0) {
    throw new DomainError('bad_request', 'report_invalid', { faults: result.faults });
  }
  return result;
}

/**
 * Locks the VM, then (for a removal) the goal state, then the presence, so that reports of one VM are processed one at
 * a time. A removal takes a stronger lock on the VM, because it can delete the VM. Records the call. `wasAway` is
 * whether the agent had missed its announced call or had never called.
 */
async function lockVm(
  tx: Transaction,
  { vmId, receivedAt, counter, frame }: PreparedReport,
  removal: boolean,
): Promise<{ presence: Presence; wasAway: boolean }> {
  const [vm] = await tx
    .select({ deletedAt: vms.deletedAt })
    .from(vms)
    .where(eq(vms.id, vmId))
    .for(removal ? 'no key update' : 'share');
  if (vm === undefined || vm.deletedAt !== null) throw new DomainError('unauthenticated', 'credential_refused');
  if (removal) await lockHead(tx, vmId);
  const call = { vmId, receivedAt, counter, ...promisedSeconds(frame) };
  const { presence, before } = await recordReportingAgent(tx, call);
  return { presence, wasAway: wasAway(before, receivedAt) };
}

/**
 * Whether a report of the same run with this number or a higher number has been stored. A report without a number never
 * counts as repeated.
 */
function isRepeated({ run, reportNumber }: ReportFrame, presence: Presence): boolean {
  if (reportNumber === null || presence.reportNumber === null) return false;
  return run === presence.run && reportNumber <= presence.reportNumber;
}

function nextPresence(presence: Presence, frame: ReportFrame) {
  return {
    heartbeatSeconds: frame.heartbeatSeconds ?? presence.heartbeatSeconds,
    statusSeconds: frame.statusSeconds ?? presence.statusSeconds,
    clockSkewSeconds: frame.clockSkewSeconds ?? presence.clockSkewSeconds,
    appliedEtag: frame.appliedEtag ?? presence.appliedEtag,
    run: frame.reportNumber === null ? presence.run : frame.run,
    reportNumber: frame.reportNumber ?? presence.reportNumber,
  };
}

/** Whether the report changes what users see, or the times at which verdicts change. */
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
  const { goals, pulses } = await loadKnown(tx, vmId, [...new Set(entries.map(({ name }) => name))]);
  const applied: Applied = { stored: 0, faults: [], removed: [], visible: false };
  const history: HistoryEntry[] = [];
  const touched = new Map<string, Partial<LatestRow>>();
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
    const before = pulses.get(entry.name) ?? emptyPulse(vmId, entry.name);
    const merged = mergeEntry(before, entry, { ...context, goal });
    applied.stored++;
    applied.visible ||= merged.visible;
    if (merged.row !== before) {
      const shown = merged.news ? kindOf(entry).latestColumns(entry, context.receivedAt) : {};
      touched.set(entry.name, { ...touched.get(entry.name), ...shown });
    }
    pulses.set(entry.name, merged.row);
    if (merged.news) history.push({ entry, current: merged.current });
    if (isRemoval(entry, goal)) applied.removed.push({ name: goal.name, sequenceNumber: goal.sequenceNumber });
  }
  await writeHistory(tx, vmId, context.receivedAt, history);
  for (const name of [...touched.keys()].sort()) {
    const pulse = pulses.get(name);
    if (pulse) await storePulse(tx, pulse);
    await storeLatest(tx, vmId, name, touched.get(name) ?? {});
  }
  return applied;
}

/** Loads the VM's goals and pulses. Locks the extensions, so that they are not deleted before the commit. */
async function loadKnown(
  tx: Transaction,
  vmId: string,
  names: string[],
): Promise<{ goals: Map<string, Goal>; pulses: Map<string, PulseRow> }> {
  if (names.length === 0) return { goals: new Map(), pulses: new Map() };
  const rows = await tx
    .select({
      goal: { name: extensions.name, state: extensions.state, sequenceNumber: extensions.sequenceNumber },
      pulse: extensionPulse,
    })
    .from(extensions)
    .leftJoin(extensionPulse, and(eq(extensionPulse.vmId, extensions.vmId), eq(extensionPulse.name, extensions.name)))
    .where(and(eq(extensions.vmId, vmId), inArray(extensions.name, names)))
    .for('key share', { of: extensions });
  return {
    goals: new Map(rows.map(({ goal }) => [goal.name, goal])),
    pulses: new Map(rows.flatMap(({ goal, pulse }) => (pulse ? [[goal.name, pulse] as const] : []))),
  };
}

async function removeReported(
  tx: Transaction,
  ctx: Context,
  vmId: string,
  reported: Applied['removed'],
  deleteVm: DeleteVm,
): Promise<IngestResult['removed']> {
  const removed: IngestResult['removed'] = [];
  for (const each of reported) {
    const removal = await completeRemoval(tx, ctx, vmId, each.name, each.sequenceNumber);
    if (removal.removed) removed.push(each);
    if (removal.decommissioned) await deleteVm(tx, ctx, vmId);
  }
  return removed;
}
