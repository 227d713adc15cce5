import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

/** Why an extension has its version. */
export type VersionReasons = inferRouterOutputs<AppRouter>['rollouts']['whyThisVersion'];
export type VersionCandidate = VersionReasons['candidates'][number];
export type Held = VersionCandidate['held'];

const changing = ['inFlight', 'soaking', 'retrying', 'reverting'];

/** Returns which sentence describes a hold. */
export function sentenceOf({ code, fault, step }: NonNullable<Held>) {
  if (code === 'secrets') return fault === 'secrets_need_release' ? ('secrets.release' as const) : code;
  if (code === 'refused') return fault === 'vm_decommissioning' ? ('decommissioning' as const) : code;
  if (code !== 'turn' || step === null) return code;
  if (step.state === 'parked') return 'turn.parked' as const;
  return changing.includes(step.state) ? ('turn.now' as const) : code;
}

type StepState = NonNullable<NonNullable<Held>['step']>['state'];
const named = ['succeeded', 'failed', 'reverted', 'stuck', 'overtaken', 'skipped', 'gone', 'unreached'] as const;

/** Returns the word for the state of a step that has ended; `open` if it has not. */
export const endOf = (state: StepState) => named.find((each) => each === state) ?? ('open' as const);
