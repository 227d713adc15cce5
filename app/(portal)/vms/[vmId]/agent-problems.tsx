'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import type { InstanceDetails } from './vm-data.ts';

/** Problems that the agent reports, which often explain why an extension has not finished. */
export function AgentProblems({ problems }: { problems: NonNullable<InstanceDetails['agent']['problems']> }) {
  const { t } = useTranslation('reports');
  return (
    <Banner boxed status="warning" className="mt-4">
      <span className="font-medium">{t('problems')}</span>
      <ul className="mt-0.5 grid gap-1">
        {problems.map(({ about, message, at }) => (
          <li key={about} className="text-12">
            {/* The agent's text is English, but a file that it quotes may be in any language. */}
            <span lang="" translate="no" className="wrap-anywhere">
              {message}
            </span>{' '}
            <RelativeTime value={new Date(at)} className="whitespace-nowrap text-ink-2 tabular-nums" />
          </li>
        ))}
      </ul>
    </Banner>
  );
}
