import type { Logger } from 'pino';
import { systemActor } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type ErrorCode } from '#server/domain/error.ts';
import { household } from '#server/platform/household.ts';
import { createThrottle, LockedOut } from './throttle.ts';

const hour = 3_600_000;

/** Failed attempts since the portal process started. */
export interface AttemptCounts {
  since: Date;
  /** Wrong passwords, rejected factors and rejected provider responses. */
  failed: number;
  /** Number of times a member or an address was temporarily locked out. */
  lockouts: number;
  /** Calls to `/api/v1` with an invalid token. */
  tokens: number;
}

/** Counts and logs failed authentication of people and scripts. Never logs secrets or entered email addresses. */
export interface Attempts {
  /** Counts a call's error if it is a failed attempt. Ignores other errors and errors that were already counted. */
  note(error: unknown, ctx: Caller, memberId?: string): Promise<void>;
  /** Counts a provider response that did not sign anyone in. */
  provider(reason: string, address: string): void;
  counts(): AttemptCounts;
}

type Caller = Pick<Context, 'db' | 'keys' | 'now' | 'origin' | 'requestId'>;

const failures: readonly ErrorCode[] = ['credentials_refused', 'factor_refused', 'password_wrong', 'passkey_refused'];

/**
 * Maximum number of lockouts recorded in the activity log per hour. Without this limit, an attacker with many addresses
 * could fill the log.
 */
const entriesPerHour = 20;

export function openAttempts(log: Logger, since = new Date()): Attempts {
  const counts: AttemptCounts = { since, failed: 0, lockouts: 0, tokens: 0 };
  const entries = createThrottle(entriesPerHour, hour);
  const noted = new WeakSet<Error>();

  async function lockedOut(error: LockedOut, ctx: Caller, memberId: string | undefined): Promise<void> {
    if (!error.isFirst) return;
    counts.lockouts += 1;
    const address = ctx.origin.address;
    log.warn({ address, memberId, seconds: error.retryAfter }, 'too many failed attempts: locked out for a while');
    try {
      entries.take('all', ctx.now);
    } catch {
      return;
    }
    const from = household(address ?? 'unknown');
    await ctx.db.transaction(async (tx) => {
      await recordAudit(
        tx,
        { ...ctx, actor: systemActor },
        {
          action: 'sign-in.lock-out',
          target: memberId === undefined ? { kind: 'sign-in', id: from } : { kind: 'member', id: memberId },
          details: { address: from, seconds: error.retryAfter ?? 0 },
        },
      );
      await recordChange(tx, 'act', '');
    });
  }

  return {
    async note(error, ctx, memberId) {
      if (!(error instanceof DomainError) || noted.has(error)) return;
      noted.add(error);
      const { address } = ctx.origin;
      if (error instanceof LockedOut) await lockedOut(error, ctx, memberId);
      else if (error.code === 'token_refused') {
        counts.tokens += 1;
        log.warn({ address }, 'an API token was rejected');
      } else if (failures.includes(error.code)) {
        counts.failed += 1;
        log.warn({ address, memberId, reason: error.code }, 'a sign-in or confirmation failed');
      }
    },
    provider(reason, address) {
      counts.failed += 1;
      log.warn({ address, reason }, 'a sign-in through the provider was rejected');
    },
    counts: () => ({ ...counts }),
  };
}
