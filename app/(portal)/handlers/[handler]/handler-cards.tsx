'use client';

import dynamic from 'next/dynamic';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card } from '#app/_ui/card.tsx';

/** The scripts that draw charts are fetched when the rest of the page is there; their boxes are there before. */
export const AdoptionCard = dynamic(() => import('./adoption-card.tsx').then((module) => module.AdoptionCard), {
  ssr: false,
  loading: () => <Waiting className="h-[358px]" word="adoption.loading" />,
});

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
