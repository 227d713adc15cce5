'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { toast } from '#app/_ui/toast.tsx';
import { nextOf } from './next-of.ts';
import { failedHref, type ListedRollout, rolloutHref } from './rollout-data.ts';

/** The next act on a rollout that needs a person. */
export function NextAct({ row }: { row: ListedRollout }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const act = nextOf(row, useReader().can('operator'));
  if (act === null) return null;
  if (act === 'planAgain') return <PlanAgain row={row} />;
  const { failed } = row.counts;
  const isFailed = act === 'showFailed';
  const label = isFailed ? t('list.act.showFailed', { count: failed, n: format.number(failed) }) : t(`list.act.${act}`);
  return (
    <Button size="sm" asChild className="relative z-1 max-md:w-full">
      <Link href={isFailed ? failedHref(row.id) : rolloutHref(row.id)} prefetch={false}>
        {label}
      </Link>
    </Button>
  );
}

function PlanAgain({ row: { id } }: { row: ListedRollout }) {
  const { t } = useTranslation('rollouts');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const plan = useMutation(
    trpc.rollouts.plan.mutationOptions({
      onError: (error) => toast(explain(error).message),
      onSettled: () => queries.invalidateQueries(trpc.rollouts.pathFilter()),
    }),
  );
  return (
    <Button size="sm" busy={plan.isPending} className="relative z-1 max-md:w-full" onClick={() => plan.mutate({ id })}>
      {t('act.planAgain')}
    </Button>
  );
}
