'use client';

import { useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import type { ReactNode } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import { decidedOf } from '../../rollouts/rollout-data.ts';

/** The automatic upgrades of a handler. */
export type ShownUpgrades = inferRouterOutputs<AppRouter>['rollouts']['automaticOfHandler'];

export interface AutomaticCardProps {
  handler: string;
  /** What the server has loaded; undefined if it could not read it. */
  first: ShownUpgrades | undefined;
}

/** How the handler's extensions are upgraded automatically: the strategy, the last upgrade and the next one. */
export function AutomaticCard({ handler, first }: AutomaticCardProps) {
  const { t } = useTranslation('packages');
  const trpc = useTRPC();
  const found = useQuery({
    ...trpc.rollouts.automaticOfHandler.queryOptions({ handler }),
    initialData: first,
    enabled: false,
  });
  useThrottledReload({
    queryKey: trpc.rollouts.automaticOfHandler.queryKey({ handler }),
    refetch: found.refetch,
    agesMs: 60_000,
    pauseMs: 2_000,
  });
  return (
    <Card aria-labelledby="automatic">
      <CardHeader id="automatic" title={t('automatic.title')} />
      {found.data ? (
        <Upgrades upgrades={found.data} />
      ) : found.error ? (
        <QueryError
          title={t('automatic.failed')}
          error={found.error}
          onRetry={found.refetch}
          at={new Date(found.errorUpdatedAt)}
        />
      ) : (
        <div aria-busy="true" className="grid gap-3 px-4 pt-1 pb-5">
          {['w-40', 'w-56', 'w-48'].map((width) => (
            <Skeleton key={width} className={width} />
          ))}
        </div>
      )}
    </Card>
  );
}

function Upgrades({ upgrades }: { upgrades: ShownUpgrades }) {
  const { t } = useTranslation('packages');
  const { strategy, last } = upgrades;
  const isOwn = strategy.isOwn ? 'own' : 'all';
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 px-4 pb-4">
      <Fact label={t('automatic.strategy')}>{t(`automatic.strategy.${isOwn}`, { name: strategy.name })}</Fact>
      <Fact label={t('automatic.last')}>
        {last === null ? (
          <span className="text-ink-3">{t('automatic.last.none')}</span>
        ) : (
          <Trans
            text={t('automatic.ended', { name: last.name })}
            tags={{ rollout: linkTo(last.id), time: <Ago at={last.endedAt ?? last.createdAt} /> }}
          />
        )}
      </Fact>
      <Fact label={t('automatic.next')}>
        <Next upgrades={upgrades} />
      </Fact>
    </dl>
  );
}

const linkTo = (id: string) => (
  <TextLink href={`/rollouts/${id}`} prefetch={false} translate="no" className="wrap-anywhere" />
);

/** Ignores the text of its tag. */
const Ago = ({ at }: { at: string; children?: ReactNode }) => <RelativeTime value={new Date(at)} />;

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{label}</dt>
      <dd className="min-w-0 text-pretty wrap-anywhere">{children}</dd>
    </>
  );
}

/** The automatic rollouts that are open, or the version to which VMs are upgraded soon. */
function Next({ upgrades: { open, targets, vms } }: { upgrades: ShownUpgrades }) {
  const { t } = useTranslation('packages');
  const format = useFormat();
  const soon = targets.filter(({ vms, rollout }) => vms > 0 && rollout === null);
  if (open.length > 0) {
    return open.map(({ id, name, counts }) => {
      const done = format.number(decidedOf(counts));
      const text = t('automatic.open', { name, done, members: format.number(counts.members) });
      return (
        <span key={id} className="block tabular-nums">
          <Trans text={text} tags={{ rollout: linkTo(id) }} />
        </span>
      );
    });
  }
  if (soon.length > 0) return soon.map(({ version }) => t('automatic.next.soon', { version })).join('; ');
  return <span className="text-ink-3">{t(vms === 0 ? 'automatic.next.off' : 'automatic.next.none')}</span>;
}
