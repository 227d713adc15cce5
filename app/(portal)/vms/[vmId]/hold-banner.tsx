'use client';

import { Pause } from 'lucide-react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { DateTime, Elapsed } from '#app/_ui/time.tsx';
import type { InstanceDetails } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';

interface HoldBannerProps {
  agent: InstanceDetails['agent'];
  hold: NonNullable<InstanceDetails['agent']['hold']>;
  onAct(act: VmAct): void;
}

/** The hold of a VM: who set it and why, its start and end, and its effect. */
export function HoldBanner({ agent, hold: { at, by, reason, until }, onAct }: HoldBannerProps) {
  const { t } = useTranslation('enrollment');
  const reader = useReader();
  const tags = {
    time: <Elapsed use="since" value={new Date(at)} />,
    until: <DateTime value={new Date(until ?? at)} className="whitespace-nowrap" />,
    who: <span translate="no" />,
    reason: <span lang="" translate="no" />,
  };
  const acts = (
    <span className="flex flex-wrap gap-2">
      <Button size="sm" onClick={() => onAct({ kind: 'hold' })}>
        {t('hold.change')}
      </Button>
      <Button size="sm" onClick={() => onAct({ kind: 'release-hold' })}>
        {t('hold.release')}
      </Button>
    </span>
  );
  return (
    <Banner
      boxed
      status="waiting"
      icon={<Pause aria-hidden className="size-4" />}
      actions={reader.can('operator') ? acts : undefined}
    >
      <span className="block font-medium wrap-anywhere">
        <Trans text={t(reason === null ? 'hold.banner' : 'hold.banner.reason', { reason })} tags={tags} />
      </span>
      <span className="block text-ink-2">
        <Trans text={t(until === null ? 'hold.since' : 'hold.since.until', { who: by })} tags={tags} />{' '}
        {t(agent.kind === 'stock' ? 'hold.means.stock' : 'hold.means')}
      </span>
    </Banner>
  );
}
