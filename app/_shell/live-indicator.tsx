'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useEffect } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useLive } from '../_lib/live/provider.tsx';
import { useTRPC } from '../_lib/trpc.tsx';
import { cn } from '../_ui/cn.ts';

const loadNotices = () => import('./live-notices.tsx');
const BackBanner = dynamic(() => loadNotices().then((module) => module.BackBanner), { ssr: false });
const GatewayAwayBanner = dynamic(() => loadNotices().then((module) => module.GatewayAwayBanner), { ssr: false });
const LostBanner = dynamic(() => loadNotices().then((module) => module.LostBanner), { ssr: false });
const SignedOutBanner = dynamic(() => loadNotices().then((module) => module.SignedOutBanner), { ssr: false });

const dots = {
  live: 'animate-breathe bg-healthy-solid ring-3 ring-healthy-tint motion-reduce:animate-none',
  connecting: 'bg-unknown-solid ring-3 ring-unknown-tint',
  lost: 'bg-warning-solid ring-3 ring-warning-tint',
};

/** Classes for a word that takes up space but is not visible or found by a search. `ps-4` is the dot and its gap. */
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
      <span className="inline-flex items-center gap-[9px]">
        <span aria-hidden className={cn('size-[7px] rounded-full', dots[shown])} />
        <span className={shown === 'live' ? undefined : 'max-sm:sr-only'}>{word}</span>
      </span>
    </span>
  );
}

/**
 * Shows a banner if the live connection was lost or restored, or if the session ended. Otherwise, shows a banner if the
 * portal cannot reach the gateway.
 */
export function LiveBanner() {
  const live = useLive();
  // Loads the banners while the portal responds, because they appear when it no longer responds.
  useEffect(() => void loadNotices().catch(() => {}), []);
  if (live.phase === 'lost') return <LostBanner {...live} />;
  if (live.phase === 'back') return <BackBanner caughtUp={live.caughtUp} />;
  if (live.phase === 'signed-out') return <SignedOutBanner />;
  return <GatewayBanner />;
}

const gatewayMs = 5_000;

/** Shown if the portal cannot reach the gateway: the page becomes stale, but nothing is lost. */
function GatewayBanner() {
  const trpc = useTRPC();
  const gateway = useQuery({ ...trpc.gateway.state.queryOptions(), refetchInterval: gatewayMs, retry: false });
  if (gateway.data?.away !== true) return null;
  return <GatewayAwayBanner />;
}
