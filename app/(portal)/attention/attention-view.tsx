'use client';

import { useQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { Card } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { putInAddress } from '#app/(portal)/vms/[vmId]/put-in-address.ts';
import type { Attention, AttentionGroup } from '#server/domain/views/index.ts';
import type { OpenVm } from './attention-data.ts';
import { GroupRow } from './group-row.tsx';
import { useProblemVms } from './use-problem-vms.ts';
import { useTriageKeys } from './use-triage-keys.ts';

const SidePanel = dynamic(() => import('./side-panel.tsx').then((module) => module.SidePanel), { ssr: false });

export interface AttentionViewProps {
  /** The list, if the server has loaded it. */
  first: Attention | undefined;
  /** The key of the problem whose VMs are shown at first. */
  problem: string | null;
  gatewayUrl: string;
}

/** The problems of the fleet, the VMs of one problem and, beside the list, the details of one VM. */
export function AttentionView({ first, problem, gatewayUrl }: AttentionViewProps) {
  const { t } = useTranslation('attention');
  const trpc = useTRPC();
  const list = useQuery({ ...trpc.attention.list.queryOptions(), initialData: first, enabled: false });
  useThrottledReload({ queryKey: trpc.attention.list.queryKey(), refetch: list.refetch, agesMs: 60_000 });
  const [unfolded, setUnfolded] = useState(problem);
  const [open, setOpen] = useState<OpenVm | null>(null);
  const rows = useRef<HTMLDivElement>(null);
  const groups = list.data ? [...list.data.items, ...list.data.snoozed] : [];
  const group = groups.find(({ key }) => key === unfolded);
  const vms = useProblemVms(group);
  const unfold = (key: string | null): void => {
    setUnfolded(key);
    if (key !== open?.key) setOpen(null);
    putInAddress({ problem: key });
  };
  const show = (vm: OpenVm | null): void => {
    if (vm === null && open !== null)
      rows.current?.querySelector<HTMLElement>(`[data-triage-row="${open.vmId}"]`)?.focus();
    setOpen(vm);
  };
  const step = useTriageKeys({ rows, groups, group, vms, open, unfold, onOpen: show });
  const shared = { unfolded, vms, open, onUnfold: unfold, onOpen: show };
  return (
    <>
      <PageHeader
        title={t('title')}
        note={list.data && list.data.vms > 0 ? <Total vms={list.data.vms} /> : undefined}
      />
      <div className={cn('grid items-start gap-4', open && 'md:grid-cols-[minmax(0,1fr)_minmax(0,28rem)]')}>
        <div ref={rows} className="grid min-w-0 gap-4">
          {list.data === undefined ? (
            <Card>
              {list.error ? (
                <QueryError
                  title={t('failed')}
                  error={list.error}
                  onRetry={list.refetch}
                  at={new Date(list.errorUpdatedAt)}
                />
              ) : (
                <SkeletonRows columns={['w-64', 'w-20', 'w-28', 'w-24']} rows={6} label={t('title')} />
              )}
            </Card>
          ) : (
            <Problems list={list.data} {...shared} />
          )}
        </div>
        {open && group ? (
          <SidePanel
            group={group}
            vms={vms}
            open={open}
            gatewayUrl={gatewayUrl}
            onStep={step}
            onClose={() => show(null)}
          />
        ) : null}
      </div>
    </>
  );
}

/** The number of VMs with problems, as a link to their list. */
function Total({ vms }: { vms: number }) {
  const { t } = useTranslation('attention');
  const format = useFormat();
  return (
    <Link
      href="/vms?health=failed,unresponsive,degraded"
      data-count={vms}
      className="text-ink-3 tabular-nums hover:underline"
    >
      {t('total', { count: vms, shown: format.number(vms) })}
    </Link>
  );
}

interface ProblemsProps {
  list: Attention;
  unfolded: string | null;
  vms: ReturnType<typeof useProblemVms>;
  open: OpenVm | null;
  onUnfold(key: string | null): void;
  onOpen(open: OpenVm | null): void;
}

function Problems({ list, ...shared }: ProblemsProps) {
  const { t } = useTranslation('attention');
  const format = useFormat();
  const left = list.open - list.items.length;
  return (
    <>
      <Card aria-label={t('problems')}>
        {list.items.length === 0 ? (
          <EmptyState status="healthy" title={t(list.snoozed.length > 0 ? 'empty.snoozed' : 'empty.title')}>
            <p>{t(list.snoozed.length > 0 ? 'empty.snoozed.why' : 'empty.why')}</p>
          </EmptyState>
        ) : (
          <Groups groups={list.items} {...shared} />
        )}
        {left > 0 ? (
          <p className="border-t border-line-subtle px-4 py-2.5 text-12 text-ink-2">
            {t('cut', { count: left, shown: format.number(left) })}
          </p>
        ) : null}
      </Card>
      {list.snoozed.length > 0 ? <Snoozed groups={list.snoozed} {...shared} /> : null}
    </>
  );
}

type GroupsProps = Omit<ProblemsProps, 'list'> & { groups: readonly AttentionGroup[] };

function Groups({ groups, unfolded, vms, open, onUnfold, onOpen }: GroupsProps) {
  return (
    <ul className="[&>li+li]:border-t [&>li+li]:border-line-subtle">
      {groups.map((group) => (
        <GroupRow
          key={group.key}
          group={group}
          vms={group.key === unfolded ? vms : null}
          openVm={group.key === open?.key ? open.vmId : null}
          onUnfold={() => onUnfold(group.key === unfolded ? null : group.key)}
          onOpen={({ id: vmId, name }) => onOpen({ key: group.key, vmId, name })}
        />
      ))}
    </ul>
  );
}

/** The snoozed problems, collapsed at first. */
function Snoozed(props: GroupsProps) {
  const { t } = useTranslation('attention');
  const format = useFormat();
  const holdsUnfolded = props.groups.some(({ key }) => key === props.unfolded);
  const [isWanted, setIsWanted] = useState(false);
  const isShown = isWanted || holdsUnfolded;
  const toggle = (): void => {
    setIsWanted(!isShown);
    if (holdsUnfolded) props.onUnfold(null);
  };
  return (
    <Card aria-label={t('snoozed')}>
      <h2>
        <button
          type="button"
          data-triage-row
          aria-expanded={isShown}
          onClick={toggle}
          className="flex min-h-11 w-full items-center gap-2 rounded-lg px-4 text-start text-13 font-semibold hover:bg-hover focus-visible:shadow-focus"
        >
          <ChevronRight
            aria-hidden
            className={cn('size-4 shrink-0 text-ink-3', isShown ? 'rotate-90' : 'rtl:-scale-x-100')}
          />
          {t('snoozed')}
          <span className="font-normal text-ink-3 tabular-nums">{format.number(props.groups.length)}</span>
        </button>
      </h2>
      {isShown ? (
        <div className="border-t border-line-subtle">
          <Groups {...props} />
        </div>
      ) : null}
    </Card>
  );
}
