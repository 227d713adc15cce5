'use client';

import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useKeys } from '#app/_lib/keys.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { groupNames, groupRows } from './group-rows.ts';
import { type ListedRollout, rolloutHref } from './rollout-data.ts';
import { RolloutItem } from './rollout-item.tsx';

/** Returns the id of the rollout selected by keyboard. `j` and `k` move the selection, and Enter opens the rollout. */
function useCursor(ids: readonly string[]): string | null {
  const { t } = useTranslation('rollouts');
  const router = useRouter();
  const [at, setAt] = useState<string | null>(null);
  const walk = (step: number) => {
    const index = Math.max(0, Math.min(ids.length - 1, ids.indexOf(at ?? '') + step));
    const id = ids[index] ?? null;
    setAt(id);
    if (id !== null) document.getElementById(`rollout-${id}`)?.scrollIntoView({ block: 'nearest' });
  };
  useKeys([
    { key: 'j', label: t('list.keys.next'), run: () => walk(1) },
    { key: 'k', label: t('list.keys.previous'), run: () => walk(-1) },
    {
      key: 'Enter',
      label: t('list.keys.open'),
      run: (event) => {
        if (at === null || (event.target instanceof Element && event.target.closest('a, button'))) return;
        router.push(rolloutHref(at));
      },
    },
  ]);
  return at;
}

/** Rollouts in three groups, each with its sentence. Groups without rollouts are omitted. */
export function RolloutGroups({ rows }: { rows: readonly ListedRollout[] }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const groups = groupRows(rows);
  const cursor = useCursor(groupNames.flatMap((name) => groups[name].map(({ row }) => row.id)));
  return groupNames
    .filter((name) => groups[name].length > 0)
    .map((name) => (
      <Card key={name} className="mb-4" aria-labelledby={`rollouts-${name}`}>
        <CardHeader
          id={`rollouts-${name}`}
          title={t(`list.${name}`)}
          note={name === 'ended' ? undefined : format.number(groups[name].length)}
        />
        <ul>
          {groups[name].map(({ row, isPart }) => (
            <RolloutItem key={row.id} row={row} isPart={isPart} isCursor={cursor === row.id} />
          ))}
        </ul>
      </Card>
    ));
}
