'use client';

import { structuredPatch } from 'diff';
import { useMemo } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { readable } from './goal-state-changes.ts';
import type { PastGoalState } from './vm-data.ts';

interface DiffLine {
  /** Line in the later text, of a removed one in the earlier. */
  number: number;
  sign: ' ' | '+' | '-';
  text: string;
}

interface Hunk {
  /** The extension that it is in. */
  heading: string;
  lines: DiffLine[];
}

/** Differences line by line with two lines around, each part headed by its extension. */
function hunksBetween(before: string, after: string): Hunk[] {
  const earlier = before.split('\n');
  const patch = structuredPatch('', '', before, after, undefined, undefined, { context: 2 });
  return patch.hunks.map((hunk) => {
    let [oldLine, newLine] = [hunk.oldStart, hunk.newStart];
    const lines = hunk.lines
      .filter((line) => !line.startsWith('\\'))
      .map((line): DiffLine => {
        const sign = line[0] === '+' || line[0] === '-' ? line[0] : ' ';
        const number = sign === '-' ? oldLine : newLine;
        if (sign !== '+') oldLine += 1;
        if (sign !== '-') newLine += 1;
        return { number, sign, text: line.slice(1) };
      });
    const above = earlier.slice(0, hunk.oldStart).reverse();
    const owner = /^ {2}"([^"]+)": \{/;
    const heading = [...above, ...lines.map(({ text }) => text)].map((line) => owner.exec(line)?.[1]).find(Boolean);
    return { heading: heading ?? '', lines };
  });
}

/** What one goal state has otherwise than the one before it. */
export function GoalStateDiff({ before, after }: { before: PastGoalState; after: PastGoalState }) {
  const { t } = useTranslation('goal-states');
  const hunks = useMemo(() => hunksBetween(readable(before.extensions), readable(after.extensions)), [before, after]);
  if (hunks.length === 0) {
    const sealed = after.cause.action === 'certificate.bind';
    return <p className="px-4 py-3 text-ink-2">{t(sealed ? 'same.certificate' : 'same')}</p>;
  }
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
      tabIndex={0}
      aria-label={t('diff.label', { from: before.incarnation, to: after.incarnation })}
      className="mono max-h-[70vh] overflow-auto py-1.5"
    >
      <div className="w-max min-w-full">
        {hunks.map((hunk, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: hunks are in the order of their lines
          <div key={index}>
            <div className="bg-sunken ps-[58px] pe-3 text-ink-3">@@ {hunk.heading} @@</div>
            {hunk.lines.map((line) => (
              <Line key={`${line.sign}${line.number}`} line={line} />
            ))}
          </div>
        ))}
      </div>
    </section>
  );
}

function Line({ line: { number, sign, text } }: { line: DiffLine }) {
  const { t } = useTranslation('goal-states');
  const colour =
    sign === '+' ? 'bg-healthy-tint text-healthy-text' : sign === '-' ? 'bg-failed-tint text-failed-text' : '';
  return (
    <div className={cn('grid grid-cols-[40px_18px_minmax(0,1fr)]', colour)}>
      <span aria-hidden className="pe-3 text-end text-ink-3 select-none">
        {number}
      </span>
      <span aria-hidden>{sign}</span>
      <code className="pe-3 whitespace-pre">
        {sign === ' ' ? null : <span className="sr-only">{t(sign === '+' ? 'diff.added' : 'diff.removed')}: </span>}
        {text}
      </code>
    </div>
  );
}
