'use client';

import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { unitHref } from '../../services/service-data.ts';
import type { RelationName, ShownReader } from '../relation-data.ts';

export interface SeenDialogProps {
  name: RelationName;
  unit: string;
  onClose(): void;
}

const statusOfWhy: Readonly<Record<NonNullable<ShownReader['why']>, StatusName>> = {
  running: 'progressing',
  failing: 'failed',
  silent: 'unresponsive',
  waiting: 'waiting',
};

/** Number of readers in the dialog. Those that are behind come first. */
const maxReaders = 200;

/** Lists which units have confirmed a unit’s settings, and why others have not. */
export function SeenDialog({ name, unit, onClose }: SeenDialogProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery({
    ...trpc.relations.readers.queryOptions({ ...name, unit }),
    retry: false,
  });
  const readers = (data?.readers ?? []).toSorted((a, b) => Number(a.confirmed) - Number(b.confirmed));
  const rest = readers.length - maxReaders;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('relation.seen.title', { unit })}
      description={data === undefined ? undefined : t('relation.seen.version', { version: data.version })}
    >
      {data === undefined ? (
        error ? (
          <QueryError title={t('relation.seen.failed')} error={error} onRetry={refetch} />
        ) : (
          <SkeletonRows columns={['w-32', 'w-16']} rows={4} label={t('relation.seen.loading')} />
        )
      ) : (
        <ul className="divide-y divide-line-subtle">
          {readers.slice(0, maxReaders).map((reader) => (
            <li key={reader.unit} className="flex items-start gap-2 py-2">
              <StatusIcon status={reader.why === null ? 'healthy' : statusOfWhy[reader.why]} className="mt-[3px]" />
              <div className="min-w-0 flex-1">
                <Link
                  href={unitHref(name.model, reader.unit)}
                  prefetch={false}
                  translate="no"
                  className="rounded-xs font-medium hover:underline"
                >
                  {reader.unit}
                </Link>
                {reader.why === null ? null : (
                  <span className="block text-12 text-pretty text-ink-2">
                    {reader.version === null
                      ? t('relation.seen.none')
                      : t('relation.seen.has', { version: reader.version })}{' '}
                    {t(`relation.why.${reader.why}`, { unit: reader.unit })}
                  </span>
                )}
              </div>
              {reader.confirmed && reader.at !== null ? (
                <RelativeTime value={new Date(reader.at)} className="text-12 text-ink-3" />
              ) : null}
            </li>
          ))}
        </ul>
      )}
      {rest > 0 ? <p className="text-12 text-ink-2">{t('relation.seen.more', { count: rest })}</p> : null}
    </Dialog>
  );
}
