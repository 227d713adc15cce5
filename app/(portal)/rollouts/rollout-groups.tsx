'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useRowKeys } from '#app/_lib/use-row-keys.ts';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { groupNames, groupRows } from './group-rows.ts';
import { type ListedRollout, rolloutHref } from './rollout-data.ts';
import { RolloutItem } from './rollout-item.tsx';

/** Rollouts in three groups, each with its sentence. Groups without rollouts are omitted. */
export function RolloutGroups({ rows }: { rows: readonly ListedRollout[] }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const groups = groupRows(rows);
  const { cursor, list } = useRowKeys<HTMLDivElement>({
    hrefs: groupNames.flatMap((name) => groups[name].map(({ row }) => rolloutHref(row.id))),
    labels: { next: t('list.keys.next'), previous: t('list.keys.previous'), open: t('list.keys.open') },
  });
  return (
    <div ref={list}>
      {groupNames
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
                <RolloutItem key={row.id} row={row} isPart={isPart} isCursor={cursor === rolloutHref(row.id)} />
              ))}
            </ul>
          </Card>
        ))}
    </div>
  );
}
