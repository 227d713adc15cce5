'use client';

import { useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { FieldError } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { platformsText } from '#protocol/platform.ts';
import type { AppRouter } from '#server/trpc/root.ts';

type Losses = inferRouterOutputs<AppRouter>['packages']['losses'];

/** Maximum number of names that a line lists. */
const fewNames = 5;

/** What the version removes, changes or newly requires compared with the previous published version. */
export function PublishLosses({ handler, version }: { handler: string; version: string }) {
  const trpc = useTRPC();
  const explain = useProblem();
  const losses = useQuery({ ...trpc.packages.losses.queryOptions({ handler, version }), staleTime: 0 });
  if (losses.error) {
    return (
      <div role="alert">
        <FieldError>{explain(losses.error).message}</FieldError>
      </div>
    );
  }
  if (losses.data === undefined) return <Skeleton className="h-5 w-64" />;
  if (losses.data.previous === null) return null;
  return <LossList losses={losses.data} previous={losses.data.previous} />;
}

function LossList({ losses, previous }: { losses: Losses; previous: string }) {
  const { t } = useTranslation('packages');
  const lines = useLossLines(losses);
  return (
    <section aria-labelledby="losses" className="grid gap-1.5 border-t border-line-subtle pt-3">
      <h3 id="losses" className="font-medium">
        {t('losses.title', { version: previous })}
      </h3>
      {lines.length === 0 ? (
        <p className="flex items-start gap-2 text-ink-2">
          <Mark status="healthy" />
          {t('losses.none')}
        </p>
      ) : (
        <ul className="grid gap-1">
          {lines.map(({ key, text, names }) => (
            <li key={key} className="flex items-start gap-2">
              <Mark status="warning" />
              <span className="min-w-0">
                {text}{' '}
                <span translate="no" className="mono break-words text-ink-2">
                  {names}
                </span>
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Mark({ status }: { status: 'healthy' | 'warning' }) {
  return (
    <span data-st={status} className="mt-[3px] flex shrink-0 text-st-text">
      <StatusIcon status={status} />
    </span>
  );
}

type LossKind =
  | 'languages'
  | 'messages'
  | 'placeholders'
  | 'schema'
  | 'removed'
  | 'required'
  | 'platforms'
  | 'manifest'
  | 'executables';

interface LossLine {
  key: LossKind;
  text: string;
  names: ReactNode;
}

function useLossLines(losses: Losses): LossLine[] {
  const { t } = useTranslation('packages');
  const format = useFormat();
  const line = (key: LossKind, names: readonly string[], total = names.length): LossLine[] =>
    total === 0 ? [] : [{ key, text: t(`losses.${key}`, { count: total }), names: some(names, total) }];
  const some = (names: readonly string[], total: number): string => {
    const shown = names.slice(0, fewNames);
    return [...shown, ...(total > shown.length ? [`+${format.number(total - shown.length)}`] : [])].join(', ');
  };
  const { languages, messages, placeholders, settings, platforms, manifest, executables } = losses;
  return [
    ...line('languages', languages),
    ...line('messages', messages.items, messages.total),
    ...line('placeholders', placeholders.items.map(placeholderText), placeholders.total),
    ...(losses.isSchemaRemoved ? [{ key: 'schema' as const, text: t('losses.schema'), names: null }] : []),
    ...line('removed', settings.removed),
    ...line('required', settings.required),
    ...line(
      'platforms',
      platforms.map((platform) => platformsText([platform])),
    ),
    ...line('manifest', manifest),
    ...line('executables', executables),
  ];
}

function placeholderText({ lang, id, before, after }: Losses['placeholders']['items'][number]): string {
  const written = (indexes: readonly number[]) => indexes.map((index) => `{${index}}`).join(' ') || '–';
  return `${id} (${lang}: ${written(before)} → ${written(after)})`;
}
