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
import { useFormat } from '../_ui/format.ts';

/**
 * Shows a banner if the live connection was lost or restored, or if the session ended. Otherwise, shows a banner if the
 * portal cannot reach the gateway.
 */
export function LiveNotices() {
  const live = useLive();
  if (live.phase === 'lost') return <LostBanner {...live} />;
  if (live.phase === 'back') return <BackBanner caughtUp={live.caughtUp} />;
  if (live.phase === 'signed-out') return <SignedOutBanner />;
  return <GatewayBanner />;
}

/** Shown after the live connection was restored. `caughtUp` is the number of missed changes, if it is known. */
function BackBanner({ caughtUp }: { caughtUp: number | undefined }) {
  const { t } = useTranslation('navigation');
  return (
    <Banner status="healthy" icon={<Wifi aria-hidden className="size-4" />}>
      {caughtUp === undefined ? t('live.back.everything') : t('live.back', { count: caughtUp })}
    </Banner>
  );
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

interface LostBannerProps {
  /** When the connection was lost, in milliseconds since 1970. */
  since: number;
  /** When the next attempt starts; undefined during an attempt. */
  retryAt: number | undefined;
  retryNow(): void;
}

/** Shown while the live connection is lost. */
function LostBanner({ since, retryAt, retryNow }: LostBannerProps) {
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

function signInAgain(): void {
  location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
}

/** Shown after the session ended. */
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
