'use client';

import { diffLines } from 'diff';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';

/** Two JSON texts as one: what went, what came, what stays. */
export function SettingsDiff({ before, after }: { before: string; after: string }) {
  const { t } = useTranslation('editor');
  const lines = diffLines(before, after).flatMap(({ value, added, removed }) =>
    value
      .replace(/\n$/, '')
      .split('\n')
      .map((text) => ({ text, sign: added ? '+' : removed ? '-' : ' ' })),
  );
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
      tabIndex={0}
      aria-label={t('changes.diff')}
      className="mono max-h-96 overflow-auto rounded-b-lg pb-2"
    >
      {lines.map(({ text, sign }, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
          key={index}
          className={cn(
            'grid grid-cols-[18px_minmax(0,1fr)] px-4 text-ink-2',
            sign === '+' && 'bg-healthy-tint text-healthy-text',
            sign === '-' && 'bg-failed-tint text-failed-text',
          )}
        >
          <span aria-hidden>{sign}</span>
          <code className="wrap-anywhere whitespace-pre-wrap">
            {sign === ' ' ? null : <span className="sr-only">{t(sign === '+' ? 'changes.to' : 'changes.from')}: </span>}
            {text}
          </code>
        </div>
      ))}
    </section>
  );
}
