'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { diffLinesWithin, diffWordsWithin } from '../../bounded-diff.ts';

interface Line {
  sign: '+' | '-' | ' ';
  /** The parts of the line; `marked` if they differ from the line on the other side. */
  parts: { text: string; marked: boolean }[];
}

/** Shows the removed, added and unchanged lines between two JSON texts. */
export function SettingsDiff({ before, after }: { before: string; after: string }) {
  const { t } = useTranslation('editor');
  const lines = linesBetween(before, after);
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
      tabIndex={0}
      aria-label={t('changes.diff')}
      className="mono max-h-96 overflow-auto rounded-b-lg pb-2"
    >
      {lines.map(({ parts, sign }, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is identified by its number
          key={index}
          data-st={sign === '+' ? 'healthy' : sign === '-' ? 'failed' : undefined}
          className={cn(
            'grid grid-cols-[18px_minmax(0,1fr)] px-4 text-ink-2',
            sign === '+' && 'bg-healthy-tint text-healthy-text',
            sign === '-' && 'bg-failed-tint text-failed-text',
          )}
        >
          <span aria-hidden>{sign}</span>
          <code className="wrap-anywhere whitespace-pre-wrap">
            {sign === ' ' ? null : <span className="sr-only">{t(sign === '+' ? 'changes.to' : 'changes.from')}: </span>}
            {parts.map(({ text, marked }, part) =>
              marked ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: a part is identified by its number
                <mark key={part} className="rounded-xs bg-st-line text-inherit">
                  {text}
                </mark>
              ) : (
                text
              ),
            )}
          </code>
        </div>
      ))}
    </section>
  );
}

function linesBetween(before: string, after: string): Line[] {
  const chunks = diffLinesWithin(before, after).map(({ value, added, removed }) => ({
    sign: added ? ('+' as const) : removed ? ('-' as const) : (' ' as const),
    texts: value.replace(/\n$/, '').split('\n'),
  }));
  return chunks.flatMap(({ sign, texts }, index) => {
    // Removed lines come right before the added lines that replace them. If as many lines are added as removed, each
    // pair of lines is compared word by word.
    const other = sign === '-' ? chunks[index + 1] : sign === '+' ? chunks[index - 1] : undefined;
    const isReplaced = other !== undefined && other.sign !== ' ' && other.texts.length === texts.length;
    return texts.map((text, line): Line => {
      const opposite = isReplaced ? (other.texts[line] ?? '') : undefined;
      return { sign, parts: opposite === undefined ? [{ text, marked: false }] : marks(sign, text, opposite) };
    });
  });
}

function marks(sign: Line['sign'], text: string, opposite: string): Line['parts'] {
  const words = sign === '-' ? diffWordsWithin(text, opposite) : diffWordsWithin(opposite, text);
  return words.flatMap(({ value, added, removed }) => {
    const isOther = sign === '-' ? added : removed;
    return isOther ? [] : [{ text: value, marked: added || removed }];
  });
}
