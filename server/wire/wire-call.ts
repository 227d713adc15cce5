import type { AgentAnswer, AgentCall } from '#server/agent-api/call.ts';
import { contextOf } from '#server/agent-api/call.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import type { StockGoalState } from '#server/domain/stock-agents/index.ts';
import type { Guest } from './guest.ts';
import { orAfterTimeout } from './or-after-timeout.ts';

/** An accepted call. `path` and `query` are those that the agent requested. */
export interface WireCall {
  call: AgentCall;
  ctx: Context;
  guest: Guest;
  path: string;
  query: URLSearchParams;
}

export function wireCall(call: AgentCall, guest: Guest, path: string, query: string): WireCall {
  return { call, ctx: contextOf(call, guest.agent), guest, path, query: new URLSearchParams(query) };
}

/**
 * Returns the current goal state. `least` is an incarnation that another process may have delivered; if possible, the
 * result is at least that recent. Throws 403 if the VM no longer has stock agent access.
 */
export async function currentOf({ guest, ctx }: WireCall, least = 0): Promise<StockGoalState> {
  const known = guest.known(least);
  if (known !== null) return known;
  const loading = guest.current(ctx, least);
  // While the database is unavailable, a stale goal state is better than none.
  const before = guest.goalState;
  const goalState = await (before === null ? loading : orAfterTimeout(loading, before).catch(() => before));
  if (goalState === null) throw new DomainError('forbidden', 'wire_refused');
  return goalState;
}

/**
 * Reads a body. As with reports, one VM's concurrent bodies may together take at most an eighth of `waiting.bytes`, so
 * that a VM that sends many bodies slowly cannot fill the memory. Above this share, throws 503 while another body of
 * the VM is being read.
 */
export async function readBody({ call, ctx, guest }: WireCall, limit: number): Promise<Buffer> {
  const length = call.header('content-length');
  const bytes = length === null ? limit : Math.min(limit, Number(length));
  if (guest.arriving > 0 && guest.arriving + bytes > ctx.config.limits.waiting.bytes / 8) {
    throw new DomainError('unavailable', 'reports_too_many', { params: { seconds: 5 }, retryAfter: 5 });
  }
  guest.arriving += bytes;
  try {
    return await call.readBytes(limit);
  } finally {
    guest.arriving -= bytes;
  }
}

export const xmlAnswer = (body: string): AgentAnswer => ({
  status: 200,
  headers: ['content-type', 'text/xml; charset=utf-8', 'cache-control', 'no-store'],
  body,
});

export const jsonAnswer = (value: unknown): AgentAnswer => ({
  status: 200,
  headers: ['content-type', 'application/json', 'cache-control', 'no-store'],
  body: JSON.stringify(value),
});

/** An empty response, of which the agent reads only the status. */
export const emptyAnswer = (status: number): AgentAnswer => ({ status, headers: [], body: '' });

/** A response that the agent treats as permanent, so it does not retry immediately. */
export const absent = (): AgentAnswer => emptyAnswer(404);

/**
 * Milliseconds after which the agent gets a response, even if what it sent is not stored yet. The agent sends it again
 * later.
 */
const longestMs = 3_000;

/** Waits a limited time for the work. Logs errors instead of returning them to the agent. */
export async function soon({ call, ctx, guest }: WireCall, what: string, work: Promise<void>): Promise<void> {
  const timer = Promise.withResolvers<void>();
  const timeout = setTimeout(timer.resolve, longestMs);
  const done = work.catch((error: unknown) => {
    const facts = { what, vmId: guest.vmId, requestId: ctx.requestId };
    if (!(error instanceof DomainError)) call.door.log.warn({ ...facts, err: error }, 'a call of a stock agent failed');
    else
      call.door.log.info({ ...facts, code: error.code, faults: error.faults }, 'a call of a stock agent was rejected');
  });
  await Promise.race([done, timer.promise]);
  clearTimeout(timeout);
}
