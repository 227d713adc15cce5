import type { ConductorReport } from '#server/domain/executions/index.ts';

export type { ConductorReport, ExecutionChannel } from '#server/domain/executions/index.ts';

/** Interval in milliseconds at which the state of the connection is reloaded. */
export const conductorMs = 5_000;

/**
 * Returns why no execution plans can be sent over AMQP, as the key of a text, and when this began; null if they can be
 * sent.
 */
export function conductorProblem(report: ConductorReport | null | undefined) {
  if (report === null || report === undefined) return null;
  if (!report.isRunning) return { id: 'conductor.stopped', since: report.seenAt } as const;
  if (report.fault === null) return null;
  return { id: report.fault, since: report.faultSince ?? report.seenAt } as const;
}

/**
 * Returns since when the plans of a VM wait for the broker. Before the VM was bound to AMQP at `boundAt`, a problem of
 * the broker did not concern it.
 */
export const waitingSince = (problemSince: Date, boundAt: string | undefined): Date =>
  new Date(Math.max(problemSince.getTime(), boundAt === undefined ? 0 : Date.parse(boundAt)));
