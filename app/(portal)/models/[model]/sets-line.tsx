'use client';

import { Globe, Lock } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Status } from '#app/_ui/status.tsx';
import type { ShownCloudService, ShownDeployment, ShownTopology } from '../model-data.ts';

export interface SetsLineProps {
  service: ShownCloudService;
  deployment: ShownDeployment;
  /** Whether public addresses are served. */
  proxy: ShownTopology['proxy'];
}

/** The load-balancing sets of a deployment with their members, and whether the public address leads to them. */
export function SetsLine({ service, deployment, proxy }: SetsLineProps) {
  const { t } = useTranslation('models');
  const { slot, endpoints } = deployment;
  const sets = [...Map.groupBy(endpoints, (endpoint) => endpoint.set ?? '')].filter(([set]) => set !== '');
  const isOpen = endpoints.some(({ reachable }) => reachable) && service.publicAddress !== null;
  const Icon = isOpen && proxy === 'running' ? Globe : Lock;
  const faults = [...new Map(endpoints.flatMap((one) => (one.fault === null ? [] : [[one.publicPort, one]]))).values()];
  return (
    <div className="flex flex-wrap items-center gap-x-5 gap-y-1 rounded-ee-lg bg-sunken px-4 py-2 text-12 text-ink-2">
      <span className="inline-flex items-center gap-1.5">
        <Icon aria-hidden className="size-3.5 shrink-0 text-ink-3" />
        {slot === 'staging'
          ? t('sets.staging')
          : isOpen
            ? t(proxy === 'running' ? 'sets.at' : 'sets.recorded', { address: service.publicAddress })
            : t('sets.closed')}
      </span>
      {sets.map(([set, members]) => (
        <span key={set} className="inline-flex items-baseline gap-1.5">
          <span translate="no" className="mono-11 text-ink">
            {members[0]?.name === 'ssh' || members[0]?.name === 'api' ? members[0].name : set}
          </span>
          {t('sets.members', { port: members[0]?.publicPort, protocol: members[0]?.protocol, count: members.length })}
        </span>
      ))}
      {faults.map(({ publicPort, protocol, fault }) => (
        <Status key={publicPort} status="warning" className="text-12 whitespace-normal">
          {t(`sets.fault.${fault ?? 'other'}`, { port: publicPort, protocol })}
        </Status>
      ))}
    </div>
  );
}
