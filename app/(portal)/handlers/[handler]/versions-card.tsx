'use client';

import { Ellipsis, GitCompare } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button, IconButton } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import { Num } from '#app/_ui/num.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { VersionState } from '../version-state.tsx';
import { FailuresCell } from './failures-cell.tsx';
import type { Handler } from './handler-data.ts';
import { type Series, seriesFill, seriesOf } from './series.ts';
import { ShareCell } from './share-cell.tsx';

const VersionDialog = dynamic(() => import('./version-dialogs.tsx').then((module) => module.VersionDialog), {
  ssr: false,
});

type Version = Handler['versions'][number];

/** Rows that are shown at first, drafts aside. */
const fewVersions = 10;

/** Every version with its state, where it is, and how it fares there. */
export function VersionsCard({ handler, mayPublish }: { handler: Handler; mayPublish: boolean }) {
  const { t } = useTranslation('packages');
  const [all, setAll] = useState(false);
  const { versions } = handler;
  const series = seriesOf(versions);
  // A long list hides versions that no VM has behind a button.
  const shown =
    all || versions.length <= fewVersions + 2
      ? versions
      : versions.filter(({ vms, state }, index) => index < fewVersions || vms > 0 || state === 'draft');
  const [newest, second] = versions.filter(({ state }) => state !== 'draft');
  const [asked, setAsked] = useState<{ version: Version; act: 'withdraw' | 'delete' }>();
  return (
    <Card>
      <CardHeader
        title={t('versions.title')}
        note={<Num value={versions.length} />}
        actions={
          versions.length > 1 ? (
            <Button asChild size="sm" variant="ghost">
              <Link href={compareAddress(handler.handler, second ?? versions[1], newest ?? versions[0])}>
                <GitCompare aria-hidden />
                {t('versions.compare')}
              </Link>
            </Button>
          ) : undefined
        }
      />
      <TableFrame label={t('versions.title')}>
        <Table>
          <THead>
            <tr>
              <Th>{t('column.version')}</Th>
              <Th>{t('column.state')}</Th>
              <Th end>{t('column.vms')}</Th>
              <Th end className="max-xl:hidden">
                {t('column.running')}
              </Th>
              <Th className="w-full max-md:hidden">{t('column.share')}</Th>
              <Th end className="max-lg:hidden">
                {t('column.failures')}
              </Th>
              <Th end className="max-sm:hidden">
                {t('column.released')}
              </Th>
              <Th end>
                <span className="sr-only">{t('column.acts')}</span>
              </Th>
            </tr>
          </THead>
          <TBody>
            {shown.map((version) => (
              <VersionRow
                key={version.version}
                handler={handler}
                version={version}
                series={series.get(version.version) ?? 0}
                mayPublish={mayPublish}
                onAsk={(act) => setAsked({ version, act })}
              />
            ))}
          </TBody>
        </Table>
      </TableFrame>
      {shown.length < versions.length ? (
        <div className="border-t border-line-subtle px-4 py-2">
          <Button size="sm" variant="ghost" onClick={() => setAll(true)}>
            {t('versions.more', { count: versions.length })}
          </Button>
        </div>
      ) : null}
      {asked ? (
        <VersionDialog
          act={asked.act}
          handler={handler.handler}
          version={asked.version.version}
          vms={asked.version.vms}
          onClose={() => setAsked(undefined)}
        />
      ) : null}
    </Card>
  );
}

interface VersionRowProps {
  handler: Handler;
  version: Version;
  series: Series;
  mayPublish: boolean;
  onAsk(act: 'withdraw' | 'delete'): void;
}

function VersionRow({ handler, version, series, mayPublish, onAsk }: VersionRowProps) {
  const { t } = useTranslation('packages');
  const router = useRouter();
  const address = `/handlers/${handler.handler}/${version.version}`;
  const share = handler.vms === 0 ? 0 : version.vms / handler.vms;
  const released = version.publishedAt;
  const before = handler.versions[handler.versions.indexOf(version) + 1];
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
      <Td end>
        <VmCount handler={handler.handler} version={version} />
      </Td>
      <Td end className="max-xl:hidden">
        {version.vms > 0 || version.running > 0 ? <Num value={version.running} /> : null}
      </Td>
      <Td className="max-md:hidden">
        {version.vms > 0 ? <ShareCell version={version.version} share={share} series={series} /> : null}
      </Td>
      <Td end className="max-lg:hidden">
        <FailuresCell handler={handler.handler} version={version} />
      </Td>
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
      </Td>
    </Tr>
  );
}

/** VMs as a figure that leads to them, or the word for none. */
function VmCount({ handler, version: { version, vms } }: { handler: string; version: Version }) {
  const { t } = useTranslation('packages');
  if (vms === 0) return <span className="text-ink-3">{t('none')}</span>;
  return (
    <Link
      href={`/vms?handler=${encodeURIComponent(handler)}&version=${encodeURIComponent(version)}`}
      className="rounded-xs hover:underline"
    >
      <Num value={vms} />
      <span className="sr-only"> {t('fact.vms', { count: vms })}</span>
    </Link>
  );
}

/** `a` is what was before. */
function compareAddress(handler: string, a: Version | undefined, b: Version | undefined): string {
  return `/handlers/${handler}/compare?a=${a?.version ?? ''}&b=${b?.version ?? ''}`;
}
