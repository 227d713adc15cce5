'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { statusOfStep } from '#app/(portal)/rollouts/rollout-data.ts';
import type { Membership } from './memberships.ts';

/** The name of a ring in a sentence. */
export const ringTag = <b translate="no" className="font-semibold wrap-anywhere" />;

/** A link to a rollout in a sentence. */
export const rolloutTag = (id: string) => (
  <TextLink href={`/rollouts/${id}`} prefetch={false} translate="no" className="font-medium wrap-anywhere" />
);

/** One rollout of the VM: its ring and place in it, its state, and what it waits for. */
export function RolloutLine({ membership }: { membership: Membership }) {
  const { t } = useTranslation('memberships');
  const format = useFormat();
  const { rollout, ring, place, state, waitsFor } = membership;
  const values = {
    name: rollout.name,
    ring: ring.name,
    place: format.number(place + 1),
    size: format.number(ring.size),
  };
  return (
    <li className="flex min-h-[38px] gap-x-2.5 px-4 py-2 tabular-nums">
      <StatusIcon status={statusOfStep[state]} className="mt-[3px]" />
      <p className="min-w-0 text-pretty">
        <Trans text={t('in', values)} tags={{ rollout: rolloutTag(rollout.id), ring: ringTag }} />
        {'. '}
        <span className="text-ink-2">
          <Trans
            text={t(`says.${sayOf(membership)}`, { other: waitsFor?.name ?? '' })}
            tags={
              waitsFor === null ? {} : { other: waitsFor.kind === 'vm' ? vmTag(waitsFor.id) : rolloutTag(waitsFor.id) }
            }
          />
          <RolloutState state={rollout.state} />
        </span>
      </p>
    </li>
  );
}

const vmTag = (id: string) => (
  <TextLink href={`/vms/${id}`} prefetch={false} translate="no" className="font-medium wrap-anywhere" />
);

const shownStates = ['checking', 'scheduled', 'paused', 'aborting'] as const;

/** Says that the rollout itself does not continue at the moment. */
function RolloutState({ state }: { state: Membership['rollout']['state'] }) {
  const { t } = useTranslation('memberships');
  const shown = shownStates.find((each) => each === state);
  return shown === undefined ? null : <> {t(`rollout.${shown}`)}</>;
}

const says = ['queued', 'recalled', 'inFlight', 'soaking', 'retrying', 'reverting'] as const;
const parkedFor = ['silent', 'never-enrolled', 'on-hold', 'not-fetching'] as const;

/** Returns which sentence describes an undecided step. */
function sayOf({ state, cause, waitsFor }: Membership) {
  if (state !== 'parked') return says.find((each) => each === state) ?? ('queued' as const);
  if (cause === 'set-busy' || cause === 'vm-busy') {
    return waitsFor === null ? (`parked.${cause}` as const) : (`parked.${cause}.named` as const);
  }
  const reason = parkedFor.find((each) => each === cause);
  return reason === undefined ? ('parked' as const) : (`parked.${reason}` as const);
}
