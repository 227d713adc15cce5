'use client';

import { Ellipsis } from 'lucide-react';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import { IconButton } from '#app/_ui/button.tsx';
import { cn } from '#app/_ui/cn.ts';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import { Num } from '#app/_ui/num.tsx';
import { Td, Tr } from '#app/_ui/table.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { hasOlderOnVms, rollOutAddress } from '../roll-out.ts';
import { VersionState } from '../version-state.tsx';
import { FailuresCell } from './failures-cell.tsx';
import type { Handler } from './handler-data.ts';
import { type Series, seriesFill } from './series.ts';
import { ShareCell } from './share-cell.tsx';

export type HandlerVersion = Handler['versions'][number];

export interface VersionRowProps {
  handler: Handler;
  version: HandlerVersion;
  series: Series;
  mayPublish: boolean;
  onAsk(act: 'withdraw' | 'delete'): void;
}

export function VersionRow({ handler, version, series, mayPublish, onAsk }: VersionRowProps) {
  const { t } = useTranslation('packages');
  const address = `/handlers/${handler.handler}/${version.version}`;
  const released = version.publishedAt;
  return (
    <Tr>
      <Td className="tabular-nums">
        <span
          aria-hidden
          className={cn(
            'me-2 inline-block size-2 rounded-[2px] align-baseline',
            version.vms > 0 ? seriesFill[series] : 'shadow-hair',
          )}
        />
        <Link href={address} className="rounded-xs font-medium hover:underline">
          {version.version}
        </Link>
      </Td>
      <Td className={version.withdrawnReason ? 'py-1' : undefined}>
        <VersionState state={version.state} />
        {version.withdrawnReason ? (
          <span
            className="block max-w-48 truncate ps-[21px] text-12 text-ink-3 max-sm:max-w-36 max-sm:whitespace-normal"
            title={version.withdrawnReason}
          >
            {version.withdrawnReason}
          </span>
        ) : null}
      </Td>
      {handler.kind === 'formula' ? null : <VmCells handler={handler} version={version} series={series} />}
      <Td end className="text-ink-2 max-sm:hidden">
        {released === null ? (
          mayPublish && version.state === 'draft' ? (
            <Link href={address} className="rounded-xs text-brand-text hover:underline">
              {t('finish')}
            </Link>
          ) : null
        ) : (
          <DateTime value={new Date(released)} style="date" />
        )}
      </Td>
      <Td end>
        <VersionActs {...{ handler, version, mayPublish, onAsk }} address={address} />
      </Td>
    </Tr>
  );
}

/** The cells about the VMs that have the version. */
function VmCells({ handler, version, series }: Pick<VersionRowProps, 'handler' | 'version' | 'series'>) {
  const { t } = useTranslation('packages');
  const share = handler.vms === 0 ? 0 : version.vms / handler.vms;
  return (
    <>
      <Td end>
        <VmCount handler={handler.handler} version={version} />
      </Td>
      <Td end className="max-xl:hidden">
        {version.running > 0 ? (
          <Link
            href={vmsAddress({ handler: handler.handler, running: version.version })}
            data-count={version.running}
            className="rounded-xs hover:underline"
          >
            <Num value={version.running} />
            <span className="sr-only"> {t('fact.vms', { count: version.running })}</span>
          </Link>
        ) : version.vms > 0 ? (
          <Num value={0} />
        ) : null}
      </Td>
      <Td className="max-md:hidden">
        {version.vms > 0 ? <ShareCell version={version.version} share={share} series={series} /> : null}
      </Td>
      <Td end className="max-lg:hidden">
        <FailuresCell handler={handler.handler} version={version} />
      </Td>
    </>
  );
}

function VersionActs({
  handler,
  version,
  mayPublish,
  onAsk,
  address,
}: Omit<VersionRowProps, 'series'> & { address: string }) {
  const { t } = useTranslation('packages');
  const router = useRouter();
  const before = handler.versions[handler.versions.indexOf(version) + 1];
  return (
    <LazyMenu
      trigger={
        <IconButton size="sm" label={t('versions.acts', { version: version.version })}>
          <Ellipsis aria-hidden />
        </IconButton>
      }
    >
      {({ MenuItem, MenuSeparator }) => (
        <>
          <MenuItem onSelect={() => router.push(address)}>{t('act.open')}</MenuItem>
          {before === undefined ? null : (
            <MenuItem onSelect={() => router.push(compareAddress(handler.handler, before, version))}>
              {t('act.compare', { version: before.version })}
            </MenuItem>
          )}
          {version.state === 'published' && hasOlderOnVms(handler.versions, version.version) ? (
            <MenuItem onSelect={() => router.push(rollOutAddress(handler.handler, version.version))}>
              {t('rollOut.act', { version: version.version })}
            </MenuItem>
          ) : null}
          {mayPublish && version.state !== 'withdrawn' ? <MenuSeparator /> : null}
          {mayPublish && version.state === 'published' ? (
            <MenuItem danger onSelect={() => onAsk('withdraw')}>
              {t('act.withdraw')}
            </MenuItem>
          ) : null}
          {mayPublish && version.state === 'draft' ? (
            <MenuItem danger onSelect={() => onAsk('delete')}>
              {t('act.delete')}
            </MenuItem>
          ) : null}
        </>
      )}
    </LazyMenu>
  );
}

function VmCount({ handler, version: { version, vms } }: { handler: string; version: HandlerVersion }) {
  const { t } = useTranslation('packages');
  if (vms === 0) return <span className="text-ink-3">{t('none')}</span>;
  return (
    <Link href={vmsAddress({ handler, version })} data-count={vms} className="rounded-xs hover:underline">
      <Num value={vms} />
      <span className="sr-only"> {t('fact.vms', { count: vms })}</span>
    </Link>
  );
}

/** Returns the URL of the comparison of version `a` with the later version `b`. */
export function compareAddress(handler: string, a: HandlerVersion | undefined, b: HandlerVersion | undefined): string {
  return `/handlers/${handler}/compare?a=${a?.version ?? ''}&b=${b?.version ?? ''}`;
}
