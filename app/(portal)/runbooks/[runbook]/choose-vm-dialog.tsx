'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { useDeferredValue, useState } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { Input } from '#app/_ui/input.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { type Runbook, runHref, type ShownRunbookVersion } from '../runbook-data.ts';

/** Maximum number of VMs in the list. */
const shown = 12;

export interface ChooseVmDialogProps {
  runbook: Runbook;
  version: ShownRunbookVersion;
  onClose(): void;
}

/** Chooses the VM on which a version of a runbook runs. */
export function ChooseVmDialog({ runbook, version, onClose }: ChooseVmDialogProps) {
  const { t } = useTranslation('runbooks');
  const trpc = useTRPC();
  const [typed, setTyped] = useState('');
  const q = useDeferredValue(typed.trim());
  const vms = useQuery({
    ...trpc.fleet.list.queryOptions({ ...(q !== '' && { q }), limit: shown }),
    placeholderData: keepPreviousData,
  });
  const items = vms.data?.items ?? [];
  // The newest published version is the default of the form, so the URL does not name it.
  const wanted = version.version === runbook.published ? undefined : version.version;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('chooseVm.title', { name: version.title })}
      description={t('chooseVm.why')}
    >
      <Input
        autoFocus
        aria-label={t('chooseVm.search')}
        placeholder={t('chooseVm.search')}
        maxLength={200}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      {vms.error && !vms.data ? (
        <QueryError error={vms.error} onRetry={vms.refetch} />
      ) : vms.isPending ? (
        <SkeletonRows columns={['w-48']} rows={4} label={t('chooseVm.list')} />
      ) : items.length === 0 ? (
        <p className="text-ink-2">
          {q === '' ? (
            <Trans text={t('chooseVm.empty')} tags={{ link: <TextLink href="/vms" /> }} />
          ) : (
            t('chooseVm.none')
          )}
        </p>
      ) : (
        <ul aria-label={t('chooseVm.list')} aria-busy={vms.isPlaceholderData} className="grid min-h-40 content-start">
          {items.map(({ id, name, health }) => (
            <li key={id}>
              <Link
                href={runHref(id, { name: runbook.name, version: wanted })}
                prefetch={false}
                className="flex min-h-8 items-center gap-2.5 rounded-md px-2 hover:bg-hover pointer-coarse:min-h-(--touch)"
              >
                <StatusIcon status={health === null ? 'unknown' : statusOfHealth[health]} />
                <span translate="no" className="min-w-0 truncate font-medium">
                  {name}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {vms.data?.nextCursor ? <p className="text-12 text-ink-3">{t('chooseVm.more')}</p> : null}
    </Dialog>
  );
}
