'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { type ConductorReport, conductorProblem, waitingSince } from './conductor.ts';
import { VariableNames } from './variable-names.tsx';

export interface BrokerBannerProps {
  report: ConductorReport;
  /** When the VM began to use AMQP; absent if the banner is about all VMs. */
  boundAt?: string;
}

/** Says why executions over AMQP wait, and what to do; renders nothing if plans can be sent. */
export function BrokerBanner({ report, boundAt }: BrokerBannerProps) {
  const { t } = useTranslation('executions');
  const reader = useReader();
  const problem = conductorProblem(report);
  if (problem === null) return null;
  return (
    <Banner boxed status="warning">
      <span className="block font-medium">
        <Trans text={t('channel.waiting')} tags={{ time: <DateTime value={waitingSince(problem.since, boundAt)} /> }} />
      </span>
      <span className="block text-ink-2">
        {reader.can('admin') ? (
          <>
            <VariableNames text={t(problem.id)} />{' '}
            <TextLink href="/settings/amqp">{t('channel.waiting.settings')}</TextLink>
          </>
        ) : (
          t(report.isRunning ? 'channel.waiting.broker' : 'channel.waiting.conductor')
        )}
      </span>
    </Banner>
  );
}
