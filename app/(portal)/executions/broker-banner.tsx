'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { type ConductorReport, conductorProblem } from './conductor.ts';

/** Says why executions over AMQP wait, and what to do; renders nothing if plans can be sent. */
export function BrokerBanner({ report }: { report: ConductorReport }) {
  const { t } = useTranslation('executions');
  const reader = useReader();
  const problem = conductorProblem(report);
  if (problem === null) return null;
  return (
    <Banner boxed status="warning">
      <span className="block font-medium">
        <Trans text={t('channel.waiting')} tags={{ time: <DateTime value={problem.since} /> }} />
      </span>
      <span className="block text-ink-2">
        {t(problem.id)}{' '}
        {reader.can('admin') ? <TextLink href="/settings/amqp">{t('channel.waiting.settings')}</TextLink> : null}
      </span>
    </Banner>
  );
}
