'use client';

import { useInfiniteQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { MemberKind } from '#server/domain/rollout-rules/words.ts';

/** Members of one ring and kind; null for all. */
export interface PlanCell {
  ring: number | null;
  kind: MemberKind | null;
}

export interface PlanVmsProps {
  rolloutId: string;
  rings: readonly string[];
  at: PlanCell;
  onClose(): void;
}

/** The VMs behind a number of the plan, in the order in which they change. */
export function PlanVms({ rolloutId, rings, at, onClose }: PlanVmsProps) {
  const { t } = useTranslation(['rollouts', 'common', 'vms']);
  const trpc = useTRPC();
  const vms = useInfiniteQuery({
    ...trpc.rollouts.planVms.infiniteQueryOptions(
      { id: rolloutId, ...(at.ring !== null && { ring: at.ring }), ...(at.kind !== null && { kind: at.kind }) },
      { getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined },
    ),
    gcTime: 0,
  });
  const items = vms.data?.pages.flatMap((page) => page.items);
  const parts = [
    at.ring === null ? [] : (rings[at.ring] ?? []),
    at.kind === null ? [] : t(`rollouts:new.plan.kind.${at.kind}`),
  ];
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('rollouts:new.plan.vmsTitle')}
      description={parts.flat().join(' · ') || undefined}
    >
      {vms.error && items === undefined ? (
        <QueryError error={vms.error} onRetry={vms.refetch} />
      ) : items === undefined ? (
        <SkeletonRows columns={['w-32', 'w-20']} rows={6} label={t('vms:loading')} />
      ) : (
        <ul className="grid max-h-[60vh] overflow-y-auto">
          {items.map(({ vmId, name, ring, kind }) => (
            <li key={vmId} className="flex min-h-8 items-center gap-3 border-t border-line-subtle first:border-t-0">
              <TextLink href={`/vms/${vmId}`} translate="no" className="min-w-0 truncate font-medium">
                {name}
              </TextLink>
              <span className="ms-auto text-12 whitespace-nowrap text-ink-3">
                <span translate="no">{rings[ring]}</span> · {t(`rollouts:new.plan.kind.${kind}`)}
              </span>
            </li>
          ))}
        </ul>
      )}
      {vms.hasNextPage ? (
        <Button busy={vms.isFetchingNextPage} onClick={() => void vms.fetchNextPage()}>
          {t('rollouts:new.plan.more')}
        </Button>
      ) : null}
    </Dialog>
  );
}
