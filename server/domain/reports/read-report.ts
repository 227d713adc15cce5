import {
  type DocumentLimits,
  isPlainObject,
  jsonPointer,
  maxFaults,
  type ReportEnvelope,
  read,
  reportEnvelope,
} from '#protocol/index.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { recoveryBudget } from '#server/domain/localization/index.ts';
import { entryKinds, type ReportEntry } from './entries/index.ts';
import type { Reading, Recover, RejectedEntry } from './entries/reading.ts';

/** Optional fields. The entries are accepted even if these fields have faults. */
const optionalParts = ['agentTime', 'appliedEtag', 'periods', 'problems', 'pendingRestart'];

function readFrame(report: unknown): { envelope: ReportEnvelope | null; faults: Fault[] } {
  const frame = read(reportEnvelope, report);
  if ('value' in frame) return { envelope: frame.value, faults: [] };
  const wrong = new Set(frame.faults.map(({ path }) => path.split('/')[1] ?? ''));
  const rest = isPlainObject(report) ? Object.entries(report).filter(([name]) => !wrong.has(name)) : [];
  const fatal = !isPlainObject(report) || [...wrong].some((name) => !optionalParts.includes(name));
  return { envelope: fatal ? null : reportEnvelope.parse(Object.fromEntries(rest)), faults: frame.faults };
}

/**
 * Parses a report entry by entry. Returns the valid entries, and up to `maxFaults` faults of invalid entries and
 * optional fields. Throws 400 with the faults if a required field outside the entries is invalid, 413 for too many
 * entries.
 */
export function readReport(
  report: unknown,
  limits: DocumentLimits & { entries: number },
  recover: Recover = new Map(),
): { envelope: ReportEnvelope; entries: ReportEntry[]; refused: RejectedEntry[]; faults: Fault[] } {
  const { envelope, faults } = readFrame(report);
  const lists = isPlainObject(report) ? report : {};
  const count = entryKinds.reduce((sum, { list }) => sum + listOf(lists[list]).length, 0);
  if (count > limits.entries) {
    throw new DomainError('too_large', 'report_entries_too_many', { params: { limit: limits.entries } });
  }
  const reading: Reading = { limits, recover, room: recoveryBudget(), faults, refused: [] };
  const entries = entryKinds.flatMap(({ list, read: readEntry }) =>
    listOf(lists[list]).flatMap((raw, index) => readEntry(reading, raw, jsonPointer([list, index])) ?? []),
  );
  const shown = faults.slice(0, maxFaults);
  if (envelope === null) throw new DomainError('bad_request', 'report_invalid', { faults: shown });
  return { envelope, entries, refused: reading.refused, faults: shown };
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
