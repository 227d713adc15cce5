'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { changes, isUndecided, type ReadMemberships } from '../../rollouts/memberships.ts';
import { rolloutTag } from '../../rollouts/rollout-line.tsx';
import { useMemberships } from '../../rollouts/use-memberships.ts';

export interface RolloutNoticeProps {
  vmId: string;
  handler: string;
  /** The edited extension; null for a new one. */
  name: string | null;
  first: ReadMemberships | undefined;
}

/** Warns of each open rollout that changes this extension, because an edit takes the VM out of it. */
export function RolloutNotice({ vmId, handler, name, first }: RolloutNoticeProps) {
  const { t } = useTranslation('memberships');
  const list = useMemberships(vmId, first);
  const open = list.data?.items.filter((one) => isUndecided(one) && changes(one, { handler, name })) ?? [];
  return open.map(({ rollout }) => (
    <Banner key={rollout.id} boxed status="warning" className="mb-4">
      <Trans text={t('editor', { name: rollout.name })} tags={{ rollout: rolloutTag(rollout.id) }} />
    </Banner>
  ));
}
