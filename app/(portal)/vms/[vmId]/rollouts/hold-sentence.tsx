'use client';

import type { inferRouterOutputs } from '@trpc/server';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import { rolloutTag } from './rollout-line.tsx';

/** Why an extension has its version. */
export type VersionReasons = inferRouterOutputs<AppRouter>['rollouts']['whyThisVersion'];
export type VersionCandidate = VersionReasons['candidates'][number];
type Held = VersionCandidate['held'];

/** What holds back a newer version, as a sentence. */
export function HoldSentence({ held }: { held: Held }) {
  const { t } = useTranslation('memberships');
  if (held === null) return t('version.held.none');
  const { rollout, version, fault, step } = held;
  const state = step === null ? '' : t(`state.${stateOf(step.state)}`);
  const values = { name: rollout?.name ?? '', version: version ?? '', code: fault ?? '', state };
  const text = t(`version.held.${sentenceOf(held)}`, values);
  return <Trans text={text} tags={rollout === null ? {} : { rollout: rolloutTag(rollout.id) }} />;
}

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
const stateOf = (state: StepState) => named.find((each) => each === state) ?? ('open' as const);
