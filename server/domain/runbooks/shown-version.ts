import { z } from 'zod';
import { count, sha256, time } from '#server/domain/answers.ts';
import { secretNames } from './parameters.ts';
import type { RunbookVersionRow } from './rows.ts';
import { versionStates } from './runbook.ts';

/** A version of a runbook without its plan. */
export const runbookVersionSummary = z.object({
  runbook: z.string(),
  version: z.string(),
  state: z.enum(versionStates),
  title: z.string(),
  description: z.string(),
  parameters: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('JSON Schema of the parameters; null if the runbook accepts none.'),
  secretParameters: z.array(z.string()).describe('The names of the parameters that must be in `secretParameters`.'),
  timeoutSeconds: count,
  validForSeconds: count,
  sha256,
  savedAt: time,
  savedBy: z.string(),
  publishedAt: time.nullable(),
  publishedBy: z.string().nullable(),
  withdrawnAt: time.nullable(),
  withdrawnReason: z.string().nullable(),
});
export type RunbookVersionSummary = z.infer<typeof runbookVersionSummary>;

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;

export function summaryOf(row: RunbookVersionRow): RunbookVersionSummary {
  const { runbook, version, state, title, description, parameters } = row;
  return {
    ...{ runbook, version, state, title, description, parameters },
    secretParameters: [...secretNames(parameters)],
    ...{ timeoutSeconds: row.timeoutSeconds, validForSeconds: row.validForSeconds, sha256: row.sha256 },
    ...{ savedAt: row.savedAt.toISOString(), savedBy: row.savedBy },
    ...{ publishedAt: iso(row.publishedAt), publishedBy: row.publishedBy },
    ...{ withdrawnAt: iso(row.withdrawnAt), withdrawnReason: row.withdrawnReason },
  };
}
