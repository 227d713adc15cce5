'use client';

import { useQuery } from '@tanstack/react-query';
import { Unplug, Wifi, WifiOff } from 'lucide-react';
import { useEffect } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useLive } from '../_lib/live/provider.tsx';
import { isSigningOut } from '../_lib/session.ts';
import { useTRPC } from '../_lib/trpc.tsx';
import { Banner } from '../_ui/banner.tsx';
import { Button } from '../_ui/button.tsx';
import { useTicking } from '../_ui/clock.ts';
import { cn } from '../_ui/cn.ts';
import { useFormat } from '../_ui/format.ts';

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
  if (live.phase === 'lost') return <LostBanner {...live} />;
  if (live.phase === 'back') return <BackBanner caughtUp={live.caughtUp} />;
  if (live.phase === 'signed-out') return <SignedOutBanner />;
  return <GatewayBanner />;
}

const gatewayMs = 5_000;

/** Shown if the portal cannot reach the gateway: the page becomes stale, but nothing is lost. */
function GatewayBanner() {
  const { t } = useTranslation('navigation');
  const trpc = useTRPC();
  const gateway = useQuery({ ...trpc.gateway.state.queryOptions(), refetchInterval: gatewayMs, retry: false });
  if (gateway.data?.away !== true) return null;
  return (
    <Banner status="warning" role="alert" icon={<Unplug aria-hidden className="size-4" />}>
      <span className="font-medium">{t('gateway.away.title')}</span> {t('gateway.away.why')}
    </Banner>
  );
}

function LostBanner({ since, retryAt, retryNow }: { since: number; retryAt: number | undefined; retryNow(): void }) {
  const { t } = useTranslation('navigation');
  const format = useFormat();
  const left = useTicking((now) => String(retryAt === undefined ? 0 : Math.max(0, Math.ceil((retryAt - now) / 1000))));
  const trying = retryAt === undefined || left === '0';
  return (
    <Banner
      status="warning"
      icon={<WifiOff aria-hidden className="size-4" />}
      actions={
        <Button size="sm" busy={trying} onClick={retryNow}>
          {t('live.lost.now')}
        </Button>
      }
    >
      <span className="font-medium">{t('live.lost.title')}</span>{' '}
      {t('live.lost.since', { time: format.dateTime(new Date(since), 'time') })}{' '}
      <span aria-hidden>{trying ? t('live.lost.trying') : t('live.lost.retry', { n: left })}</span>
    </Banner>
  );
}

function BackBanner({ caughtUp }: { caughtUp: number | undefined }) {
  const { t } = useTranslation('navigation');
  return (
    <Banner status="healthy" icon={<Wifi aria-hidden className="size-4" />}>
      {caughtUp === undefined ? t('live.back.everything') : t('live.back', { count: caughtUp })}
    </Banner>
  );
}

function signInAgain(): void {
  location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
}

function SignedOutBanner() {
  const { t } = useTranslation(['common', 'navigation']);
  // Redirects immediately, because the person at this browser may no longer be allowed to see the page.
  useEffect(() => {
    if (!isSigningOut()) signInAgain();
  }, []);
  return (
    <Banner
      status="warning"
      role="alert"
      actions={
        <Button size="sm" onClick={signInAgain}>
          {t('navigation:signIn')}
        </Button>
      }
    >
      <span className="font-medium">{t('common:signedOut.title')}.</span> {t('common:signedOut.why')}
    </Banner>
  );
}
