'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { DateTime, Elapsed, RelativeTime } from '#app/_ui/time.tsx';
import type { InstanceView, VmFacts } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';

export interface VmBannersProps {
  facts: VmFacts;
  view: InstanceView;
  onAct(act: VmAct): void;
}

/** What concerns the whole VM: a duplicate machine, a silent agent, rejected calls, withheld secrets, a pending restart, a hold, a decommissioning. */
export function VmBanners({ facts, view: { agent, pendingRestart }, onAct }: VmBannersProps) {
  const { t } = useTranslation('enrollment');
  const reader = useReader();
  const format = useFormat();
  const silent = agent.status === 'unresponsive';
  const heard = agent.lastSeenAt === null ? null : new Date(agent.lastSeenAt);
  const isStock = facts.agentKind === 'stock';
  const duplicate = agent.duplicateSeenAt === null ? null : new Date(agent.duplicateSeenAt);
  const stack = [
    duplicate !== null && (
      <Banner
        key="duplicate"
        boxed
        status="warning"
        actions={
          reader.can('operator') ? (
            <Button size="sm" onClick={() => onAct({ kind: isStock ? 'stock' : 'token' })}>
              {t(isStock ? 'stock.token' : 'token')}
            </Button>
          ) : undefined
        }
      >
        <Trans
          text={t(isStock ? 'duplicate.stock' : 'duplicate', { name: facts.name })}
          tags={{ time: <RelativeTime value={duplicate} /> }}
        />
      </Banner>
    ),
    heard !== null && (silent || agent.status === 'unknown') && (
      <Banner key="silent" boxed status={silent ? 'unresponsive' : 'unknown'}>
        <Trans
          text={t(silent ? 'silent' : 'late')}
          tags={{ time: silent ? <Elapsed value={heard} /> : <RelativeTime value={heard} /> }}
        />
      </Banner>
    ),
    facts.needsRelease && (
      <Banner
        key="release"
        boxed
        status="warning"
        actions={
          reader.can('admin') ? (
            <Button size="sm" onClick={() => onAct({ kind: 'release' })}>
              {t('release')}
            </Button>
          ) : undefined
        }
      >
        {t('release.banner', { name: facts.name })}
      </Banner>
    ),
    ...agent.refusals.map(({ code, at, limitBytes, keptFrom }) => (
      <Banner key={code} boxed status="warning">
        <Trans
          text={t(`refused.${code}`, {
            name: facts.name,
            limit: format.number(Math.ceil((limitBytes ?? 0) / 1_048_576)),
          })}
          tags={{
            time: <RelativeTime value={new Date(at)} />,
            code: <code className="mono" />,
            from: <DateTime value={new Date(keptFrom ?? at)} />,
          }}
        />
      </Banner>
    )),
    pendingRestart !== null && <RestartBanner key="restart" requests={pendingRestart.requests} />,
    agent.hold !== null && (
      <Banner
        key="hold"
        boxed
        status="waiting"
        actions={
          reader.can('operator') ? (
            <Button size="sm" onClick={() => onAct({ kind: 'stock-hold', onHold: false })}>
              {t('stock.release')}
            </Button>
          ) : undefined
        }
      >
        <Trans
          text={t('stock.held', { name: facts.name, who: agent.hold.by })}
          tags={{ time: <Elapsed value={new Date(agent.hold.at)} /> }}
        />
      </Banner>
    ),
    facts.decommissioning && (
      <Banner key="end" boxed status="progressing">
        {t('decommissioning', { name: facts.name })}
      </Banner>
    ),
  ].filter(Boolean);
  return stack.length === 0 ? null : <div className="mb-4 grid gap-2">{stack}</div>;
}

function RestartBanner({ requests }: { requests: NonNullable<InstanceView['pendingRestart']>['requests'] }) {
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
