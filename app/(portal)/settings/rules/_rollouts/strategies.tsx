'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { inferOutput } from '@trpc/tanstack-react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { IconButton } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { ringsOf } from './strategy-rings.ts';

type Listed = inferOutput<ReturnType<typeof useTRPC>['strategies']['list']>;
type Strategy = Listed['items'][number];

/** The strategies that people saved, which can be deleted here. The form of a rollout saves and changes them. */
export function Strategies({ first }: { first: Listed }) {
  const { t } = useTranslation('settings');
  const trpc = useTRPC();
  const { data } = useQuery({ ...trpc.strategies.list.queryOptions(), initialData: first });
  const saved = data.items.filter(({ builtIn }) => !builtIn);
  return (
    <Card className="max-w-[880px]" aria-labelledby="strategies">
      <CardHeader
        id="strategies"
        title={t('strategies')}
        actions={
          <TextLink href="/rollouts/new" className="text-12">
            {t('strategies.new')}
          </TextLink>
        }
      />
      <p className="max-w-[72ch] px-4 pb-3 text-ink-2">{t('strategies.what')}</p>
      {saved.length === 0 ? (
        <p className="border-t border-line-subtle px-4 py-3 text-ink-3">{t('strategies.none')}</p>
      ) : (
        <ul>
          {saved.map((strategy) => (
            <StrategyRow key={strategy.name} strategy={strategy} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function StrategyRow({ strategy }: { strategy: Strategy }) {
  const { t } = useTranslation('settings');
  const format = useFormat();
  const [isAsking, setAsking] = useState(false);
  const { name, automaticFor, changedAt, changedBy } = strategy;
  const rings = ringsOf(strategy.strategy).map(({ name: ring, percent, count }) =>
    percent === null && count === null
      ? ring
      : `${ring} ${percent === null ? format.number(count ?? 0) : format.percent(percent / 100)}`,
  );
  return (
    <li className="flex items-start gap-3 border-t border-line-subtle px-4 py-2.5">
      <div className="min-w-0 flex-1 wrap-anywhere">
        <p translate="no" className="font-medium">
          {name}
        </p>
        <p translate="no" className="text-12 text-ink-2">
          {format.list(rings)}
        </p>
        <p className="text-12 text-ink-3">
          {automaticFor.length === 0 ? null : (
            <span className="me-2">
              {automaticFor.includes('*')
                ? t('strategies.automatic')
                : t('strategies.automaticFor', { handlers: format.list(automaticFor) })}
            </span>
          )}
          {changedAt === null ? null : (
            <>
              {changedBy}, <DateTime value={new Date(changedAt)} style="short" />
            </>
          )}
        </p>
      </div>
      <IconButton size="sm" label={t('strategies.delete', { name })} onClick={() => setAsking(true)}>
        <Trash2 aria-hidden />
      </IconButton>
      {isAsking ? <DeleteStrategy name={name} onClose={() => setAsking(false)} /> : null}
    </li>
  );
}

function DeleteStrategy({ name, onClose }: { name: string; onClose(): void }) {
  const { t } = useTranslation('settings');
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const explain = useProblem();
  const [error, setError] = useState<string>();
  const remove = async () => {
    try {
      await client.strategies.remove.mutate({ name });
      await queries.invalidateQueries({ queryKey: trpc.strategies.list.queryKey() });
    } catch (thrown) {
      setError(explain(thrown).message);
      throw thrown;
    }
  };
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('strategies.delete.title', { name })}
      description={t('strategies.delete.what')}
      confirmLabel={t('strategies.delete.confirm')}
      onConfirm={remove}
      error={error}
    />
  );
}
