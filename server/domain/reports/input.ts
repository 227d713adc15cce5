import { z } from 'zod';
import type { MessageMatcher } from '#server/domain/localization/index.ts';
import { vmId } from '#server/domain/vms/input.ts';

/**
 * `report` is the parsed body of `POST /agent/v1/reports`. `receivedAt` is the time by the portal's clock when the
 * report had arrived completely. `counter` is the agent's call counter. `recover` restores dropped message ids, by
 * extension.
 */
export const ingestReportInput = z.object({
  vmId,
  report: z.unknown(),
  receivedAt: z.date(),
  counter: z.int().nonnegative().nullable().default(null),
  recover: z.custom<ReadonlyMap<string, MessageMatcher>>((given) => given instanceof Map).optional(),
});
export type IngestReportInput = z.input<typeof ingestReportInput>;

/** `cursor` is `nextCursor` of the previous page. */
export const listReportHistoryInput = z.object({
  vmId,
  extension: z.string().min(1).max(64).optional(),
  kind: z.enum(['handler', 'heartbeat', 'status']).optional(),
  limit: z.int().min(1).max(200).default(50),
  cursor: z.string().max(200).optional(),
});
export type ListReportHistoryInput = z.input<typeof listReportHistoryInput>;

export const listLatestReportsInput = z.object({ vmId, extension: z.string().min(1).max(64) });
export type ListLatestReportsInput = z.input<typeof listLatestReportsInput>;
