'use client';

import { EyeOff } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { cn } from '#app/_ui/cn.ts';
import type { NodeValue } from '../relation-data.ts';

export interface ValueTextProps {
  value: NodeValue | undefined;
  /** The value of a masked key that the reader revealed. */
  revealed: string | undefined;
  /** Whether the whole value is shown, instead of its beginning on one line. */
  isWhole?: boolean;
}

/** Longer values are cut in the table. */
const maxCharacters = 200;

/** A value as JSON; dots for readers who may not see values; “hidden” for masked keys. */
export function ValueText({ value, revealed, isWhole = false }: ValueTextProps) {
  const { t } = useTranslation('services');
  const may = useReader().can('operator');
  if (value === undefined) return <span className="text-ink-3">{t('relation.value.unset')}</span>;
  const text = revealed ?? value.value;
  if (text === null) {
    if (may && value.masked) {
      return (
        <span className="inline-flex items-center gap-1 text-ink-2">
          <EyeOff aria-hidden className="size-3.5 text-ink-3" />
          {t('relation.value.hidden')}
        </span>
      );
    }
    return (
      <>
        <span aria-hidden className="tracking-widest text-ink-3">
          ••••
        </span>
        <span className="sr-only">{t('relation.value.operators')}</span>
      </>
    );
  }
  return (
    <span
      translate="no"
      dir="ltr"
      className={cn('mono', isWhole ? 'whitespace-pre-wrap wrap-anywhere' : 'block truncate', colorOf(text))}
    >
      {isWhole ? text : text.slice(0, maxCharacters)}
    </span>
  );
}

/** Texts and other scalars have the colors that they have in JSON. */
function colorOf(text: string): string {
  if (text.startsWith('"')) return 'text-healthy-text';
  return /^(?:-?\d|true$|false$|null$)/.test(text) ? 'text-progressing-text' : '';
}
