'use client';

import { useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { cn } from '#app/_ui/cn.ts';
import { CopyButton } from '#app/_ui/copy.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import type { ListedAct } from './act.ts';

/** The values before and after an action, by name. For secrets, shows only whether they changed. */
export function ActContents({ act, id }: { act: ListedAct; id: string }) {
  const { t } = useTranslation('activity');
  const trpc = useTRPC();
  const contents = useQuery({
    ...trpc.activity.get.queryOptions({ id: act.id }),
    staleTime: 300_000,
  });
  return (
    <div id={id} className="border-t border-line-subtle bg-sunken px-4 py-3">
      {contents.error ? (
        <QueryError error={contents.error} onRetry={contents.refetch} />
      ) : contents.data === undefined ? (
        <Skeleton className="w-64" />
      ) : (
        <>
          {contents.data.differences.length === 0 ? (
            <p className="text-12 text-ink-3">{t('contents.same')}</p>
          ) : (
            <DifferenceTable differences={contents.data.differences} />
          )}
          {contents.data.more > 0 ? (
            <p className="mt-2 text-12 text-ink-3">{t('contents.more', { count: contents.data.more })}</p>
          ) : null}
          <ActOrigin act={act} contents={contents.data} />
        </>
      )}
    </div>
  );
}

type Contents = inferRouterOutputs<AppRouter>['activity']['get'];

function DifferenceTable({ differences }: Pick<Contents, 'differences'>) {
  const { t } = useTranslation('activity');
  // A created object has no values before the action, and a deleted object has none after it, so one column is enough.
  const sides = (['before', 'after'] as const).filter((side) =>
    differences.some((difference) => difference[side] !== undefined),
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
    <section tabIndex={0} aria-label={t('contents.label')} className="overflow-x-auto rounded-md">
      <table className="w-full border-collapse text-12 sm:table-fixed">
        <thead>
          <tr className="text-start text-ink-3 [&>th]:pe-4 [&>th]:pb-1 [&>th]:text-start [&>th]:font-medium">
            <th scope="col" className="w-64 max-sm:w-auto">
              {t('contents.what')}
            </th>
            {sides.map((side) => (
              <th key={side} scope="col">
                {t(`contents.${side}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {differences.map((difference) => (
            <tr
              key={difference.path.join('\u0000')}
              className="align-top [&>*]:border-t [&>*]:border-line-subtle [&>*]:py-1.5 [&>*]:pe-4"
            >
              <th
                translate={difference.path.length === 0 ? undefined : 'no'}
                scope="row"
                className="mono-11 max-w-72 min-w-32 text-start font-medium text-ink-2 wrap-anywhere"
              >
                {difference.path.length === 0 ? t('contents.whole') : difference.path.join(' › ')}
              </th>
              {sides.map((side) => (
                <td key={side} className="min-w-24">
                  <Side value={difference[side]} tone={side} isOther={sides.length === 2} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ActOrigin({ act, contents }: { act: ListedAct; contents: Contents }) {
  const { t } = useTranslation('activity');
  const format = useFormat();
  return (
    <p className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-11 text-ink-3">
      <span>
        {contents.position === null
          ? t('contents.unlinked')
          : t('contents.linked', { position: format.number(contents.position) })}
        {contents.hash === null ? null : (
          <span translate="no" className="mono-11 ms-1.5" title={contents.hash}>
            {contents.hash.slice(0, 16)}
          </span>
        )}
      </span>
      <span className="inline-flex items-center gap-1">
        {t('contents.request')}{' '}
        <span translate="no" className="mono-11 wrap-anywhere">
          {contents.requestId}
        </span>
        <CopyButton text={contents.requestId} />
      </span>
      {act.client === null ? null : <span className="min-w-0 wrap-anywhere">{act.client}</span>}
    </p>
  );
}

interface SideProps {
  value: unknown;
  tone: 'before' | 'after';
  /** Whether the table shows the values both before and after the action. */
  isOther: boolean;
}

function Side({ value, tone, isOther }: SideProps) {
  const { t } = useTranslation('activity');
  const format = useFormat();
  if (value === undefined) return <span className="text-ink-3">{t(`contents.nothing.${tone}`)}</span>;
  if (value === null || (Array.isArray(value) && value.length === 0))
    return <span className="text-ink-3">{t('contents.none')}</span>;
  const standIn = standInOf(value);
  const text =
    standIn === null
      ? typeof value === 'string'
        ? value
        : JSON.stringify(value, null, 1)
      : 'bytes' in standIn
        ? t('contents.cut', { size: format.bytes(standIn.bytes), digest: standIn.sha256.slice(0, 12) })
        : t(tone === 'after' && isOther ? 'contents.sealedAnew' : 'contents.sealed');
  return (
    <span
      data-st={tone === 'before' ? 'failed' : 'healthy'}
      className={cn(
        'inline-block max-w-full rounded-xs bg-st-tint px-1 whitespace-pre-wrap text-ink wrap-anywhere',
        standIn === null ? 'mono-11' : 'text-12',
      )}
    >
      {text === '' ? '""' : text}
    </span>
  );
}

/**
 * Parses `$cut`, which replaces a value that was too large to store, and `$sealed`, which replaces protected settings.
 */
function standInOf(value: unknown): { bytes: number; sha256: string } | { sealed: true } | null {
  if (typeof value !== 'object' || value === null) return null;
  if ('$sealed' in value) return { sealed: true };
  if (!('$cut' in value)) return null;
  return value.$cut as { bytes: number; sha256: string };
}
