'use client';

import { Fragment, useMemo } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import type { GoalStateComparison } from '../vm-data.ts';
import { type DiffRow, type DiffSide, type Hunk, hunksBetween } from './diff-rows.ts';
import { comparable } from './readable.ts';

export type DiffShape = 'unified' | 'split';

export interface DiffViewProps {
  comparison: GoalStateComparison;
  shape: DiffShape;
  className?: string;
}

/** Translation keys, by cause, for two goal states with the same declarations. */
const unchangedKeys: Record<string, 'same.certificate' | 'same.renewed' | 'same.release'> = {
  'certificate.bind': 'same.certificate',
  'certificate.renew': 'same.renewed',
  'secrets.release': 'same.release',
};

/** The differences between two goal states, in one column or side by side. */
export function DiffView({ comparison, shape, className }: DiffViewProps) {
  const { t } = useTranslation('goal-states');
  const { before, after, secretsChanged } = comparison;
  const words = useMemo(() => ({ sealed: t('diff.sealed'), changed: t('diff.sealed.changed') }), [t]);
  const hunks = useMemo(
    () =>
      hunksBetween(comparable(before?.extensions ?? [], words), comparable(after.extensions, words, secretsChanged)),
    [before, after, secretsChanged, words],
  );
  if (hunks.length === 0) {
    const { action } = after.cause;
    return <p className="px-4 py-3 text-ink-2">{t(unchangedKeys[action] ?? 'same')}</p>;
  }
  const Shape = shape === 'split' ? SplitHunk : UnifiedHunk;
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
      tabIndex={0}
      dir="ltr"
      aria-label={t('diff.label', { from: before?.incarnation ?? 0, to: after.incarnation })}
      className={cn('mono max-h-[70vh] overflow-auto py-1.5', className)}
    >
      <div className={cn('min-w-full', shape === 'unified' && 'w-max')}>
        {hunks.map((hunk, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: hunks keep the order of their lines
          <div key={index}>
            <div className="bg-sunken ps-[58px] pe-3 text-ink-3">@@ {hunk.heading} @@</div>
            <Shape hunk={hunk} />
          </div>
        ))}
      </div>
    </section>
  );
}

/** Shows removed lines before added lines within each run of changes. */
function UnifiedHunk({ hunk: { rows } }: { hunk: Hunk }) {
  return runsOf(rows).map((run) => (
    <Fragment key={`${run[0]?.before?.number}-${run[0]?.after?.number}`}>
      {run.map(({ before, changed }) =>
        changed && before ? <Line key={before.number} side={before} sign="-" /> : null,
      )}
      {run.map(({ after, changed }) =>
        after ? <Line key={after.number} side={after} sign={changed ? '+' : ' '} /> : null,
      )}
    </Fragment>
  ));
}

function runsOf(rows: readonly DiffRow[]): DiffRow[][] {
  const runs: DiffRow[][] = [];
  for (const row of rows) {
    const last = runs.at(-1);
    if (last !== undefined && row.changed && last[0]?.changed) last.push(row);
    else runs.push([row]);
  }
  return runs;
}

/** Shows both sides next to each other. On a narrow page, added lines are below removed lines. */
function SplitHunk({ hunk: { rows } }: { hunk: Hunk }) {
  return rows.map(({ before, after, changed }) => (
    <div key={`${before?.number}-${after?.number}`} className="grid md:grid-cols-2 md:divide-x md:divide-line-subtle">
      {before ? (
        <Line side={before} sign={changed ? '-' : ' '} wraps className={changed ? undefined : 'max-md:hidden'} />
      ) : (
        <span className="bg-sunken max-md:hidden" />
      )}
      {after ? <Line side={after} sign={changed ? '+' : ' '} wraps /> : <span className="bg-sunken max-md:hidden" />}
    </div>
  ));
}

const looks = { '+': 'bg-healthy-tint text-healthy-text', '-': 'bg-failed-tint text-failed-text', ' ': '' } as const;

interface LineProps {
  side: DiffSide;
  sign: ' ' | '+' | '-';
  wraps?: boolean;
  className?: string | undefined;
}

function Line({ side, sign, wraps = false, className }: LineProps) {
  const { t } = useTranslation('goal-states');
  return (
    <div className={cn('grid grid-cols-[40px_18px_minmax(0,1fr)]', looks[sign], className)}>
      <span aria-hidden className={cn('pe-3 text-end select-none', sign === ' ' && 'text-ink-3')}>
        {side.number}
      </span>
      <span aria-hidden className="select-none">
        {sign}
      </span>
      <code className={cn('pe-3', wraps ? 'whitespace-pre-wrap wrap-anywhere' : 'whitespace-pre')}>
        {sign === ' ' ? null : <span className="sr-only">{t(sign === '+' ? 'diff.added' : 'diff.removed')}: </span>}
        {side.pieces.map((piece, index) =>
          piece.marked ? (
            <mark
              // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line keep their order
              key={index}
              className="rounded-xs bg-surface font-semibold text-inherit underline decoration-1 underline-offset-2"
            >
              {piece.text}
            </mark>
          ) : (
            piece.text
          ),
        )}
      </code>
    </div>
  );
}
