import { sql } from 'drizzle-orm';
import type { Holder } from '#server/domain/reservations/index.ts';
import { openSteps, type StepState } from '#server/domain/rollout-rules/words.ts';
import type { StepRow } from './pass.ts';
import { openStepsSql } from './state-lists.ts';

/** Returns the holder of what a rollout reserves. */
export const holderOf = (rolloutId: string): Holder => ({ kind: 'rollout', id: rolloutId });

/**
 * Whether the VM of a step may be out of service: the step is open, or its goal state stays declared although the VM was
 * parked, so that the agent may fetch it at any time.
 */
export const isOut = ({ state, incarnation }: Pick<StepRow, 'state' | 'incarnation'>): boolean =>
  (openSteps as readonly StepState[]).includes(state) || (state === 'parked' && incarnation !== null);

/** `isOut` for the step of a reservation `r`, in SQL. */
export const isOutSql = sql`exists (
  select from rollout_steps s where s.vm_id = r.vm_id and s.rollout_id::text = r.holder_id
    and (s.state in ${openStepsSql} or (s.state = 'parked' and s.incarnation is not null)))`;
