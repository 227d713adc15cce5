'use client';

import dynamic from 'next/dynamic';
import { useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import type { Dependent } from '#protocol/dependencies.ts';
import type { PastGoalState } from '../../vm-data.ts';

const DependencyPicture = dynamic(() => import('./dependency-picture.tsx').then((module) => module.DependencyPicture), {
  ssr: false,
  loading: () => <Skeleton className="mx-4 mb-4 h-32 w-auto" />,
});

export interface DependencyCardProps {
  vmId: string;
  /** The extension being edited. */
  name: string;
  dependsOn: readonly string[];
  extensions: PastGoalState['extensions'];
}

type View = 'picture' | 'list';

/** The order in which the VM's extensions run, given the dependencies chosen in the draft. */
export function DependencyCard({ vmId, name, dependsOn, extensions }: DependencyCardProps) {
  const { t } = useTranslation('editor');
  // On a narrow page, a list shows more than the visible part of the graph would. The card is never rendered on the
  // server, so `matchMedia` exists.
  const [view, setView] = useState<View>(() => (matchMedia('(max-width: 719px)').matches ? 'list' : 'picture'));
  const all = useMemo<Dependent[]>(
    () => [
      ...extensions
        .filter((other) => other.name !== name && other.state !== 'uninstall')
        .map((other) => ({ name: other.name, dependsOn: other.dependsOn })),
      { name, dependsOn },
    ],
    [extensions, name, dependsOn],
  );
  if (all.length < 2) return null;
  return (
    <Card>
      <CardHeader
        title={t('order.title')}
        note={t('order.note')}
        actions={
          <Segmented<View>
            label={t('order.view')}
            value={view}
            onChange={setView}
            options={[
              { value: 'picture', label: t('order.picture') },
              { value: 'list', label: t('order.list') },
            ]}
          />
        }
      />
      <DependencyPicture vmId={vmId} name={name} all={all} asList={view === 'list'} />
    </Card>
  );
}
