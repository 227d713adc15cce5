import type { inferRouterOutputs } from '@trpc/server';
import { decidedSteps, endedStates, exemptSteps, openSteps } from '#server/domain/rollout-rules/words.ts';
import type { AppRouter } from '#server/trpc/root.ts';

/** A rollout in which a VM is or was a member, with its place and its step. */
export type Membership = inferRouterOutputs<AppRouter>['rollouts']['ofVm']['items'][number];

/** Memberships that the server rendered, and when they were read (milliseconds since 1970). */
export interface ReadMemberships {
  data: { items: Membership[] };
  readAt: number;
}

type Subject = Pick<Membership, 'rollout' | 'state'>;

const isOneOf = (words: readonly string[], word: string): boolean => words.includes(word);
const finalSteps = [...decidedSteps, ...exemptSteps.filter((state) => state !== 'parked')];

/** Whether the rollout can still change the VM, or waits to see what becomes of its change. */
export const isUndecided = ({ rollout, state }: Subject): boolean =>
  !isOneOf(endedStates, rollout.state) && !isOneOf(finalSteps, state);

/**
 * Whether the rollout changes this extension. A rollout without a name changes every extension of its handler, and one
 * that runs a runbook changes none.
 */
export const changes = (
  { rollout }: Pick<Membership, 'rollout'>,
  { handler, name }: { handler: string; name: string | null },
): boolean =>
  rollout.runbook === null &&
  (rollout.handler === null || rollout.handler === handler) &&
  (rollout.extension === null || name === null || rollout.extension === name);

/**
 * Returns the rollout that the state of an extension belongs to: one whose step is open, or one whose failed step
 * published the VM's current goal state.
 */
export function causeOf(
  memberships: readonly Membership[],
  extension: { handler: string; name: string },
  incarnation: number,
): Membership | undefined {
  return memberships.find(
    (one) =>
      changes(one, extension) &&
      (isOneOf(openSteps, one.state) ||
        (one.state !== 'succeeded' && isOneOf(decidedSteps, one.state) && one.incarnation === incarnation)),
  );
}
