import type { Logger } from 'pino';
import { v4 as randomId } from 'uuid';
import type { Transaction } from '#db/client.ts';
import type { rolloutSteps } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { type Context, type Services, systemOrigin } from '#server/domain/context.ts';
import { moveCount } from '#server/domain/rollout-rules/counts.ts';
import type { Freeze, RingCounts, RingDefinition, RolloutRules } from '#server/domain/rollout-rules/stored.ts';
import type { StepState } from '#server/domain/rollout-rules/words.ts';
import type { StoredRing, StoredRollout } from '../rows.ts';

export type StepRow = typeof rolloutSteps.$inferSelect;

/** What passes need of a process. */
export type PassServices = Services & { log: Logger };

/** A ring during a pass: its row, and its counts and order as far as the pass changed them. */
export interface PassRing {
  row: StoredRing;
  definition: RingDefinition;
  counts: RingCounts;
  taken: number;
}

/** Maximum number of parked members that one pass looks at, unless a test says otherwise. */
export interface PassLimits {
  parkedAtOnce: number;
}

/** One look at a rollout whose row this transaction has locked. */
export interface Pass extends PassLimits {
  tx: Transaction;
  /** The rollout is the actor. */
  ctx: Context;
  row: StoredRollout;
  rings: PassRing[];
  rules: RolloutRules;
  freezes: Freeze[];
  /** The changed steps, by VM, until they are written. */
  changed: Map<string, StepRow>;
  /** Whether a step began or was decided. */
  hasProgress: boolean;
  /** Whether there is more to do immediately. */
  hasMore: boolean;
  /** Whether steps must be judged that this pass cannot judge, so that the counts are not current. */
  isBehind: boolean;
}

/** Returns the context in which the portal acts for a rollout. */
export function contextOf(
  services: PassServices,
  { id, name }: Pick<StoredRollout, 'id' | 'name'>,
  now: Date,
): Context {
  return {
    ...services,
    actor: { kind: 'system', id: `rollout/${id}`, name, role: 'admin', namespaces: [] },
    origin: systemOrigin,
    now,
    requestId: randomId(),
  };
}

/** Returns the ring of a step. */
export function ringAt({ rings }: Pick<Pass, 'rings'>, ring: number): PassRing {
  const found = rings[ring];
  if (found === undefined) throw new RangeError(`the rollout has no ring ${ring}`);
  return found;
}

const endStates: ReadonlySet<StepState> = new Set(['succeeded', 'failed', 'reverted', 'stuck', 'overtaken', 'gone']);

/** Notes the new values of a step, and counts its member. `from` is the state before; null without a step. */
export function setStep(pass: Pass, from: StepState | null, step: StepRow): void {
  pass.changed.set(step.vmId, step);
  countStep(pass, from, step);
}

/** Counts the member of a step that is written already. */
export function countStep(pass: Pass, from: StepState | null, step: StepRow): void {
  if (from === step.state) return;
  const ring = ringAt(pass, step.ring);
  ring.counts = moveCount(ring.counts, from, step.state);
  if (endStates.has(step.state) || step.state === 'inFlight') pass.hasProgress = true;
}

/** Records what the portal did in a rollout. */
export async function recordPass(
  { tx, ctx, row }: Pass,
  action: 'rollout.halt' | 'rollout.ring-open' | 'rollout.ring-pass' | 'rollout.finish' | 'rollout.batch',
  details: Record<string, unknown>,
): Promise<void> {
  await recordAudit(tx, ctx, {
    action,
    target: { kind: 'rollout', id: row.id },
    details: { name: row.name, rolloutKind: row.kind, ...details },
  });
}
