'use client';

import type { ReactNode } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { DateTime, RelativeTime } from '#app/_ui/time.tsx';
import { HoldBanner } from './hold-banner.tsx';
import { SilentBanner } from './silent-banner.tsx';
import type { InstanceDetails, VmFacts } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';

export interface VmBannersProps {
  facts: VmFacts;
  view: InstanceDetails;
  onAct(act: VmAct): void;
}

/** Banners about the whole VM; renders nothing if there are none. */
export function VmBanners({ facts, view: { agent, pendingRestart }, onAct }: VmBannersProps) {
  const { t } = useTranslation('enrollment');
  const banners = [
    agent.duplicateSeenAt !== null && <DuplicateBanner key="duplicate" {...{ facts, agent, onAct }} />,
    agent.lastSeenAt !== null && ['unresponsive', 'unknown'].includes(agent.status) && (
      <SilentBanner key="silent" vmId={facts.id} agent={agent} />
    ),
    facts.needsRelease && (
      <BannerWithButton
        key="release"
        status="warning"
        needs="admin"
        label={t('release')}
        onClick={() => onAct({ kind: 'release' })}
      >
        {t('release.banner', { name: facts.name })}
      </BannerWithButton>
    ),
    ...agent.refusals.map((refusal) => <RefusalBanner key={refusal.code} name={facts.name} refusal={refusal} />),
    pendingRestart !== null && <RestartBanner key="restart" requests={pendingRestart.requests} />,
    agent.hold !== null && <HoldBanner key="hold" {...{ agent, hold: agent.hold, onAct }} />,
    facts.decommissioning && (
      <Banner key="end" boxed status="progressing">
        {t('decommissioning', { name: facts.name })}
      </Banner>
    ),
  ].filter(Boolean);
  return banners.length === 0 ? null : <div className="mb-4 grid gap-2">{banners}</div>;
}

type Agent = InstanceDetails['agent'];

interface BannerWithButtonProps {
  status: 'warning';
  /** The role that the button requires. Other readers see the banner without it. */
  needs: 'operator' | 'admin';
  label: string;
  onClick(): void;
  children: ReactNode;
}

function BannerWithButton({ status, needs, label, onClick, children }: BannerWithButtonProps) {
  const reader = useReader();
  const button = (
    <Button size="sm" onClick={onClick}>
      {label}
    </Button>
  );
  return (
    <Banner boxed status={status} actions={reader.can(needs) ? button : undefined}>
      {children}
    </Banner>
  );
}

/** Shown if a second machine uses the credential of this VM. */
function DuplicateBanner({ facts, agent, onAct }: { facts: VmFacts; agent: Agent; onAct(act: VmAct): void }) {
  const { t } = useTranslation('enrollment');
  const isStock = facts.agentKind === 'stock';
  return (
    <BannerWithButton
      status="warning"
      needs="operator"
      label={t(isStock ? 'stock.token' : 'token')}
      onClick={() => onAct({ kind: isStock ? 'stock' : 'token' })}
    >
      <Trans
        text={t(isStock ? 'duplicate.stock' : 'duplicate', { name: facts.name })}
        tags={{ time: <RelativeTime value={new Date(agent.duplicateSeenAt ?? 0)} /> }}
      />
    </BannerWithButton>
  );
}

/** Shown if calls by the agent or changes to the VM were rejected, or if old reports were deleted. */
function RefusalBanner({ name, refusal }: { name: string; refusal: Agent['refusals'][number] }) {
  const { t } = useTranslation('enrollment');
  const format = useFormat();
  const { code, at, limitBytes, keptFrom } = refusal;
  return (
    <Banner boxed status="warning">
      <Trans
        text={t(`refused.${code}`, { name, limit: format.number(Math.ceil((limitBytes ?? 0) / 1_048_576)) })}
        tags={{
          time: <RelativeTime value={new Date(at)} />,
          code: <code className="mono" />,
          from: <DateTime value={new Date(keptFrom ?? at)} />,
        }}
      />
    </Banner>
  );
}

function RestartBanner({ requests }: { requests: NonNullable<InstanceDetails['pendingRestart']>['requests'] }) {
  const { t } = useTranslation('enrollment');
  return (
    <Banner boxed status="waiting">
      <span className="font-medium">{t('restart')}</span>
      <span className="block">{t('restart.why')}</span>
      <ul className="mt-0.5 grid gap-1">
        {requests.map(({ handler, version, since }) => (
          <li key={`${handler}-${version}`} className="wrap-anywhere">
            <Trans
              text={t('restart.request', { handler: `${handler} ${version}` })}
              tags={{
                handler: <span translate="no" className="font-medium" />,
                time: <RelativeTime value={new Date(since)} />,
              }}
            />
          </li>
        ))}
      </ul>
    </Banner>
  );
}
