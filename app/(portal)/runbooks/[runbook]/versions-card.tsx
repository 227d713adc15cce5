'use client';

import { Ellipsis } from 'lucide-react';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import { Num } from '#app/_ui/num.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { editHref, type Runbook, type RunbookVersion, runbookHref } from '../runbook-data.ts';
import { RunbookState } from '../runbook-state.tsx';
import type { VersionAct } from './version-dialogs.tsx';

export interface VersionsCardProps {
  runbook: Runbook;
  /** The version that the page shows. */
  shown: string;
  /** Starts an action; undefined for readers who may not change runbooks. */
  onAct: ((act: VersionAct) => void) | undefined;
}

/** All versions of a runbook, newest first. */
export function VersionsCard({ runbook: { name, versions }, shown, onAct }: VersionsCardProps) {
  const { t } = useTranslation('runbooks');
  return (
    <Card>
      <CardHeader title={t('versions.title')} note={<Num value={versions.length} />} />
      <ul className="max-h-[28rem] overflow-y-auto">
        {versions.map((version) => (
          <li
            key={version.version}
            className="relative flex items-center gap-2 border-t border-line-subtle px-4 py-2 has-aria-[current=true]:bg-hover"
          >
            <div className="min-w-0 flex-1">
              <div className="flex flex-wrap items-center gap-x-2.5 gap-y-0.5">
                <Link
                  href={runbookHref(name, version.version)}
                  aria-current={version.version === shown}
                  translate="no"
                  className="rounded-xs font-medium tabular-nums after:absolute after:inset-0 hover:underline"
                >
                  {version.version}
                </Link>
                <RunbookState state={version.state} />
              </div>
              <VersionDate version={version} />
            </div>
            {onAct === undefined || version.state === 'withdrawn' ? null : (
              <VersionMenu name={name} version={version} onAct={onAct} />
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function VersionDate({ version }: { version: RunbookVersion }) {
  const { t } = useTranslation('runbooks');
  const { publishedAt, publishedBy, savedAt, savedBy } = version;
  return (
    <span className="block text-12 text-ink-3">
      <DateTime value={new Date(publishedAt ?? savedAt)} />{' '}
      <Trans text={t('versions.by', { name: publishedBy ?? savedBy })} tags={{ who: <span translate="no" /> }} />
    </span>
  );
}

interface VersionMenuProps {
  name: string;
  version: RunbookVersion;
  onAct(act: VersionAct): void;
}

function VersionMenu({ name, version: { version, state }, onAct }: VersionMenuProps) {
  const { t } = useTranslation('runbooks');
  const router = useRouter();
  return (
    <LazyMenu
      trigger={
        <IconButton size="sm" label={t('act.more', { version })} className="relative z-10">
          <Ellipsis aria-hidden />
        </IconButton>
      }
    >
      {({ MenuItem, MenuSeparator }) =>
        state === 'draft' ? (
          <>
            <MenuItem onSelect={() => router.push(editHref(name, version))}>{t('act.edit')}</MenuItem>
            <MenuItem onSelect={() => onAct({ kind: 'publish', version })}>{t('act.publish', { version })}</MenuItem>
            <MenuSeparator />
            <MenuItem danger onSelect={() => onAct({ kind: 'delete', version })}>
              {t('act.delete', { version })}
            </MenuItem>
          </>
        ) : (
          <MenuItem danger onSelect={() => onAct({ kind: 'withdraw', version })}>
            {t('act.withdraw', { version })}
          </MenuItem>
        )
      }
    </LazyMenu>
  );
}
