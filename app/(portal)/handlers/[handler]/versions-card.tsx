'use client';

import { GitCompare } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { Num } from '#app/_ui/num.tsx';
import { Table, TableFrame, TBody, THead, Th } from '#app/_ui/table.tsx';
import type { Handler } from './handler-data.ts';
import { seriesOf } from './series.ts';
import { compareAddress, type HandlerVersion, VersionRow } from './version-row.tsx';

const VersionDialog = dynamic(() => import('./version-dialogs.tsx').then((module) => module.VersionDialog), {
  ssr: false,
});

/** Number of versions that are shown at first, in addition to drafts and versions that VMs have. */
const fewVersions = 10;

/** Every version with its state, VMs and failures. */
export function VersionsCard({ handler, mayPublish }: { handler: Handler; mayPublish: boolean }) {
  const { t } = useTranslation('packages');
  const [all, setAll] = useState(false);
  const { versions } = handler;
  const series = seriesOf(versions);
  // In a long list, older versions that no VM has are hidden behind a button.
  const shown =
    all || versions.length <= fewVersions + 2
      ? versions
      : versions.filter(({ vms, state }, index) => index < fewVersions || vms > 0 || state === 'draft');
  const [newest, second] = versions.filter(({ state }) => state !== 'draft');
  const [open, setOpen] = useState<{ version: HandlerVersion; act: 'withdraw' | 'delete' }>();
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
          <VersionsHead isFormula={handler.kind === 'formula'} />
          <TBody>
            {shown.map((version) => (
              <VersionRow
                key={version.version}
                handler={handler}
                version={version}
                series={series.get(version.version) ?? 0}
                mayPublish={mayPublish}
                onAsk={(act) => setOpen({ version, act })}
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
      {open ? (
        <VersionDialog
          act={open.act}
          handler={handler.handler}
          version={open.version.version}
          vms={open.version.vms}
          kind={handler.kind}
          onClose={() => setOpen(undefined)}
        />
      ) : null}
    </Card>
  );
}

/** The column heads. Formulas have no columns about VMs. */
function VersionsHead({ isFormula }: { isFormula: boolean }) {
  const { t } = useTranslation('packages');
  return (
    <THead>
      <tr>
        <Th>{t('column.version')}</Th>
        <Th className={isFormula ? 'w-full' : undefined}>{t('column.state')}</Th>
        {isFormula ? null : (
          <>
            <Th end>{t('column.vms')}</Th>
            <Th end className="max-xl:hidden">
              {t('column.running')}
            </Th>
            <Th className="w-full max-md:hidden">{t('column.share')}</Th>
            <Th end className="max-lg:hidden">
              {t('column.failures')}
            </Th>
          </>
        )}
        <Th end className="max-sm:hidden">
          {t('column.released')}
        </Th>
        <Th end>
          <span className="sr-only">{t('column.acts')}</span>
        </Th>
      </tr>
    </THead>
  );
}
