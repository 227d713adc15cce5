'use client';

import { Ellipsis } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import { Meter } from '#app/_ui/meter.tsx';
import { Num } from '#app/_ui/num.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { VersionState } from '../version-state.tsx';
import type { Handler } from './handler-data.ts';

const VersionDialog = dynamic(() => import('./version-dialogs.tsx').then((module) => module.VersionDialog), {
  ssr: false,
});

type Version = Handler['versions'][number];

/** Every version with its state and where it is. */
export function VersionsCard({ handler, mayPublish }: { handler: Handler; mayPublish: boolean }) {
  const { t } = useTranslation('packages');
  const [asked, setAsked] = useState<{ version: Version; act: 'withdraw' | 'delete' }>();
  return (
    <Card>
      <CardHeader title={t('versions.title')} note={<Num value={handler.versions.length} />} />
      <TableFrame label={t('versions.title')}>
        <Table>
          <THead>
            <tr>
              <Th>{t('column.version')}</Th>
              <Th>{t('column.state')}</Th>
              <Th end>{t('column.vms')}</Th>
              <Th end className="max-md:hidden">
                {t('column.running')}
              </Th>
              <Th className="w-full max-md:hidden">{t('column.share')}</Th>
              <Th end className="max-sm:hidden">
                {t('column.released')}
              </Th>
              <Th end>
                <span className="sr-only">{t('column.acts')}</span>
              </Th>
            </tr>
          </THead>
          <TBody>
            {handler.versions.map((version) => (
              <VersionRow
                key={version.version}
                handler={handler}
                version={version}
                mayPublish={mayPublish}
                onAsk={(act) => setAsked({ version, act })}
              />
            ))}
          </TBody>
        </Table>
      </TableFrame>
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
  mayPublish: boolean;
  onAsk(act: 'withdraw' | 'delete'): void;
}

function VersionRow({ handler, version, mayPublish, onAsk }: VersionRowProps) {
  const { t } = useTranslation('packages');
  const format = useFormat();
  const router = useRouter();
  const address = `/handlers/${handler.handler}/${version.version}`;
  const share = handler.vms === 0 ? 0 : version.vms / handler.vms;
  const released = version.publishedAt;
  return (
    <Tr>
      <Td className="tabular-nums">
        <Link href={address} className="rounded-xs font-medium hover:underline">
          {version.version}
        </Link>
      </Td>
      <Td>
        <VersionState state={version.state} />
        {version.withdrawnReason ? (
          <span
            className="ms-2 inline-block max-w-56 truncate align-bottom text-12 text-ink-3"
            title={version.withdrawnReason}
          >
            {version.withdrawnReason}
          </span>
        ) : null}
      </Td>
      <Td end>
        <VmCount count={version.vms} />
      </Td>
      <Td end className="max-md:hidden">
        {version.vms > 0 || version.running > 0 ? <Num value={version.running} /> : null}
      </Td>
      <Td className="max-md:hidden">
        {version.vms > 0 ? (
          <span className="flex items-center gap-2.5">
            <Meter
              value={share}
              label={t('share.of', { version: version.version })}
              text={format.percent(share)}
              className="max-w-48"
            />
            <Num value={share} as="percent" className="text-12 text-ink-2" />
          </span>
        ) : null}
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

/** VMs as a figure, or the word for none. */
function VmCount({ count }: { count: number }) {
  const { t } = useTranslation('packages');
  return count > 0 ? <Num value={count} /> : <span className="text-ink-3">{t('none')}</span>;
}
