'use client';

import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime, Elapsed, RelativeTime } from '#app/_ui/time.tsx';
import { AgentChecks } from './agent-checks.tsx';
import type { InstanceDetails } from './vm-data.ts';

/** Shown if the agent is late or unresponsive: when it last called and, if unresponsive, what to run on the machine. */
export function SilentBanner({ vmId, agent }: { vmId: string; agent: InstanceDetails['agent'] }) {
  const { t } = useTranslation('enrollment');
  const seenAt = new Date(agent.lastSeenAt ?? 0);
  if (agent.status !== 'unresponsive') {
    return (
      <Banner boxed status="unknown">
        <Trans text={t('late')} tags={{ time: <RelativeTime value={seenAt} /> }} />
      </Banner>
    );
  }
  const tags = { time: <Elapsed use="since" value={seenAt} />, clock: <DateTime value={seenAt} /> };
  return (
    <Banner boxed status="unresponsive">
      <span className="block">
        <Trans text={t('silent')} tags={tags} />
      </span>
      <span className="mt-1 block text-12 text-ink-2">{t('silent.run')}</span>
      <AgentChecks kind={agent.kind} />
      <SilentTogether vmId={vmId} />
    </Banner>
  );
}

/** The other VMs whose agents stopped responding within the same minute; renders nothing if there are none. */
function SilentTogether({ vmId }: { vmId: string }) {
  const { t } = useTranslation('enrollment');
  const format = useFormat();
  const trpc = useTRPC();
  const { data } = useQuery({ ...trpc.instanceViews.silentTogether.queryOptions({ vmId }), retry: false });
  if (data === undefined || data.total === 0) return null;
  const rest = data.total - data.items.length;
  return (
    <span className="block text-12">
      {t('silent.together', { count: data.total, n: format.number(data.total) })}{' '}
      {data.items.map(({ id, name }, index) => (
        <Fragment key={id}>
          {index === 0 ? null : ', '}
          <TextLink href={`/vms/${id}`} translate="no" className="wrap-anywhere">
            {name}
          </TextLink>
        </Fragment>
      ))}
      {rest > 0 ? ` ${t('silent.together.more', { count: rest, n: format.number(rest) })}` : null}
    </span>
  );
}
