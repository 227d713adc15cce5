'use client';

import { structuredPatch } from 'diff';
import { useMemo } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';

export interface TextDiffProps {
  label: string;
  before: string;
  after: string;
}

interface Line {
  /** Line number in the later text or, for a removed line, in the earlier text. */
  number: number;
  sign: ' ' | '+' | '-';
  text: string;
}

/** Limits the search for the smallest difference, because the search is slow if two texts differ in every line. */
const maxEdits = 2_000;

function linesBetween(before: string, after: string): Line[][] | null {
  const options = { context: 3, maxEditLength: maxEdits };
  const patch = structuredPatch('', '', before, after, undefined, undefined, options);
  return (
    patch?.hunks.map((hunk) => {
      let [oldLine, newLine] = [hunk.oldStart, hunk.newStart];
      return hunk.lines
        .filter((line) => !line.startsWith('\\'))
        .map((line): Line => {
          const sign = line[0] === '+' || line[0] === '-' ? line[0] : ' ';
          const number = sign === '-' ? oldLine : newLine;
          if (sign !== '+') oldLine += 1;
          if (sign !== '-') newLine += 1;
          return { number, sign, text: line.slice(1) };
        });
    }) ?? null
  );
}

const looks = { '+': 'bg-healthy-tint text-healthy-text', '-': 'bg-failed-tint text-failed-text', ' ': '' };

/** The differences between two texts, line by line with three lines of context. */
export function TextDiff({ label, before, after }: TextDiffProps) {
  const { t } = useTranslation('packages');
  const hunks = useMemo(() => linesBetween(before, after), [before, after]);
  if (hunks === null) return <p className="px-4 pb-4 text-ink-2">{t('compare.tooDifferent')}</p>;
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
      tabIndex={0}
      aria-label={label}
      className="mono max-h-[32rem] overflow-auto rounded-b-lg pb-2"
    >
      <div className="w-max min-w-full">
        {hunks.map((lines, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: hunks keep the order of their lines
          <div key={index} className={index > 0 ? 'border-t border-line-subtle' : undefined}>
            {lines.map(({ number, sign, text }) => (
              <div key={`${sign}${number}`} className={cn('grid grid-cols-[48px_18px_minmax(0,1fr)]', looks[sign])}>
                <span aria-hidden className="pe-3 text-end text-ink-3 select-none">
                  {number}
                </span>
                <span aria-hidden>{sign}</span>
                <code className="pe-3 whitespace-pre">
                  {sign === ' ' ? null : (
                    <span className="sr-only">{t(sign === '+' ? 'compare.added' : 'compare.removed')}: </span>
                  )}
                  {text}
                </code>
              </div>
            ))}
          </div>
        ))}
      </div>
    </section>
  );
}
