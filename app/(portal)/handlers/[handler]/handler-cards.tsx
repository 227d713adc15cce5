'use client';

import dynamic from 'next/dynamic';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card } from '#app/_ui/card.tsx';
import type { Handler } from './handler-data.ts';

// Loaded after the rest of the page, into an element that reserves its height.
const Chart = dynamic(() => import('./adoption-card.tsx').then((module) => module.AdoptionCard), {
  ssr: false,
  loading: () => <Waiting className="h-full" word="adoption.loading" />,
});

/** The adoption card, in an element that reserves its height. */
export function AdoptionCard({ handler }: { handler: Handler }) {
  return (
    <div className={handler.vms > 0 ? 'grid min-h-[320px] max-sm:min-h-[336px]' : 'grid min-h-24'}>
      <Chart handler={handler} />
    </div>
  );
}

export const UnknownCard = dynamic(() => import('./unknown-card.tsx').then((module) => module.UnknownCard), {
  ssr: false,
  loading: () => <Waiting className="h-28" word="unknown.loading" />,
});

function Waiting({ className, word }: { className: string; word: 'adoption.loading' | 'unknown.loading' }) {
  const { t } = useTranslation('packages');
  return (
    <Card aria-busy className={className}>
      <span className="sr-only">{t(word)}</span>
    </Card>
  );
}
