'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import type { InstanceDetails } from '../vm-data.ts';
import { causeOf, type Membership } from './memberships.ts';
import { ringTag, rolloutTag } from './rollout-line.tsx';

export interface PartOfProps {
  view: InstanceDetails;
  memberships: readonly Membership[];
}

/** Names the rollout that the explained extension is a part of; renders nothing if there is none. */
export function PartOf({ view, memberships }: PartOfProps) {
  const { t } = useTranslation('memberships');
  const extension = view.extensions.find(({ name }) => name === view.explanation?.extension);
  const cause = extension && causeOf(memberships, extension, view.incarnation);
  if (cause === undefined) return null;
  const { rollout, ring } = cause;
  return (
    <p className="mt-1 text-12 text-ink-2">
      <Trans
        text={t('part', { name: rollout.name, ring: ring.name })}
        tags={{ rollout: rolloutTag(rollout.id), ring: ringTag }}
      />
    </p>
  );
}
