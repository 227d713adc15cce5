import { type HandlerReportEntry, handler } from './handler.ts';
import { type HeartbeatReportEntry, heartbeat } from './heartbeat.ts';
import type { EntryKind, MergeContext, Merged, PulseRow } from './kind.ts';
import { type StatusReportEntry, status } from './status.ts';

export type ReportEntry = HandlerReportEntry | HeartbeatReportEntry | StatusReportEntry;

/**
 * Every kind of entry, in the order in which the batch statement, the careful path, the history and the lists of
 * reports process them.
 */
export const entryKinds: readonly EntryKind<ReportEntry>[] = [handler, heartbeat, status];

const byName = new Map(entryKinds.map((kind) => [kind.kind, kind]));

/** Returns the `EntryKind` of an entry. */
export function kindOf(entry: ReportEntry): EntryKind<ReportEntry> {
  const kind = byName.get(entry.kind);
  if (kind === undefined) throw new Error(`no kind of entry ${entry.kind}`);
  return kind;
}

/** Returns the pulse of an extension before its first report. */
export function emptyPulse(vmId: string, name: string): PulseRow {
  return { vmId, name, ...handler.emptyPulse, ...heartbeat.emptyPulse, ...status.emptyPulse };
}

/**
 * Merges an entry into the state that pages show, or decides that it only belongs in the history. The entry's sequence
 * number must not be above the goal's.
 */
export const mergeEntry = (row: PulseRow, entry: ReportEntry, context: MergeContext): Merged =>
  kindOf(entry).merge(row, entry, context);
