'use client';

import dynamic from 'next/dynamic';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useLive } from '../_lib/live/provider.tsx';
import { cn } from '../_ui/cn.ts';

/**
 * Loaded on every page while the portal responds, because it is needed when the portal no longer responds. A page whose
 * notices do not load works without them.
 */
export const LiveBanner = dynamic(
  () =>
    import('./live-notices.tsx').then(
      (module) => module.LiveNotices,
      () => () => null,
    ),
  { ssr: false },
);

const dots = {
  live: 'animate-breathe bg-healthy-solid ring-3 ring-healthy-tint motion-reduce:animate-none',
  connecting: 'bg-unknown-solid ring-3 ring-unknown-tint',
  lost: 'bg-warning-solid ring-3 ring-warning-tint',
};

/** Classes for a word that takes up space but is not visible or found by a search. `ps-4` fits the dot and its gap. */
const reserved = 'invisible ps-4 before:content-[attr(data-word)]';

/** A dot and a label in the top bar that show whether the page is up to date. */
export function LiveIndicator() {
  const { t } = useTranslation('navigation');
  const live = useLive();
  const shown = live.phase === 'back' ? 'live' : live.phase === 'signed-out' ? 'lost' : live.phase;
  const word = shown === 'live' ? t('live') : shown === 'lost' ? t('live.lost') : t('live.connecting');
  return (
    <span className="inline-grid h-(--control) items-center justify-items-end px-2 text-12 whitespace-nowrap text-ink-2 *:col-start-1 *:row-start-1">
      {/* Hidden labels that reserve the width, so that nothing moves once the page is live. */}
      <span aria-hidden data-word={t('live.connecting')} className={cn(reserved, 'max-sm:hidden')} />
      <span aria-hidden data-word={t('live')} className={reserved} />
      <span data-live={shown} className="inline-flex items-center gap-[9px]">
        <span aria-hidden className={cn('size-[7px] rounded-full', dots[shown])} />
        <span className={shown === 'live' ? undefined : 'max-sm:sr-only'}>{word}</span>
      </span>
    </span>
  );
}
