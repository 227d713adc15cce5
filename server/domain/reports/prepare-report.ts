import { type AgentProblem, periodBounds, type RestartRequestEntry } from '#protocol/index.ts';
import type { Context } from '#server/domain/context.ts';
import { pollSeconds } from '#server/domain/enrollment/index.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import type { ReportEntry } from './entries/index.ts';
import type { RejectedEntry } from './entries/reading.ts';
import { type IngestReportInput, ingestReportInput } from './input.ts';
import { readReport } from './read-report.ts';

/** The fields of a report besides its entries, in the form in which they are stored; null if absent. */
export interface ReportFrame {
  run: string | null;
  reportNumber: number | null;
  heartbeatSeconds: number | null;
  statusSeconds: number | null;
  /** The agent's clock minus the portal's, in seconds. */
  clockSkewSeconds: number | null;
  appliedEtag: string | null;
}

/** A parsed report: its valid parts, and the faults of its invalid entries and optional fields. */
export interface PreparedReport {
  vmId: string;
  receivedAt: Date;
  /** The agent's call counter; null if the agent sends none. */
  counter: number | null;
  frame: ReportFrame;
  entries: ReportEntry[];
  /** Entries whose files are invalid; their faults are included in `faults`. */
  refused: RejectedEntry[];
  problems: AgentProblem[];
  /** Undefined if the report does not mention restarts. */
  pendingRestart: RestartRequestEntry[] | undefined;
  faults: Fault[];
}

/**
 * Parses a report. Throws 400 with the faults if a required field outside the entries is invalid, 413 above the limits,
 * 403 if the caller is not this VM's agent.
 */
export function prepareReport(ctx: Context, input: IngestReportInput): PreparedReport {
  const { vmId, report, receivedAt, counter, recover } = parse(ingestReportInput, input, 'bad_request');
  if (ctx.actor.kind !== 'agent' || ctx.actor.id !== vmId) {
    throw new DomainError('forbidden', 'forbidden', { params: { role: 'agent' } });
  }
  const { envelope, entries, refused, faults } = readReport(report, ctx.config.limits.report, recover);
  const { periods, agentTime, appliedEtag, run, reportNumber, problems, pendingRestart } = envelope;
  const skew = agentTime === undefined ? null : Math.round((Date.parse(agentTime) - receivedAt.getTime()) / 1000);
  const frame = {
    run: run ?? null,
    reportNumber: reportNumber ?? null,
    heartbeatSeconds: period(periods?.heartbeatSeconds),
    statusSeconds: period(periods?.statusSeconds),
    // A machine's clock can show any time, but the column has a limited range.
    clockSkewSeconds: skew === null ? null : Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, skew)),
    appliedEtag: appliedEtag ?? null,
  };
  return { vmId, receivedAt, counter, frame, entries, refused, problems, pendingRestart, faults };
}

const period = (seconds: number | undefined): number | null =>
  seconds === undefined ? null : Math.round(Math.min(periodBounds.maximum, Math.max(periodBounds.minimum, seconds)));

/**
 * Returns the seconds until the agent's next call is expected: `polling` if it polls, `reporting` if it only reports.
 */
export function promisedSeconds({ heartbeatSeconds }: ReportFrame): { polling: number; reporting: number } {
  return { polling: pollSeconds, reporting: Math.max(pollSeconds, heartbeatSeconds ?? 0) };
}

/**
 * Whether a batch can store the report: it has no faults, problems or restart requests, at most one entry per kind and
 * extension, and no removal. Other reports are stored one by one.
 */
export function isPlain({ entries, problems, pendingRestart, faults }: PreparedReport): boolean {
  if (faults.length > 0 || problems.length > 0 || pendingRestart !== undefined) return false;
  const seen = new Set<string>();
  for (const entry of entries) {
    if (entry.kind === 'handler' && entry.report.state === 'removed') return false;
    seen.add(`${entry.kind} ${entry.name}`);
  }
  return seen.size === entries.length;
}
