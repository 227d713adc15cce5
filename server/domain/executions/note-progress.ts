import type { z } from 'zod';
import { executionLimits, executionProgress } from '#protocol/executions/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { changeExecution, type ExecutionChange } from './change-execution.ts';
import { after, isOpen, nextProgressSeconds } from './execution.ts';
import type { ExecutionRow } from './rows.ts';

/**
 * Stores an agent's progress report: whether it has received the plan, whether the Body is running, and which calls
 * changed. Reports older than the stored state change nothing. Returns the seconds until the next report. Throws 404
 * `execution_unknown`, 413 `calls_too_many` and 409 `execution_concluded`; after 409, the agent ends the execution.
 */
export async function noteProgress(ctx: Context, vmId: string, id: string, input: unknown): Promise<number> {
  checkNumberOfCalls(input);
  const progress = parse(executionProgress, input, 'bad_request');
  return changeExecution(ctx, vmId, id, (row) => ({
    answer: nextProgressSeconds(ctx.now, row.begunAt, row.followedUntil),
    change: changeBy(progress, row, ctx.now),
  }));
}

/** Throws 413 `calls_too_many` for a report with more calls, or higher numbers of calls, than a Body can make. */
function checkNumberOfCalls(input: unknown): void {
  const { calls } = (input ?? {}) as { calls?: unknown };
  if (!Array.isArray(calls)) return;
  const { calls: limit } = executionLimits;
  const isBeyond = (call: unknown) => Number((call as { n?: unknown } | null)?.n) > limit;
  if (calls.length > limit || calls.some(isBeyond))
    throw new DomainError('too_large', 'calls_too_many', { params: { limit } });
}

/** Returns the change that a progress report makes; null if it contains nothing new. Throws if the execution ended. */
function changeBy(progress: z.output<typeof executionProgress>, row: ExecutionRow, now: Date): ExecutionChange | null {
  if (!isOpen(row.state)) throw new DomainError('conflict', 'execution_concluded');
  const isFirst = row.receivedAt === null;
  const receivedAt = row.receivedAt ?? now;
  if (progress.state === 'received') return isFirst ? { values: { receivedAt }, laneTakenAt: receivedAt } : null;
  const { run, calls = [] } = progress;
  if (run < row.run) return null;
  const begunAt = row.begunAt ?? new Date(now.getTime() - progress.sentMsAgo);
  const state = after(row.state, progress.state === 'running' ? 'run' : 'restart') ?? row.state;
  if (!isFirst && state === row.state && run === row.run && calls.length === 0) return null;
  const reboots = row.reboots + (state === 'restarting' && row.state !== 'restarting' ? 1 : 0);
  return {
    values: { state, receivedAt, run, begunAt, reboots },
    ...(isFirst && { laneTakenAt: begunAt }),
    ...(calls.length > 0 && { calls: [...new Map(calls.map((call) => [call.n, call])).values()] }),
  };
}
