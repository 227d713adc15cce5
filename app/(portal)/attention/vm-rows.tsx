'use client';

import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Button } from '#app/_ui/button.tsx';
import { cn } from '#app/_ui/cn.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Tag } from '#app/_ui/tag.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { RowRetry } from '#app/(portal)/vms/row-retry.tsx';
import type { AttentionGroup } from '#server/domain/views/index.ts';
import { type AttentionVm, extensionOf } from './attention-data.ts';
import type { ProblemVms } from './use-problem-vms.ts';

export interface VmRowsProps {
  group: AttentionGroup;
  title: string;
  vms: ProblemVms;
  openVm: string | null;
  onOpen(vm: AttentionVm): void;
}

/** The VMs with a problem. A click opens the details of a VM beside the list. */
export function VmRows({ group, title, vms, openVm, onOpen }: VmRowsProps) {
  const { t } = useTranslation('attention');
  if (vms.error) {
    return <QueryError title={t('list.failed')} error={vms.error} onRetry={vms.retry} at={vms.errorAt} />;
  }
  if (vms.isPending) return <SkeletonRows columns={['w-32', 'w-24', 'w-40']} rows={3} label={t('list', { title })} />;
  return (
    <div className="border-t border-line-subtle bg-sunken [--cut:var(--sunken)]">
      {vms.items.length === 0 ? <p className="px-4 py-2.5 ps-15 text-ink-2">{t('list.gone')}</p> : null}
      <ul aria-label={t('list', { title })}>
        {vms.items.map((vm) => (
          <VmRow key={vm.id} group={group} vm={vm} isOpen={vm.id === openVm} onOpen={() => onOpen(vm)} />
        ))}
      </ul>
      {vms.hasMore ? (
        <div className="px-4 py-2 ps-15">
          <Button size="sm" busy={vms.isLoadingMore} onClick={() => void vms.more()} data-triage-row>
            {t('list.more')}
          </Button>
        </div>
      ) : null}
    </div>
  );
}

interface VmRowProps {
  group: AttentionGroup;
  vm: AttentionVm;
  isOpen: boolean;
  onOpen(): void;
}

function VmRow({ group, vm, isOpen, onOpen }: VmRowProps) {
  const { t } = useTranslation(['attention', 'vms']);
  const extension = extensionOf(group, vm);
  const { lastSeenAt } = vm.agent;
  return (
    <li
      className={cn(
        'flex min-h-(--row) flex-wrap items-center gap-x-3 px-4 py-1 ps-15 hover:bg-hover',
        isOpen && 'bg-brand-tint hover:bg-brand-tint',
      )}
    >
      <button
        type="button"
        data-triage-row={vm.id}
        aria-pressed={isOpen}
        onClick={onOpen}
        className="flex min-w-0 flex-[1_1_12rem] items-baseline max-sm:flex-[1_1_6rem] gap-x-2 rounded-sm text-start focus-visible:shadow-focus"
      >
        <span className="sr-only">{t('attention:list.open', { name: vm.name })}: </span>
        <span translate="no" className="truncate font-medium">
          {vm.name}
        </span>
        {extension === undefined ? null : (
          <span translate="no" className="truncate text-12 text-ink-2">
            {extension.name}
          </span>
        )}
      </button>
      <span className="flex min-w-0 flex-wrap gap-1 max-md:hidden">
        {Object.entries(vm.tags)
          .slice(0, 2)
          .map(([name, value]) => (
            <Tag key={name} name={name}>
              {value}
            </Tag>
          ))}
      </span>
      <span className="min-w-18 text-end text-12 whitespace-nowrap text-ink-3 tabular-nums max-sm:hidden">
        {lastSeenAt === null ? t('vms:neverSeen') : <RelativeTime value={new Date(lastSeenAt)} />}
      </span>
      <RowRetry row={vm} />
      <Link
        href={`/vms/${vm.id}`}
        prefetch={false}
        className="inline-flex min-h-6 min-w-6 items-center justify-center rounded-xs text-12 text-brand-text underline decoration-brand-line underline-offset-3 hover:decoration-current"
      >
        {t('attention:panel.vm')}
        <span className="sr-only"> {vm.name}</span>
      </Link>
    </li>
  );
}
