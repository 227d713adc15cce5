'use client';

import { useId } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useTicking } from '#app/_ui/clock.ts';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Status } from '#app/_ui/status.tsx';
import { Countdown, Elapsed } from '#app/_ui/time.tsx';
import type { DueLine } from '../due-lines.ts';
import type { NamedUnit, ShownUnitDetails } from '../unit-data.ts';
import type { useDue } from '../use-unit.ts';
import { HookFor } from './hook-for.tsx';

export interface DueCardProps {
  name: NamedUnit;
  unit: ShownUnitDetails;
  due: ReturnType<typeof useDue>;
  lines: readonly DueLine[];
}

/** Number of hooks on the card. */
const shownLines = 12;

/** The hooks that are due on a unit in the order in which they run, each with its reason and what it waits for. */
export function DueCard({ unit, due, lines }: DueCardProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const id = useId();
  const rest = lines.length - shownLines;
  return (
    <Card aria-labelledby={id}>
      <CardHeader
        id={id}
        title={t('unit.due.title')}
        note={lines.length > 1 ? `${format.number(lines.length)} · ${t('unit.due.order')}` : undefined}
      />
      {due.data === undefined ? (
        due.error ? (
          <QueryError
            title={t('unit.due.failed')}
            error={due.error}
            onRetry={due.refetch}
            at={new Date(due.errorUpdatedAt)}
          />
        ) : (
          <SkeletonRows
            columns={['w-40', 'w-24']}
            rows={unit.failing.length === 0 ? 1 : 3}
            label={t('unit.due.loading')}
          />
        )
      ) : lines.length === 0 ? (
        <p className="px-4 pb-4 text-ink-2">{t('unit.due.none')}</p>
      ) : (
        <ol>
          {lines.slice(0, shownLines).map((line, index) => (
            <DueRow
              // biome-ignore lint/suspicious/noArrayIndexKey: a hook is identified by its position
              key={index}
              number={index + 1}
              line={line}
              unit={unit}
            />
          ))}
        </ol>
      )}
      {rest > 0 ? (
        <p className="border-t border-line-subtle px-4 py-2.5 text-12 text-ink-2">
          {t('unit.due.more', { count: rest })}
        </p>
      ) : null}
    </Card>
  );
}

function DueRow({ number, line, unit }: { number: number; line: DueLine; unit: ShownUnitDetails }) {
  const { due } = line;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line-subtle px-4 py-2.5">
      <span className="w-5 self-start text-ink-3 tabular-nums">{number}</span>
      <div className="min-w-0 flex-[1_1_14rem]">
        <p>
          <HookFor hook={due.hook} remoteUnit={due.remoteUnit} isStrong />
        </p>
        <p className="text-12 text-pretty text-ink-2">
          <Because line={line} unit={unit} />
        </p>
      </div>
      <div className="max-sm:w-full max-sm:ps-8">
        <State line={line} />
      </div>
    </li>
  );
}

function Because({ line: { due }, unit }: { line: DueLine; unit: ShownUnitDetails }) {
  const { t } = useTranslation('services');
  const { because, remoteUnit, version, hasFile } = due;
  const params = { remote: remoteUnit ?? '', version: version ?? '', formula: unit.version };
  return (
    <>
      {t(`unit.because.${because as 'changed'}`, params)}
      {hasFile ? null : ` ${t('unit.due.noFile')}`}
    </>
  );
}

function State({ line: { state } }: { line: DueLine }) {
  const { t } = useTranslation('services');
  switch (state.kind) {
    case 'running':
      return (
        <Status status="progressing">
          <span>
            <Trans text={t('unit.due.running')} tags={{ time: <Elapsed value={new Date(state.run.begunAt)} /> }} />
          </span>
        </Status>
      );
    case 'retry':
      return <Retry failure={state.failure} />;
    case 'after':
      return <Status status="waiting">{t('unit.due.after', { number: state.number })}</Status>;
    default:
      return <Status status="waiting">{t('unit.due.turn')}</Status>;
  }
}

function Retry({ failure: { nextAttemptBefore, resolution } }: { failure: ShownUnitDetails['failing'][number] }) {
  const { t } = useTranslation('services');
  const end = nextAttemptBefore === null ? Number.POSITIVE_INFINITY : Date.parse(nextAttemptBefore);
  const isOver = useTicking((now) => (end <= now ? 'over' : '')) !== '';
  if (resolution !== null) return <Status status="progressing">{t(`unit.due.resolution.${resolution}`)}</Status>;
  if (nextAttemptBefore === null || isOver) return <Status status="failed">{t('unit.due.fails')}</Status>;
  return (
    <Status status="failed">
      <span>
        <Trans
          text={t('unit.due.retry')}
          tags={{ time: <Countdown value={new Date(nextAttemptBefore)} className="font-semibold tabular-nums" /> }}
        />
      </span>
    </Status>
  );
}
