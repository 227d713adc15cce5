'use client';

import { Globe, Lock } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ShownCloudService, ShownDeployment } from '../model-data.ts';

/** The load-balancing sets of a deployment with their members, and whether the public address leads to them. */
export function SetsLine({ service, deployment }: { service: ShownCloudService; deployment: ShownDeployment }) {
  const { t } = useTranslation('models');
  const { slot, endpoints } = deployment;
  const sets = [...Map.groupBy(endpoints, (endpoint) => endpoint.set ?? '')].filter(([set]) => set !== '');
  const isReachable = endpoints.some(({ reachable }) => reachable);
  const Icon = isReachable ? Globe : Lock;
  return (
    <div className="flex flex-wrap items-center gap-x-5 gap-y-1 bg-sunken px-4 py-2 text-12 text-ink-2">
      <span className="inline-flex items-center gap-1.5">
        <Icon aria-hidden className="size-3.5 shrink-0 text-ink-3" />
        {isReachable && service.publicAddress !== null
          ? t('sets.at', { address: service.publicAddress })
          : t(slot === 'staging' ? 'sets.staging' : 'sets.closed')}
      </span>
      {sets.map(([set, members]) => (
        <span key={set} className="inline-flex items-baseline gap-1.5">
          <span translate="no" className="mono-11 text-ink">
            {members[0]?.name === 'ssh' || members[0]?.name === 'api' ? members[0].name : set}
          </span>
          {t('sets.members', { port: members[0]?.publicPort, protocol: members[0]?.protocol, count: members.length })}
        </span>
      ))}
    </div>
  );
}
