import type { ExtensionGoal, extensionPulse } from '#db/schema/index.ts';
import { heartbeatVerdict, staleFor } from '#server/domain/verdicts/index.ts';
import type { EntryOf, ReportEntry } from './read-report.ts';

export type PulseRow = typeof extensionPulse.$inferSelect;

/** What an entry does to what is shown of its extension. */
export interface Merged {
  row: PulseRow;
  /** It is what is shown from now on; a late or void one is only kept. */
  current: boolean;
  /** Nobody has seen this document yet: it belongs into the history. */
  news: boolean;
  /** A reader would see a difference. */
  visible: boolean;
}

export interface MergeContext {
  goal: { state: ExtensionGoal; sequenceNumber: number };
  receivedAt: Date;
  periods: { heartbeatSeconds: number; statusSeconds: number };
}

export function emptyPulse(vmId: string, name: string): PulseRow {
  return {
    vmId,
    name,
    handlerSequence: null,
    handlerHash: null,
    heartbeatHash: null,
    heartbeatStatus: null,
    heartbeatReadAt: null,
    heartbeatAgeSeconds: null,
    statusHash: null,
    statusSequence: null,
    statusWord: null,
    statusReadAt: null,
    statusAgeSeconds: null,
    concludedAt: null,
    concludedWith: null,
  };
}

/** Puts an entry on top of what is shown, or finds that it is history. Its sequence number is not above the goal's. */
export function mergeEntry(row: PulseRow, entry: ReportEntry, context: MergeContext): Merged {
  switch (entry.kind) {
    case 'handler':
      return mergeHandler(row, entry, context);
    case 'heartbeat':
      return mergeHeartbeat(row, entry, context);
    case 'status':
      return mergeStatus(row, entry, context);
  }
}

const history = (row: PulseRow): Merged => ({ row, current: false, news: true, visible: false });

/** `removed` counts only while the goal is `uninstall`, and for its sequence number. */
export function isRemoval(entry: ReportEntry, goal: MergeContext['goal']): boolean {
  if (entry.kind !== 'handler' || entry.report.state !== 'removed') return false;
  return goal.state === 'uninstall' && entry.sequenceNumber === goal.sequenceNumber;
}

function mergeHandler(row: PulseRow, entry: EntryOf<'handler'>, { goal }: MergeContext): Merged {
  if (entry.report.state === 'removed' && !isRemoval(entry, goal)) return history(row);
  if (row.handlerSequence !== null && entry.sequenceNumber < row.handlerSequence) return history(row);
  if (row.handlerHash === entry.hash) return { row, current: true, news: false, visible: false };
  const next = { ...row, handlerSequence: entry.sequenceNumber, handlerHash: entry.hash };
  return { row: next, current: true, news: true, visible: true };
}

function mergeHeartbeat(row: PulseRow, entry: EntryOf<'heartbeat'>, { receivedAt, periods }: MergeContext): Merged {
  const next = {
    ...row,
    heartbeatHash: entry.hash,
    heartbeatStatus: entry.document.status,
    heartbeatReadAt: readAt(entry, receivedAt),
    heartbeatAgeSeconds: entry.ageSeconds,
  };
  const news = row.heartbeatHash !== entry.hash;
  const verdict = (of: PulseRow) =>
    heartbeatVerdict(
      { optedIn: true, reading: heartbeatReading(of), periodSeconds: periods.heartbeatSeconds, enabledAt: null },
      receivedAt,
    );
  const back = wentBack(heartbeatReading(row), heartbeatReading(next));
  return { row: next, current: true, news, visible: news || back || verdict(row) !== verdict(next) };
}

/**
 * The highest sequence number is shown, and within one the newest report (AZ-S3). Once the goal has moved on, its
 * predecessor's late reports change nothing on top. The first success or error of a sequence concludes it for good.
 */
function mergeStatus(row: PulseRow, entry: EntryOf<'status'>, { goal, receivedAt, periods }: MergeContext): Merged {
  const { sequenceNumber, document, hash } = entry;
  const shown = row.statusSequence;
  const same = shown === sequenceNumber && row.statusHash === hash;
  if (
    shown !== null &&
    (sequenceNumber < shown || (sequenceNumber === shown && sequenceNumber < goal.sequenceNumber))
  ) {
    return same ? { row, current: false, news: false, visible: false } : history(row);
  }
  const conclusion = document.status === 'success' || document.status === 'error' ? document.status : null;
  const before = shown === sequenceNumber ? row : { concludedAt: null, concludedWith: null };
  const next: PulseRow = {
    ...row,
    statusHash: hash,
    statusSequence: sequenceNumber,
    statusWord: document.status,
    statusReadAt: readAt(entry, receivedAt),
    statusAgeSeconds: entry.ageSeconds,
    concludedAt: before.concludedAt ?? (conclusion && receivedAt),
    concludedWith: before.concludedWith ?? conclusion,
  };
  const stale = (of: PulseRow): boolean => {
    const reading = statusReading(of);
    return reading !== null && staleFor(reading, periods.statusSeconds, receivedAt) !== null;
  };
  const back = wentBack(statusReading(row), statusReading(next));
  return { row: next, current: true, news: !same, visible: !same || back || stale(row) !== stale(next) };
}

/** When the agent read the file, on the portal's clock. */
export const readAt = (entry: { readSecondsAgo: number }, receivedAt: Date): Date =>
  new Date(receivedAt.getTime() - entry.readSecondsAgo * 1000);

interface Reading {
  readAt: Date;
  ageSeconds: number;
}

/** What is older than what it replaces turns stale sooner than anyone counts with. A second is as exact as ages are. */
function wentBack(before: Reading | null, next: Reading | null): boolean {
  if (before === null || next === null) return false;
  const writtenAt = ({ readAt, ageSeconds }: Reading): number => readAt.getTime() - ageSeconds * 1000;
  const tolerance = 1000;
  return before.readAt.getTime() - next.readAt.getTime() > tolerance || writtenAt(before) - writtenAt(next) > tolerance;
}

type Stored<K extends keyof PulseRow> = Pick<PulseRow, K>;

/** The stored heartbeat as the rules take it, or null where there is none. */
export function heartbeatReading(row: Stored<'heartbeatStatus' | 'heartbeatReadAt' | 'heartbeatAgeSeconds'>) {
  const { heartbeatStatus, heartbeatReadAt, heartbeatAgeSeconds } = row;
  if (heartbeatStatus === null || heartbeatReadAt === null || heartbeatAgeSeconds === null) return null;
  return { status: heartbeatStatus, readAt: heartbeatReadAt, ageSeconds: heartbeatAgeSeconds };
}

/** The stored status as the rules take it, or null where there is none. */
export function statusReading(row: Stored<'statusWord' | 'statusReadAt' | 'statusAgeSeconds'>) {
  const { statusWord, statusReadAt, statusAgeSeconds } = row;
  if (statusWord === null || statusReadAt === null || statusAgeSeconds === null) return null;
  return { status: statusWord, readAt: statusReadAt, ageSeconds: statusAgeSeconds };
}
